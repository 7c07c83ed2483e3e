#pragma once

#include <vector>

#include "server/listener.hpp"
#include "server/options.hpp"
#include "server/type_board.hpp"

namespace gorgo::server {

/// The ports that the options ask for, that of the native protocol first. `options` and `types`
/// must outlive the dialects.
std::vector<Listener::Door> doors_of(const ServerOptions& options, const TypeBoard& types);

}  // namespace gorgo::server
