#pragma once

#include <nlohmann/json.hpp>
#include <vector>

#include "tools/lsp/completion.hpp"
#include "tools/lsp/hover.hpp"
#include "tools/lsp/navigation.hpp"
#include "tools/lsp/workspace.hpp"

/// What the answers of LSP 3.17 are made of. Reading throws Json::exception when something is
/// missing or of another type.
namespace gorgo::tools::lsp {

using Json = nlohmann::ordered_json;

Position to_position(const Json& position);
Range to_range(const Json& range);
Json to_json(Range range);
/// `Location[]`
Json to_json(const std::vector<Place>& places);
/// `Diagnostic[]`
Json diagnostics_of(const View& view);
/// `Hover`, or null
Json to_json(const Hover& hover);
/// `CompletionItem[]`
Json to_json(const Completion& completion);
/// `WorkspaceEdit`
Json to_json(const Renaming& renaming);
/// `DocumentSymbol[]`: declarations and rules
Json outline_of(const View& view);
/// `CodeAction[]`: what the hints of messages in the range would put in place of a word
Json code_actions_of(const View& view, Range range);
/// `TextEdit[]` that format the document, or null when it has errors
Json formatting_of(const View& view);

}  // namespace gorgo::tools::lsp
