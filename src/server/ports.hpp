#pragma once

#include <vector>

#include "server/client_totals.hpp"
#include "server/listener.hpp"
#include "server/options.hpp"
#include "server/type_board.hpp"

namespace gorgo::server {

/// The ports that the options ask for, that of the native protocol first. All of the
/// arguments must outlive the dialects.
std::vector<Listener::Port> ports_of(const ServerOptions& options, const TypeBoard& types,
                                     MemoryBudget& memory);

}  // namespace gorgo::server
