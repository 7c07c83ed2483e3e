#include "language/describe.hpp"

#include "language/rule_text.hpp"

namespace gorgo::language {
namespace {

/// Writes one rule line by line.
class Describer {
 public:
  Describer(const Rule& rule, const Schema& schema)
      : rule_(rule), schema_(schema), text_of_(rule, schema) {}

  std::string rule();

 private:
  void line(const std::string& text) { text_ += text + "\n"; }
  void options();
  void pattern();

  const Rule& rule_;
  const Schema& schema_;
  const RuleText text_of_;
  std::string text_;
};

void Describer::options() {
  if (!rule_.options.engine.empty()) line("engine " + rule_.options.engine);
  if (rule_.options.max_sequences != RuleOptions{}.max_sequences) {
    line("max_sequences " + std::to_string(rule_.options.max_sequences));
  }
  if (rule_.options.panes) line("panes");
  if (rule_.at_most) line("at most " + text_of_.at_most());
  if (rule_.every) line(text_of_.every());
  if (rule_.timer) line("from " + text_of_.timer());
}

void Describer::pattern() {
  for (std::size_t i = 0; i < rule_.states.size(); ++i) {
    const State& s = rule_.states[i];
    std::string text = "state " + std::to_string(i) + ": ";
    if (i > 0) text += selection_text(s) + " ";
    text += text_of_.predicate(s.predicate) + " as " + s.name;
    if (i > 0) text += " " + text_of_.window(s);
    line(text);
  }
  for (const Negation& n : rule_.negations) {
    line("not " + text_of_.predicate(n.predicate) + " " + text_of_.span(n.span) +
         ", tested after state " + std::to_string(n.completed_at));
  }
  for (std::size_t i = 0; i < rule_.aggregates.size(); ++i) {
    const Aggregate& a = rule_.aggregates[i];
    line("$" + std::to_string(i) + " = " + text_of_.aggregate(a) + ": " +
         std::string(to_string(a.type)));
  }
  for (const std::uint32_t index : rule_.required) line("required $" + std::to_string(index));
  for (const Filter& filter : rule_.filters) {
    line("filter " + text_of_.expr(filter.condition, kNoType));
  }
}

std::string Describer::rule() {
  line(declaration_of(schema_.at(rule_.type)));
  options();
  pattern();
  for (std::uint32_t i = 0; i < rule_.assignments.size(); ++i) {
    line(text_of_.attribute(rule_.type, i) + " := " + text_of_.expr(rule_.assignments[i], kNoType));
  }
  for (const std::uint32_t index : rule_.consuming) line("consuming " + text_of_.state(index));
  for (const Action& action : rule_.actions) line("execute " + action.text());
  return std::move(text_);
}

}  // namespace

std::string describe(const Rule& rule, const Schema& schema) {
  return Describer(rule, schema).rule();
}

}  // namespace gorgo::language
