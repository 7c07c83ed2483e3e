#include "tools/lsp/hover.hpp"

#include <algorithm>
#include <cctype>
#include <optional>

#include "engine/engine.hpp"
#include "functions/catalogue.hpp"
#include "language/action_kinds.hpp"
#include "language/aggregate_names.hpp"
#include "language/joint_types.hpp"
#include "language/literal.hpp"
#include "language/rule_text.hpp"
#include "language/syntax.hpp"
#include "tools/aggregate_usage.hpp"
#include "tools/explained.hpp"
#include "tools/lsp/navigation.hpp"

namespace gorgo::tools::lsp {
namespace {

using language::Symbol;
using language::SymbolKind;

std::string code(const std::string& text, const std::string& language = "tesla") {
  return "```" + language + "\n" + text + (text.ends_with('\n') ? "" : "\n") + "```\n";
}

void append_name(std::string& list, const std::string& name) {
  list += (list.empty() ? "`" : ", `") + name + "`";
}

/// What is known while the document, or an earlier state of it, has no errors.
class Knowledge {
 public:
  Knowledge(const View& view, const RuleSources& sources) : view_(view), sources_(sources) {}

  std::string about(const Symbol& symbol, bool defines) const {
    switch (symbol.kind) {
      case SymbolKind::type:
        return type(symbol.name) + (defines ? made_by(symbol.name) : "");
      case SymbolKind::attribute:
        return attribute(symbol.owner, symbol.name);
      case SymbolKind::parameter:
        return parameter(symbol);
      case SymbolKind::state:
        return state(symbol);
      case SymbolKind::rule:
        return rule(symbol.name);
    }
    return "";
  }

  /// About a name in an item that does not parse: a type, or an attribute of the types that have
  /// it.
  std::string about_name(const std::string& name) const {
    if (find(name) != nullptr) return type(name);
    std::string list;
    for (const std::string& owner : sources_.schema().names()) {
      const std::string value_type = type_of(owner, name);
      if (!value_type.empty()) list += owner + "." + name + ": " + value_type + "\n";
    }
    return list.empty() ? "" : code(list);
  }

  std::string rule(const std::string& name) const {
    for (const auto& rule : explained(sources_).rules) {
      if (rule.name == name) return code(plan::to_text(rule), "text");
    }
    return "";
  }

 private:
  const EventType* find(const std::string& name) const { return sources_.schema().find(name); }

  std::string type(const std::string& name) const {
    const EventType* type = find(name);
    if (type == nullptr) return "";
    const EventType* const rows = find(language::rows_name(name));
    std::string text = code(declaration_of(rows == nullptr ? *type : *rows));
    if (rows != nullptr) text += "the newest event of each key stays\n\n";
    text += std::string(plan::to_string(type->origin));
    std::optional<Duration> kept;
    std::string readers;
    for (const plan::Plan* plan : sources_.plans()) {
      bool reads = false;
      for (const auto& [id, reach] : plan->reach) {
        const EventType& read = sources_.schema().at(id);
        const bool is_member = std::ranges::count(read.members, type->id, &JointMember::type) > 0;
        if (id != type->id && !is_member) continue;
        reads = true;
        if (!read.table()) kept = std::max(kept.value_or(0), reach);
      }
      if (reads) append_name(readers, plan->rule.name);
    }
    if (readers.empty()) {
      return text + "; no rule reads it" + (rows == nullptr ? ", so it is not kept\n" : "\n");
    }
    if (kept) text += "; kept for " + language::length_text(*kept);
    return text + "; read by " + readers + "\n";
  }

  std::string made_by(const std::string& type) const {
    std::string makers;
    for (const plan::Plan* plan : sources_.plans()) {
      if (sources_.schema().at(plan->rule.type).name == type) append_name(makers, plan->rule.name);
    }
    return makers.empty() ? "" : "\nmade by " + makers + "\n";
  }

  std::string attribute(const std::string& owner, const std::string& name) const {
    const auto value_type = type_of(owner, name);
    return value_type.empty() ? "" : code(owner + "." + name + ": " + value_type);
  }

  std::string type_of(const std::string& owner, const std::string& attribute) const {
    const EventType* type = find(owner);
    const auto index = type == nullptr ? std::nullopt : type->find(attribute);
    return index ? std::string(to_string(type->attributes[*index].type)) : "";
  }

  std::string parameter(const Symbol& symbol) const {
    for (const auto& parameter : view_.symbols.rules[symbol.rule].parameters) {
      if (parameter.name != symbol.name) continue;
      std::string value_type = type_of(parameter.type, parameter.attribute);
      if (const auto own =
              parameter.function ? language::own_type(*parameter.function) : std::nullopt) {
        value_type = to_string(*own);
      }
      return code(symbol.name + ": " + value_type) + "\n" +
             (parameter.function ? "the value of " : "bound to ") + "`" + parameter.source + "`\n";
    }
    return "";
  }

  std::string state(const Symbol& symbol) const {
    const auto& rule = view_.symbols.rules[symbol.rule];
    for (const auto& explanation : plan::explain(sources_.plans(), sources_.schema()).rules) {
      if (explanation.name != rule.name) continue;
      for (const auto& state : explanation.states) {
        if (state.name != symbol.name) continue;
        const std::string window = state.window.empty() ? "" : ", " + state.window;
        return "state `" + state.name + "`: " + state.selection + window + "\n\n" +
               type(type_of_state(rule, state.name));
      }
    }
    return "";
  }

  static std::string type_of_state(const language::RuleSymbols& rule, const std::string& name) {
    for (const auto& state : rule.states) {
      if (state.name == name) return state.type;
    }
    return "";
  }

  const View& view_;
  const RuleSources& sources_;
};

/// The word around the offset: letters, digits, `_` and `-`.
std::string_view word_at(std::string_view text, std::size_t offset) {
  const auto part = [&](std::size_t i) {
    const auto c = static_cast<unsigned char>(text[i]);
    return std::isalnum(c) != 0 || c == '_' || c == '-';
  };
  std::size_t begin = offset, end = offset;
  while (begin > 0 && part(begin - 1)) --begin;
  while (end < text.size() && part(end)) ++end;
  return text.substr(begin, end - begin);
}

bool is_called(const std::string& text, std::string_view word) {
  const auto end = static_cast<std::size_t>(word.data() - text.data()) + word.size();
  const auto next = text.find_first_not_of(" \t", end);
  return next != text.npos && text[next] == '(';
}

/// About `execute`, and about the word of an action before its brackets. Types may be called so,
/// too.
std::string about_action(const std::string& text, const std::string& keyword,
                         std::string_view word) {
  if (keyword == "execute") {
    std::string list = "what is done about each composite of the rule\n\n";
    for (const auto& kind : language::action_kinds()) {
      list += "* `" + kind.name + "(\"...\")` " + kind.says + "\n";
    }
    return list;
  }
  const auto* kind = language::find_action_kind(keyword);
  if (kind == nullptr || !is_called(text, word)) return "";
  return code(kind->name + "(\"...\")") + "\n" + kind->says +
         "; the name is that of a target in the configuration of the server\n";
}

/// About the functions and aggregates of this name: `max` is both. `last` without brackets selects.
std::string about_function(const std::string& text, std::string_view word) {
  std::string about;
  if (const auto* function = functions::find(word); function != nullptr) {
    about = code(std::string(function->usage)) + "\n" + std::string(function->says) + "\n";
  }
  const auto aggregate = language::aggregate_function(std::string(word));
  if (!aggregate || !is_called(text, word)) return about;
  return about + code(usage_of(*aggregate)) + "\n" + std::string(language::meaning(*aggregate)) +
         "\n";
}

/// What is known about words that are no names where they stand: functions, aggregates, engines,
/// `rule` and `define`, which stand for their rule, and the words of an item that does not parse.
std::string about_word(const View& view, std::string_view word, std::size_t offset) {
  if (auto about = about_function(view.document.text(), word); !about.empty()) return about;
  if (const auto* engine = engine::find_engine(word); engine != nullptr) {
    std::string text;
    for (const auto& line : engine->description()) text += line + "\n";
    return code(text, "text");
  }
  const std::string keyword = language::lower_case(word);
  if (const std::string action = about_action(view.document.text(), keyword, word);
      !action.empty()) {
    return action;
  }
  if (view.good == nullptr) return "";
  if (keyword != "rule" && keyword != "define") {
    return Knowledge(view, *view.good).about_name(std::string(word));
  }
  for (const auto& rule : view.symbols.rules) {
    const bool inside =
        offset >= view.document.offset(rule.at) && offset <= view.document.offset(rule.end);
    if (inside) return Knowledge(view, *view.good).rule(rule.name);
  }
  return "";
}

}  // namespace

Hover hover(const View& view, Position position) {
  const auto* occurrence = occurrence_at(view, position);
  if (occurrence != nullptr && view.good != nullptr) {
    return {Knowledge(view, *view.good).about(occurrence->symbol, occurrence->defines),
            view.document.range(occurrence->at)};
  }
  const std::string& text = view.document.text();
  const std::size_t offset = view.document.offset(position);
  const std::string_view word = word_at(text, offset);
  const auto begin = static_cast<std::size_t>(word.data() - text.data());
  return {about_word(view, word, offset),
          {view.document.position(begin), view.document.position(begin + word.size())}};
}

}  // namespace gorgo::tools::lsp
