#include <map>
#include <set>
#include <utility>

#include "language/language.hpp"
#include "language/reporter.hpp"
#include "language/trex_rule.hpp"

namespace gorgo::language {
namespace {

/// The numbers of types on T-Rex's wire: those that the text gives, else the lowest that are free.
class TypeNumbers {
 public:
  explicit TypeNumbers(const Schema& schema) {
    for (const auto& name : schema.names()) {
      if (const auto number = schema.find(name)->number) enter(name, *number);
    }
  }

  std::int64_t of(const std::string& type) {
    const auto it = numbers_.find(type);
    if (it != numbers_.end()) return it->second;
    std::int64_t number = 1;
    while (taken_.contains(number)) ++number;
    made_up_.push_back(type);
    return enter(type, number);
  }

  /// Types that got a number here.
  const std::vector<std::string>& made_up() const { return made_up_; }

 private:
  std::int64_t enter(const std::string& type, std::int64_t number) {
    taken_.insert(number);
    return numbers_[type] = number;
  }

  std::map<std::string, std::int64_t> numbers_;
  std::set<std::int64_t> taken_;
  std::vector<std::string> made_up_;
};

std::string assign(const std::vector<std::string>& types, TypeNumbers& numbers) {
  std::string text;
  for (const auto& type : types) {
    text += (text.empty() ? "Assign " : ", ") + std::to_string(numbers.of(type)) + " => " + type;
  }
  return text + "\n";
}

}  // namespace

TRexFile to_trex(const Source& source, const Schema& known) {
  TRexFile result;
  ParsedFile parsed = parse(source);
  result.diagnostics = std::move(parsed.diagnostics);
  if (result.diagnostics.failed()) return result;
  BoundFile bound = bind(parsed.file, known, source);
  if (bound.diagnostics.failed()) {
    result.diagnostics = std::move(bound.diagnostics);
    return result;
  }
  Reporter reporter(source);
  TypeNumbers numbers(bound.schema);
  Location first;
  for (const auto& item : parsed.file.items) {
    const auto* rule = std::get_if<ast::RuleDefinition>(&item);
    if (rule == nullptr) continue;
    const TRexRule written(*rule, bound.schema, reporter);
    if (!written.expressible()) {
      ++result.left_out;
      continue;
    }
    if (result.text.empty()) first = rule->type.at;
    result.text +=
        (result.text.empty() ? "" : "\n") + assign(written.types(), numbers) + written.text();
  }
  if (!numbers.made_up().empty()) {
    reporter.warning(
        first,
        "nothing says what numbers T-Rex knows " + listing(numbers.made_up(), "and") +
            " by; they are numbered here",
        "number them as their publishers do: `Assign 2000 => " + numbers.made_up()[0] + "`");
  }
  result.diagnostics = reporter.take();
  return result;
}

}  // namespace gorgo::language
