#pragma once

#include <memory>

#include "server/workshop.hpp"

namespace gorgo::tools {

/// `gorgo lsp`, `gorgo run` and `gorgo test`, as the workbench of a server uses them.
std::shared_ptr<server::Workshop> make_workshop();

}  // namespace gorgo::tools
