#include "language/misspelt.hpp"

#include <algorithm>
#include <cctype>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "language/literal.hpp"

namespace gorgo::language {
namespace {

constexpr std::size_t kShortest = 4;
constexpr std::size_t kLongest = 60;

bool fits(const std::string& name) { return name.size() >= kShortest && name.size() <= kLongest; }

/// The letters that a slip may put into a name. Digits are not among them, because `Sensor1` and
/// `Sensor2` are both meant.
constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyz_";

bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

/// Calls `f` with the name and with everything that one slip makes of it: a letter too few or too
/// many, another letter, or two in the wrong order. `f` returns whether to go on.
template <class F>
void for_each_slip(const std::string& name, F&& f) {
  if (!f(name)) return;
  const auto with_letters = [&](std::string slip, std::size_t at) {
    return std::ranges::all_of(kLetters, [&](char letter) {
      slip[at] = letter;
      return f(std::as_const(slip));
    });
  };
  const std::size_t size = name.size();
  for (std::size_t i = 0; i <= size; ++i) {
    const std::string before = name.substr(0, i);
    if (!with_letters(before + '_' + name.substr(i), i)) return;
    if (i == size) return;
    const bool letter = !is_digit(name[i]);
    if (letter && !(f(before + name.substr(i + 1)) && with_letters(name, i))) return;
    if (i + 1 == size || !(letter || !is_digit(name[i + 1]))) continue;
    if (!f(before + name[i + 1] + name[i] + name.substr(i + 2))) return;
  }
}

/// Finds names that differ from a name by one slip, or in upper and lower case. It looks up what
/// slips make of the name, so that the cost does not depend on how many names there are.
class NearNames {
 public:
  explicit NearNames(const Schema& known) : known_(known) {}

  void add(const std::string& name) { names_[lower_case(name)].push_back(name); }

  /// A near name that differs from this one; empty when there is none.
  std::string find(const std::string& name) const {
    std::string near;
    const auto look = [&](const std::string& other) {
      if (near.empty() && other != name && fits(other)) near = other;
    };
    for_each_slip(lower_case(name), [&](const std::string& slip) {
      for (const EventType* type : known_.spelt_like(slip)) look(type->name);
      const auto added = names_.find(slip);
      if (added != names_.end()) std::ranges::for_each(added->second, look);
      return near.empty();
    });
    return near;
  }

 private:
  const Schema& known_;
  std::unordered_map<std::string, std::vector<std::string>> names_;  // by their lower case
};

/// Whether the name has letters enough: a slip in a name that is all but digits says nothing.
bool has_letters(const std::string& name) {
  return name.size() - static_cast<std::size_t>(std::ranges::count_if(name, is_digit)) >=
         kShortest - 1;
}

bool is_suspect(const TypeEntry& entry) {
  return !entry.known && entry.members.empty() && entry.type.origin == TypeOrigin::inferred &&
         entry.uses == 1 && entry.poisoned.empty() && fits(entry.type.name) &&
         has_letters(entry.type.name);
}

}  // namespace

void warn_of_misspelt_types(const TypeTable& types, const Schema& known, Reporter& reporter) {
  std::vector<const TypeEntry*> suspects;
  for (TypeIndex i = 0; i < types.size(); ++i) {
    if (is_suspect(types.at(i))) suspects.push_back(&types.at(i));
  }
  if (suspects.empty() || reporter.failed()) return;
  NearNames names(known);
  for (TypeIndex i = 0; i < types.size(); ++i) {
    // Suspects are added only after they are looked up, so that the later one of two is the slip.
    const TypeEntry& entry = types.at(i);
    if (!entry.known && entry.members.empty() && !is_suspect(entry)) names.add(entry.type.name);
  }
  for (const TypeEntry* suspect : suspects) {
    const std::string& name = suspect->type.name;
    const std::string near = names.find(name);
    if (!near.empty()) {
      reporter.warning(suspect->used_at,
                       "type " + in_quotes(name) + " is declared nowhere and used only here",
                       "did you mean " + in_quotes(near) + "?");
    }
    names.add(name);
  }
}

}  // namespace gorgo::language
