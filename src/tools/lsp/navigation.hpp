#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tools/lsp/workspace.hpp"

namespace gorgo::tools::lsp {

/// A place in one of the documents.
struct Place {
  const View* view = nullptr;
  Location at;
};

/// The name at the position; nothing: none stands there.
const language::Occurrence* occurrence_at(const View& view, Position position);

/// Where the symbol is defined, in the order of the documents: a type or an attribute by the
/// declaration of the type, else by the rules that define it; a parameter by its binding; a state
/// by its alias.
std::vector<Place> definitions(const Workspace& workspace, const View& view,
                               const language::Symbol& symbol);
/// All places that name it.
std::vector<Place> references(const Workspace& workspace, const View& view,
                              const language::Symbol& symbol, bool with_definitions);

/// The references of a symbol, which become `name`; or why that would change what the rules mean.
/// A parameter may be given without its `$`.
struct Renaming {
  std::string name;
  std::vector<Place> places;
};
Result<Renaming> rename(const Workspace& workspace, const View& view,
                        const language::Symbol& symbol, std::string name);

}  // namespace gorgo::tools::lsp
