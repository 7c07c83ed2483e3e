#pragma once

#include <vector>

#include "server/listener.hpp"
#include "server/options.hpp"

namespace gorgo::server {

/// The ports that the options ask for, that of the native protocol first. A door without a dialect
/// is one that this build does not have.
std::vector<Listener::Door> doors_of(const ServerOptions& options);

}  // namespace gorgo::server
