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

Json to_json(const View& view, const Diagnostic& diagnostic) {
  const std::string hint = diagnostic.hint.empty() ? "" : "\nhint: " + diagnostic.hint;
  return {{"range", to_json(view.document.range(diagnostic.at))},
          {"severity", diagnostic.severity == Severity::error ? 1 : 2},
          {"source", "gorgo"},
          {"message", diagnostic.message + hint}};
}

/// What the hint would have in the place of what the message underlines; empty: it names no such
/// word. A hint may be about a word beside the underlined one.
std::string replacement_in(const View& view, const Diagnostic& diagnostic) {
  const bool is_operator = diagnostic.message.starts_with("there is no operator ");
  const std::string_view beginning = is_operator ? "write `" : "did you mean `";
  const std::string_view end = is_operator ? "`" : "`?";
  const std::string_view hint = diagnostic.hint;
  if (!hint.starts_with(beginning) || !hint.ends_with(end)) return {};
  const std::string_view word =
      hint.substr(beginning.size(), hint.size() - beginning.size() - end.size());
  const std::string underlined =
      view.document.text().substr(view.document.offset(diagnostic.at), diagnostic.at.length);
  const bool fits = is_operator || !closest_name(underlined, {std::string(word)}).empty();
  return fits && word.find('`') == word.npos ? std::string(word) : std::string();
}

}  // namespace

Position to_position(const Json& position) {
  return {position.at("line").get<std::size_t>(), position.at("character").get<std::size_t>()};
}

Range to_range(const Json& range) {
  return {to_position(range.at("start")), to_position(range.at("end"))};
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
  for (const auto& diagnostic : view.diagnostics.list) list.push_back(to_json(view, diagnostic));
  return list;
}

Json code_actions_of(const View& view, Range range) {
  Json list = Json::array();
  for (const auto& diagnostic : view.diagnostics.list) {
    const Range at = view.document.range(diagnostic.at);
    const std::string word = replacement_in(view, diagnostic);
    if (word.empty() || at.end < range.start || range.end < at.start) continue;
    list.push_back({{"title", "Write `" + word + "`"},
                    {"kind", "quickfix"},
                    {"isPreferred", true},
                    {"diagnostics", Json::array({to_json(view, diagnostic)})},
                    {"edit", {{"changes", {{view.uri, Json::array({edit(at, word)})}}}}}});
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
