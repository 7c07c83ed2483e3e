#pragma once

#include <string>

#include "tools/lsp/workspace.hpp"

namespace gorgo::tools::lsp {

/// What is known about the word at the position, as Markdown; empty: nothing. For a type it is the
/// declaration, how long events are kept, and which rules read and make them; for an attribute or a
/// parameter the value type; for a state the selection and window; for a rule how it is evaluated
/// and by which engine.
struct Hover {
  std::string text;
  Range range;
};
Hover hover(const View& view, Position position);

}  // namespace gorgo::tools::lsp
