#pragma once

#include <string>

#include "tools/lsp/workspace.hpp"

namespace gorgo::tools::lsp {

/// What is known about the word at the position, as Markdown; empty: nothing. Of types: their
/// declaration, how long their events are kept, which rules read and make them. Of attributes and
/// parameters: their value types. Of states: their selection and window. Of rules: how they are
/// evaluated and by which engine.
struct Hover {
  std::string text;
  Range range;
};
Hover hover(const View& view, Position position);

}  // namespace gorgo::tools::lsp
