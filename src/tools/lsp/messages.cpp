#include "tools/lsp/messages.hpp"

#include <algorithm>
#include <cctype>
#include <string_view>
#include <utility>

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

/// The word that a hint names as the right one; empty: it names none, or several.
std::string word_of(const std::string& hint) {
  struct Form {
    std::string_view beginning, end;
  };
  for (const Form& form : {Form{"write `", "`"}, Form{"did you mean `", "`?"},
                           Form{"minutes are written `", "`"}, Form{"hours are written `", "`"}}) {
    if (!hint.starts_with(form.beginning) || !hint.ends_with(form.end)) continue;
    const std::size_t length = hint.size() - form.beginning.size() - form.end.size();
    const std::string word = hint.substr(form.beginning.size(), length);
    return word.find('`') == word.npos ? word : "";
  }
  return "";
}

/// The word before a place in a text.
std::pair<std::size_t, std::size_t> word_before(std::string_view text, std::size_t place) {
  const auto is_part = [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; };
  const auto is_blank = [](unsigned char c) { return std::isspace(c) != 0; };
  std::size_t end = place;
  while (end > 0 && is_blank(static_cast<unsigned char>(text[end - 1]))) --end;
  std::size_t begin = end;
  while (begin > 0 && is_part(static_cast<unsigned char>(text[begin - 1]))) --begin;
  return {begin, end - begin};
}

struct Replacement {
  std::size_t offset = 0, length = 0;
  std::string word;  ///< empty: there is none
};

/// What the hint would have in the place of what the message underlines, or of the word before it
/// where the hint is about that.
Replacement replacement_in(const View& view, const Diagnostic& diagnostic) {
  std::string word = word_of(diagnostic.hint);
  if (word.empty()) return {};
  const std::string& text = view.document.text();
  const std::size_t offset = view.document.offset(diagnostic.at), length = diagnostic.at.length;
  const bool is_sure = diagnostic.message.starts_with("there is no operator ") ||
                       diagnostic.message.starts_with("unknown time unit ") ||
                       diagnostic.message.starts_with("unknown value type ");
  const auto fits = [&](std::size_t begin, std::size_t size) {
    return !closest_name(text.substr(begin, size), {word}).empty();
  };
  const bool is_string = length > 2 && (text[offset] == '"' || text[offset] == '\'');
  if (is_string && fits(offset + 1, length - 2)) return {offset + 1, length - 2, std::move(word)};
  if (is_sure || fits(offset, length)) return {offset, length, std::move(word)};
  const auto [begin, size] = word_before(text, offset);
  if (size > 0 && fits(begin, size)) return {begin, size, std::move(word)};
  return {};
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
    const Replacement other = replacement_in(view, diagnostic);
    if (other.word.empty() || at.end < range.start || range.end < at.start) continue;
    const Range place{view.document.position(other.offset),
                      view.document.position(other.offset + other.length)};
    list.push_back({{"title", "Write `" + other.word + "`"},
                    {"kind", "quickfix"},
                    {"isPreferred", true},
                    {"diagnostics", Json::array({to_json(view, diagnostic)})},
                    {"edit", {{"changes", {{view.uri, Json::array({edit(place, other.word)})}}}}}});
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
