#include "tools/lsp/completion.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <initializer_list>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "engine/engine.hpp"
#include "functions/catalogue.hpp"
#include "language/action_kinds.hpp"
#include "language/aggregate_names.hpp"
#include "language/joint_types.hpp"
#include "language/literal.hpp"
#include "language/words.hpp"

namespace gorgo::tools::lsp {
namespace {

using ProposalKind = Proposal::Kind;

/// Looks back from the place through the words of the item.
class Completer {
 public:
  Completer(const View& view, language::WordsAround words) : view_(view), words_(std::move(words)) {
    for (const auto word : words_.before) lower_.push_back(language::lower_case(word));
    collect_states();
  }

  std::vector<Proposal> run() {
    if (words_.in_text) return {};
    if (words_.begun.starts_with('$')) {
      parameters();
    } else if (lower_.empty()) {
      keywords({"event", "table", "internal", "const", "rule", "define", "assign"});
    } else if (!behind_sign() && !behind_word()) {
      if (const auto bracket = open_bracket()) {
        inside(*bracket);
      } else {
        outside();
      }
    }
    return std::move(list_);
  }

 private:
  /// The word so many before the place, in small letters; empty: there is none.
  std::string_view back(std::size_t count) const {
    return count <= lower_.size() ? std::string_view(lower_[lower_.size() - count]) : "";
  }

  void add(std::string label, ProposalKind kind, std::string detail = {}) {
    if (labels_.insert(label).second) {
      list_.push_back({std::move(label), kind, std::move(detail)});
    }
  }
  void keywords(std::initializer_list<const char*> words) {
    for (const char* word : words) add(word, ProposalKind::keyword);
  }

  /// Collects the states and parameters of the item, wherever they stand.
  void collect_states() {
    std::vector<std::string_view> all = words_.before;
    all.insert(all.end(), words_.after.begin(), words_.after.end());
    int depth = 0;
    std::string type;  // of the predicate that was begun or ended last; empty: it is no state
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (all[i].starts_with('$')) parameters_.insert(std::string(all[i]));
      if (all[i] == ")") --depth;
      if (all[i] == "(" && depth++ == 0) {
        type = state_type(all, i);
        if (!type.empty()) states_.emplace_back(type, type);
      }
      const bool aliases = i + 1 < all.size() && language::lower_case(all[i]) == "as";
      if (aliases && depth == 0 && !type.empty()) states_.back().first = all[i + 1];
    }
  }

  /// The type of the state whose bracket this is; empty: it is none.
  std::string state_type(const std::vector<std::string_view>& words, std::size_t bracket) const {
    const auto [type, first] = type_before(words, bracket);
    if (first == 0) return "";
    const std::string word = language::lower_case(words[first - 1]);
    return word == "define" || word == "not" ? "" : type;
  }

  /// The type of the predicate whose bracket this is, which may be a joint one, and the number of
  /// its first word; an empty one: it is no predicate.
  std::pair<std::string, std::size_t> type_before(const std::vector<std::string_view>& words,
                                                  std::size_t bracket) const {
    std::vector<std::string> names;
    std::size_t first = bracket;
    do {
      if (first == 0) return {"", 0};
      const std::string name(words[--first]);
      if (!is_type(name)) return {"", first};
      names.push_back(name);
    } while (first > 1 && language::lower_case(words[first - 1]) == "or" && first-- > 0);
    return {names.size() == 1 ? names[0] : language::joint_name(std::move(names)), first};
  }

  bool is_type(const std::string& name) const {
    if (find_type(name) != nullptr) return true;
    const auto& list = view_.symbols.occurrences;
    return std::any_of(list.begin(), list.end(), [&](const auto& occurrence) {
      const auto& symbol = occurrence.symbol;
      return symbol.kind == language::SymbolKind::type && symbol.name == name;
    });
  }

  /// The type as it was known when the document last had no errors.
  const EventType* find_type(const std::string& name) const {
    return view_.good == nullptr ? nullptr : view_.good->schema().find(name);
  }

  /// Proposes what the types have in common.
  void common_attributes(const std::vector<std::string>& types) {
    std::vector<Proposal> before;
    before.swap(list_);
    attributes(types.front());
    std::erase_if(list_, [&](const Proposal& proposal) {
      const bool is_common = std::ranges::all_of(types, [&](const std::string& type) {
        const EventType* const known = find_type(type);
        return known == nullptr || known->find(proposal.label);
      });
      if (!is_common) labels_.erase(proposal.label);
      return !is_common;
    });
    list_.insert(list_.begin(), before.begin(), before.end());
  }

  void attributes(const std::string& type) {
    if (const auto types = language::joined_names(type); !types.empty()) {
      return common_attributes(types);
    }
    if (const EventType* known = find_type(type); known != nullptr) {
      for (const auto& attribute : known->attributes) {
        add(attribute.name, ProposalKind::attribute, std::string(to_string(attribute.type)));
      }
    }
    for (const auto& occurrence : view_.symbols.occurrences) {
      const auto& symbol = occurrence.symbol;
      const bool declared = occurrence.defines && symbol.kind == language::SymbolKind::attribute &&
                            symbol.owner == type;
      if (declared) add(symbol.name, ProposalKind::attribute);
    }
  }

  void types() {
    if (view_.good != nullptr) {
      for (const auto& name : view_.good->schema().names()) {
        if (!name.empty()) add(name, ProposalKind::type, declaration_of(*find_type(name)));
      }
    }
    for (const auto& occurrence : view_.symbols.occurrences) {
      const auto& symbol = occurrence.symbol;
      if (symbol.kind == language::SymbolKind::type) add(symbol.name, ProposalKind::type);
    }
  }

  void states() {
    for (const auto& [name, type] : states_)
      add(name, ProposalKind::state, name == type ? "" : type);
  }
  void parameters() {
    for (const auto& name : parameters_) {
      if (name != words_.begun) add(name, ProposalKind::parameter);
    }
  }
  void aggregates() {
    for (const auto& name : language::aggregate_names()) add(name, ProposalKind::function);
  }
  void functions() {
    for (const auto& signature : gorgo::functions::catalogue()) {
      add(std::string(signature.name), ProposalKind::function, std::string(signature.usage));
    }
  }
  void values() {
    parameters();
    states();
    aggregates();
    functions();
  }

  bool behind_sign() {
    const std::string_view last = back(1);
    if (last == ".") {
      members();
    } else if (last == ":" && back(3) != "rule") {
      for (const char* name : {"int", "float", "bool", "string"}) add(name, ProposalKind::value);
    } else if (last == ":") {
      keywords({"assign", "define"});
    } else if (last == "@") {
      keywords({"at_most", "engine", "limit", "panes"});
    } else if (last == "(" && back(3) == "@") {
      annotation(back(2));
    } else if ((last == "," || last == "=") && is_in_output_limit()) {
      output_limit();
    } else {
      return false;
    }
    return true;
  }

  void annotation(std::string_view name) {
    if (name == "limit") keywords({"max_sequences"});
    if (name != "engine") return;
    for (const auto* engine : engine::engines())
      add(std::string(engine->name()), ProposalKind::value);
  }

  /// Whether the text stands within the brackets of `@at_most(...)`.
  bool is_in_output_limit() const {
    const auto& words = words_.before;
    for (std::size_t i = words.size(); i-- > 2;) {
      if (words[i] == ")" || words[i] == ";") return false;
      if (words[i] == "(") return words[i - 1] == "at_most" && words[i - 2] == "@";
    }
    return false;
  }

  /// Proposes arguments, and behind `by` the attributes of the composite.
  void output_limit() {
    const auto open = std::find(words_.before.rbegin(), words_.before.rend(), "(");
    const bool has_keys = std::find(words_.before.rbegin(), open, "by") != open;
    if (back(1) == ",") keywords({"per", "by"});
    if (has_keys) composite_attributes(words_.after);
  }

  /// Proposes, behind a dot, the attributes of the state or of the aggregate's type before it.
  void members() {
    if (words_.before.size() < 2) return;
    std::size_t at = words_.before.size() - 2;
    if (words_.before[at] == ")") {
      int depth = 0;
      do {
        if (words_.before[at] == ")") ++depth;
        if (words_.before[at] == "(") --depth;
      } while (depth > 0 && at-- > 0);
      if (depth > 0 || at == 0) return;
      return attributes(type_before(words_.before, at).first);
    }
    const std::string name(words_.before[at]);
    const auto state = std::find_if(states_.begin(), states_.end(),
                                    [&](const auto& pair) { return pair.first == name; });
    attributes(state == states_.end() ? name : state->second);
    add("timestamp", ProposalKind::attribute, "int");
  }

  bool behind_word() {
    const std::string_view last = back(1);
    const auto any = [&](std::initializer_list<std::string_view> words) {
      return std::find(words.begin(), words.end(), last) != words.end();
    };
    const bool span = any({"between", "after"}) || (last == "from" && in_span()) ||
                      (last == "and" && back(3) == "between");
    if (const auto type = type_before_per()) {
      attributes(*type);
      return true;
    }
    if (last == "order") return keywords({"by"}), true;
    if (last == "by" && back(2) == "order") return composite_attributes(words_.before), true;
    const bool of_all = back(2) == "all" && back(3) == "of";
    if (last == "of" && back(3) == "within") {
      keywords({"all"});
    } else if (last == "all" && back(2) == "of") {
      keywords({"events"});
    } else if (any({"events"}) && (of_all || back(3) == "within")) {
      keywords({"in", "from"});
    } else if (behind_window()) {
      if (last != "inclusive") keywords({"inclusive"});
      keywords({"from", "after"});
    } else if (span || any({"consuming"})) {
      states();
    } else if (last == "or" && lower_.size() > 1 &&
               is_type(std::string(words_.before[words_.before.size() - 2])) &&
               !is_in_conditions()) {
      types();
    } else if (last == "internal" && lower_.size() == 1) {
      keywords({"event"});
    } else if (any({"each", "first", "last", "table", "from", "event", "define"}) ||
               (last == "not" && !open_bracket())) {
      types();
      if (last != "from") return true;
      add("Timer", ProposalKind::type, "every = 1 min, or hour = 9, minute = 0");
      keywords({"every"});
    } else if (back(2) == "every" && back(3) == "from") {
      types();
    } else {
      return false;
    }
    return true;
  }

  /// Whether the text stands within the brackets of a predicate.
  bool is_in_conditions() const {
    const auto bracket = open_bracket();
    return bracket && !type_before(words_.before, *bracket).first.empty();
  }

  /// The type whose attributes `per` asks for here; nothing: it does not.
  std::optional<std::string> type_before_per() const {
    std::size_t i = words_.before.size();
    while (i > 1 && words_.before[i - 1] == ",") i -= 2;
    if (i < 4 || lower_[i - 1] != "per") return std::nullopt;
    std::size_t end = i - 2;  // the predicate's last bracket, or its alias
    if (lower_[end - 1] == "as" && end > 2) end -= 2;
    int depth = 0;
    for (std::size_t at = end; at > 0; --at) {
      if (words_.before[at] == ")") ++depth;
      if (words_.before[at] == "(" && --depth == 0) return type_before(words_.before, at).first;
      if (depth == 0) break;
    }
    return std::nullopt;
  }

  /// Proposes what the words behind `define` declare.
  void composite_attributes(const std::vector<std::string_view>& words) {
    const auto define = std::ranges::find_if(
        words, [](std::string_view word) { return language::lower_case(word) == "define"; });
    auto at = static_cast<std::size_t>(define - words.begin()) + 2;
    for (; at + 2 < words.size() && words[at] != ")"; ++at) {
      if (words[at + 1] != ":") continue;
      add(std::string(words[at]), ProposalKind::attribute, language::lower_case(words[at + 2]));
    }
  }

  /// Whether a window ends here: a number with a unit, or the name of a constant. Both may stand
  /// behind a number of events.
  bool behind_window() const {
    if (back(1) == "inclusive" && in_span()) return true;
    if (back(4) == "events" && back(3) == "in") return true;
    const bool digit = !back(1).empty() && std::isdigit(static_cast<unsigned char>(back(1)[0]));
    return back(3) == "within" || (back(2) == "within" && !digit);
  }

  /// Whether `from` belongs to a `within`.
  bool in_span() const {
    for (std::size_t i = 2; i < 9; ++i) {
      if (back(i) == "within") return true;
    }
    return false;
  }

  /// The innermost bracket that is open: the number of its word.
  std::optional<std::size_t> open_bracket() const {
    int depth = 0;
    for (std::size_t i = words_.before.size(); i-- > 0;) {
      if (words_.before[i] == ")") ++depth;
      if (words_.before[i] == "(" && --depth < 0) return i;
    }
    return std::nullopt;
  }

  void inside(std::size_t bracket) {
    const std::string owner(bracket > 0 ? words_.before[bracket - 1] : "");
    const bool is_table = bracket == 2 && lower_[0] == "table";
    const bool declares =
        is_table ||
        (bracket > 1 && (lower_[bracket - 2] == "define" || lower_[bracket - 2] == "event"));
    if (is_table && back(2) == ":") keywords({"key"});
    if (declares) return;
    const std::string lower = language::lower_case(owner);
    if (language::aggregate_function(lower)) {
      const bool begun = bracket + 1 < words_.before.size();
      return begun ? keywords({"within", "between", "from", "and"}) : types();
    }
    if (lower == "timer") return keywords({"every", "hour", "minute", "second", "zone"});
    const std::string type = type_before(words_.before, bracket).first;
    attributes(type.empty() ? owner : type);
    if (type.empty()) return values();
    add("timestamp", ProposalKind::attribute, "int");
    parameters();
    states();
    keywords({"and", "or", "not", "contains", "like", "matches", "in", "true", "false"});
  }

  bool has(std::string_view word) const {
    return std::find(lower_.begin(), lower_.end(), word) != lower_.end();
  }

  void actions() {
    for (const std::string& kind : language::action_names()) {
      add(kind, ProposalKind::function, kind + "(\"...\")");
    }
  }

  void outside() {
    if (has("execute")) return actions();
    if (has("consuming")) {
      states();
      return keywords({"execute"});
    }
    if (has("where")) return assignment();
    if (back(1) == "and") {
      keywords({"each", "first", "last", "table", "not"});
      return values();
    }
    if (!has("from")) return keywords({"from"});
    if (back(1) == ")") keywords({"as"});
    if (back(1) == ")" || back(2) == "as") keywords({"per", "within", "between"});
    keywords({"and", "where", "order", "limit", "consuming", "execute"});
    if (in_filter()) values();
  }

  /// Whether the last clause is a filter, which begins with no selection.
  bool in_filter() const {
    int depth = 0;
    for (std::size_t i = lower_.size(); i-- > 0;) {
      if (lower_[i] == ")") ++depth;
      if (lower_[i] == "(") --depth;
      if (depth == 0 && lower_[i] == "from") return false;
      if (depth != 0 || lower_[i] != "and" || i + 1 == lower_.size()) continue;
      const std::string& next = lower_[i + 1];
      return next != "each" && next != "first" && next != "last" && next != "not" &&
             next != "table" && std::isdigit(static_cast<unsigned char>(next[0])) == 0;
    }
    return false;
  }

  /// Proposes an attribute that `where` does not give yet, or its value.
  void assignment() {
    if (back(1) != "where" && back(1) != "and" && back(1) != ",") {
      values();
      return keywords({"and", "order", "limit", "consuming", "execute"});
    }
    const auto define = std::find(lower_.begin(), lower_.end(), "define");
    if (lower_.end() - define < 3) return;
    const auto index = static_cast<std::size_t>(define - lower_.begin());
    const auto where = std::find(lower_.begin(), lower_.end(), "where") - lower_.begin();
    const auto given = [&](std::string_view name) {
      const auto begin = words_.before.begin() + where;
      return std::find(begin, words_.before.end(), name) != words_.before.end();
    };
    for (std::size_t i = index + 2; i + 2 < words_.before.size() && words_.before[i] != ")"; ++i) {
      const bool declared = words_.before[i + 1] == ":" && !given(words_.before[i]);
      if (declared) add(std::string(words_.before[i]), ProposalKind::attribute, lower_[i + 2]);
    }
  }

  const View& view_;
  const language::WordsAround words_;
  std::vector<std::string> lower_;                           // words_.before
  std::vector<std::pair<std::string, std::string>> states_;  // name, type
  std::set<std::string> parameters_;
  std::vector<Proposal> list_;
  std::set<std::string> labels_;
};

}  // namespace

Completion complete(const View& view, Position position) {
  const std::size_t offset = view.document.offset(position);
  auto words = language::words_around(view.document.text(), offset);
  const Range range{view.document.position(offset - words.begun.size()), position};
  return {Completer(view, std::move(words)).run(), range};
}

}  // namespace gorgo::tools::lsp
