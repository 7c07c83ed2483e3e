#include "plan/looking_back.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <string>
#include <string_view>

namespace gorgo::plan {
namespace {

/// In small letters, without underscores.
std::string plain(std::string_view name) {
  std::string text;
  for (const char c : name) {
    if (c != '_') text += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return text;
}

/// `next` of `NextReading` and of `next_reading`.
std::string first_word(std::string_view name) {
  std::size_t end = name.empty() ? 0 : 1;
  while (end < name.size() && std::islower(static_cast<unsigned char>(name[end])) != 0) ++end;
  return plain(name.substr(0, end));
}

class Finder {
 public:
  Finder(const Rule& rule, const Schema& schema) : rule_(rule), schema_(schema) {}

  std::optional<LookingBack> find() {
    for (std::uint32_t i = 1; i < rule_.states.size(); ++i) {
      if (rule_.states[i].table) continue;
      if (is_named_after(i)) return LookingBack{i, rule_.states[i].reference};
      for (const Expr& condition : rule_.states[i].predicate.conditions) look(condition, i);
    }
    for (const Filter& filter : rule_.filters) look(filter.condition, 0);
    for (const Expr& assignment : rule_.assignments) look(assignment, 0);
    return found_;
  }

 private:
  const Rule& rule_;
  const Schema& schema_;
  std::optional<LookingBack> found_;

  std::string type_of(std::uint32_t state) const {
    const TypeId type = rule_.states[state].predicate.type;
    return state == 0 && rule_.timer ? "Timer" : schema_.at(type).name;
  }

  /// Whether its alias, or the name of the composite or of the rule, has it come after its
  /// reference.
  bool is_named_after(std::uint32_t state) const {
    static constexpr std::array<std::string_view, 5> kAfter = {"next", "then", "after", "later",
                                                               "following"};
    const std::string& alias = rule_.states[state].name;
    if (alias != type_of(state) && std::ranges::count(kAfter, first_word(alias)) > 0) return true;
    const std::string from = plain(type_of(rule_.states[state].reference));
    const std::string own = plain(type_of(state));
    const std::string names = plain(schema_.at(rule_.type).name) + " " + plain(rule_.name);
    return std::ranges::any_of(std::array{"then", "followedby", "before"}, [&](const char* word) {
      return names.find(from + word + own) != std::string::npos;
    });
  }

  /// The state whose time the expression is.
  static std::optional<std::uint32_t> time_of(const Expr& expr, std::uint32_t candidate) {
    if (expr.op != Op::timestamp) return std::nullopt;
    return expr.source == kCandidate ? candidate : static_cast<std::uint32_t>(expr.source);
  }

  bool lies_before(std::uint32_t state, std::uint32_t other) const {
    while (state > other) state = rule_.states[state].reference;
    return state == other;
  }

  /// Notes that one state is taken to be later than the other.
  void note(const Expr& later, const Expr& earlier, std::uint32_t candidate) {
    const auto state = time_of(later, candidate), from = time_of(earlier, candidate);
    if (!state || !from || *state == *from || rule_.states[*state].table) return;
    if (!found_ && lies_before(*state, *from)) found_ = LookingBack{*state, *from};
  }

  void look(const Expr& expr, std::uint32_t candidate) {
    switch (expr.op) {
      case Op::greater:
      case Op::greater_equal:
      case Op::subtract:
        note(expr.args[0], expr.args[1], candidate);
        break;
      case Op::less:
      case Op::less_equal:
        note(expr.args[1], expr.args[0], candidate);
        break;
      case Op::call:
        if (expr.function == Function::abs) return;  // the distance either way
        break;
      default:
        break;
    }
    for (const Expr& arg : expr.args) look(arg, candidate);
  }
};

}  // namespace

std::optional<LookingBack> taken_to_come_after(const Rule& rule, const Schema& schema) {
  return Finder(rule, schema).find();
}

}  // namespace gorgo::plan
