#include "language/misspelt.hpp"

#include <algorithm>
#include <cctype>
#include <string>
#include <unordered_map>
#include <vector>

#include "language/literal.hpp"

namespace gorgo::language {
namespace {

constexpr std::size_t kShortest = 4;
constexpr std::size_t kLongest = 60;

bool fits(const std::string& name) { return name.size() >= kShortest && name.size() <= kLongest; }

std::string without_digits(std::string_view name) {
  std::string rest;
  for (const char c : name) {
    if (std::isdigit(static_cast<unsigned char>(c)) == 0) rest += c;
  }
  return rest;
}

std::string digits_of(std::string_view name) {
  std::string digits;
  for (const char c : name) {
    if (std::isdigit(static_cast<unsigned char>(c)) != 0) digits += c;
  }
  return digits;
}

/// Precondition: the lower-case names share one of their forms.
bool one_slip(const std::string& a, const std::string& b) {
  if (digits_of(a) != digits_of(b) || without_digits(a).size() < kShortest - 1) return false;
  if (a.size() != b.size()) return true;  // a letter too few or too many
  std::size_t first = 0;
  while (first < a.size() && a[first] == b[first]) ++first;
  if (first == a.size()) return true;                                        // the case
  if (a.compare(first + 1, a.npos, b, first + 1, b.npos) == 0) return true;  // changed
  return first + 1 < a.size() && a[first] == b[first + 1] && a[first + 1] == b[first] &&
         a.compare(first + 2, a.npos, b, first + 2, b.npos) == 0;
}

/// Finds names that differ by one slip: such names share one of the forms that are left when at
/// most one letter is taken out.
class NearNames {
 public:
  void add(const std::string& name) {
    if (!fits(name)) return;
    for (const std::string& form : forms_of(lower_case(name))) names_[form].push_back(name);
  }

  /// The first name added that is not the same; empty when there is none.
  std::string find(const std::string& name) const {
    const std::string lower = lower_case(name);
    for (const std::string& form : forms_of(lower)) {
      const auto it = names_.find(form);
      if (it == names_.end()) continue;
      for (const std::string& other : it->second) {
        if (other != name && one_slip(lower, lower_case(other))) return other;
      }
    }
    return {};
  }

 private:
  static std::vector<std::string> forms_of(const std::string& name) {
    std::vector<std::string> forms{name};
    for (std::size_t i = 0; i < name.size(); ++i) {
      forms.push_back(name.substr(0, i) + name.substr(i + 1));
    }
    return forms;
  }

  std::unordered_map<std::string, std::vector<std::string>> names_;
};

bool is_suspect(const TypeEntry& entry) {
  return !entry.known && entry.type.origin == TypeOrigin::inferred && entry.uses == 1 &&
         entry.poisoned.empty() && fits(entry.type.name);
}

}  // namespace

void warn_of_misspelt_types(const TypeTable& types, const Schema& known, Reporter& reporter) {
  std::vector<const TypeEntry*> suspects;
  for (TypeIndex i = 0; i < types.size(); ++i) {
    if (is_suspect(types.at(i))) suspects.push_back(&types.at(i));
  }
  if (suspects.empty() || reporter.failed()) return;
  NearNames names;
  for (const std::string& name : known.names()) names.add(name);
  for (TypeIndex i = 0; i < types.size(); ++i) {
    // Of two suspects the one that comes later is the slip: it is looked up before it is added.
    const TypeEntry& entry = types.at(i);
    if (!entry.known && !is_suspect(entry)) names.add(entry.type.name);
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
