#include "tools/lsp/messages.hpp"

#include <algorithm>

namespace gorgo::tools::lsp {
namespace {

/// CompletionItemKind
int kind_of(Proposal::Kind kind) {
  switch (kind) {
    case Proposal::Kind::keyword:
      return 14;
    case Proposal::Kind::type:
      return 23;  // Event
    case Proposal::Kind::attribute:
      return 5;  // Field
    case Proposal::Kind::state:
    case Proposal::Kind::parameter:
      return 6;  // Variable
    case Proposal::Kind::function:
      return 3;
    case Proposal::Kind::value:
      return 12;
  }
  return 1;
}

Json to_json(Position position) {
  return {{"line", position.line}, {"character", position.character}};
}

Json edit(Range range, const std::string& text) {
  return {{"range", to_json(range)}, {"newText", text}};
}

}  // namespace

Position to_position(const Json& position) {
  return {position.at("line").get<std::size_t>(), position.at("character").get<std::size_t>()};
}

Json to_json(Range range) { return {{"start", to_json(range.start)}, {"end", to_json(range.end)}}; }

Json to_json(const std::vector<Place>& places) {
  Json list = Json::array();
  for (const Place& place : places) {
    list.push_back(
        {{"uri", place.view->uri}, {"range", to_json(place.view->document.range(place.at))}});
  }
  return list;
}

Json diagnostics_of(const View& view) {
  Json list = Json::array();
  for (const auto& diagnostic : view.diagnostics.list) {
    const std::string hint = diagnostic.hint.empty() ? "" : "\nhint: " + diagnostic.hint;
    list.push_back({{"range", to_json(view.document.range(diagnostic.at))},
                    {"severity", diagnostic.severity == Severity::error ? 1 : 2},
                    {"source", "gorgo"},
                    {"message", diagnostic.message + hint}});
  }
  return list;
}

Json to_json(const Hover& hover) {
  if (hover.text.empty()) return nullptr;
  return {{"contents", {{"kind", "markdown"}, {"value", hover.text}}},
          {"range", to_json(hover.range)}};
}

Json to_json(const Completion& completion) {
  Json list = Json::array();
  for (const Proposal& proposal : completion.proposals) {
    Json item = {{"label", proposal.label}, {"kind", kind_of(proposal.kind)}};
    if (!proposal.detail.empty()) item["detail"] = proposal.detail;
    item["textEdit"] = edit(completion.range, proposal.label);
    list.push_back(std::move(item));
  }
  return list;
}

Json to_json(const Renaming& renaming) {
  Json changes = Json::object();
  for (const Place& place : renaming.places) {
    changes[place.view->uri].push_back(edit(place.view->document.range(place.at), renaming.name));
  }
  return {{"changes", changes}};
}

Json outline_of(const View& view) {
  constexpr int kFunction = 12, kEvent = 24;
  Json list = Json::array();
  const auto add = [&](const std::string& name, int kind, Location at, Range range) {
    list.push_back({{"name", name},
                    {"kind", kind},
                    {"range", to_json(range)},
                    {"selectionRange", to_json(view.document.range(at))}});
  };
  const auto& rules = view.symbols.rules;
  const auto in_rule = [&](Location at) {
    return std::any_of(rules.begin(), rules.end(),
                       [&](const auto& rule) { return at >= rule.at && at <= rule.end; });
  };
  for (const auto& [at, symbol, defines] : view.symbols.occurrences) {
    const bool declares = defines && symbol.kind == language::SymbolKind::type && !in_rule(at);
    if (declares) add(symbol.name, kEvent, at, view.document.range(at));
  }
  for (const auto& rule : rules) {
    const Range range{view.document.range(rule.at).start, view.document.range(rule.end).end};
    add(rule.name, kFunction, rule.at, range);
  }
  return list;
}

Json formatting_of(const View& view) {
  const auto formatted = language::format(view.source());
  if (formatted.diagnostics.failed()) return nullptr;
  Json edits = Json::array();
  if (formatted.text != view.document.text()) {
    edits.push_back(edit(view.document.whole(), formatted.text));
  }
  return edits;
}

}  // namespace gorgo::tools::lsp
