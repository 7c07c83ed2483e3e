#pragma once

#include <vector>

#include "server/engine/type_board.hpp"
#include "server/options.hpp"
#include "server/sessions/client_totals.hpp"
#include "server/sessions/listener.hpp"

namespace gorgo::server {

/// The ports that the options ask for, that of the native protocol first. All of the
/// arguments must outlive the dialects.
std::vector<Listener::Port> ports_of(const ServerOptions& options, const TypeBoard& types,
                                     MemoryBudget& memory);

}  // namespace gorgo::server
