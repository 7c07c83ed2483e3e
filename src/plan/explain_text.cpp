#include <algorithm>
#include <string_view>

#include "plan/explain.hpp"

namespace gorgo::plan {
namespace {

std::string joined(const std::vector<std::string>& parts, std::string_view glue) {
  std::string text;
  for (const std::string& part : parts) {
    if (&part != parts.data()) text += glue;
    text += part;
  }
  return text;
}

std::string padded(std::string text, std::size_t width) {
  if (text.size() < width) text.append(width - text.size(), ' ');
  return text;
}

/// Lines of a label and a value in two columns.
class Lines {
 public:
  void heading(const std::string& text) { text_ += text + "\n"; }
  void field(std::size_t indent, const std::string& label, const std::string& value) {
    if (value.empty()) return;
    text_ += std::string(indent, ' ') + padded(label, kLabel - indent) + value + "\n";
  }
  void fields(std::size_t indent, const std::string& label,
              const std::vector<std::string>& values) {
    for (const std::string& value : values) {
      field(indent, &value == values.data() ? label : "", value);
    }
  }
  void scan(const ScanExplanation& scan) {
    std::string column = scan.column;
    if (!scan.shared_with.empty()) column += ", shared with " + joined(scan.shared_with, ", ");
    const std::size_t more = scan.shared_by - scan.shared_with.size();
    if (more > 0) column += " and " + std::to_string(more) + " more";
    field(6, "column", column);
    field(6, "binds", joined(scan.binds, ", "));
    fields(6, "constant", scan.constant);
    fields(6, "equality", scan.equality);
    fields(6, "range", scan.range);
    fields(6, "residual", scan.residual);
    fields(6, "guard", scan.guards);
  }
  std::string take() { return std::move(text_); }

 private:
  static constexpr std::size_t kLabel = 17;
  std::string text_;
};

void add_states(const RuleExplanation& rule, Lines& lines) {
  for (std::size_t i = 0; i < rule.states.size(); ++i) {
    const StateExplanation& state = rule.states[i];
    const std::string window = state.window.empty() ? "" : ", " + state.window;
    lines.field(2, "state " + std::to_string(i), state.name + ": " + state.selection + window);
    lines.scan(state.scan);
  }
}

void add_conditions(const RuleExplanation& rule, Lines& lines) {
  for (const NegationExplanation& negation : rule.negations) {
    const std::string when =
        negation.completed_at ? "tested with " + *negation.completed_at : "tested at the deadline";
    lines.field(2, "negation", negation.type + " " + negation.span + ", " + when);
    lines.scan(negation.scan);
  }
  for (const AggregateExplanation& aggregate : rule.aggregates) {
    lines.field(2, "aggregate",
                aggregate.name + " = " + aggregate.call + ": " + aggregate.type +
                    (aggregate.required ? ", required" : "") +
                    (aggregate.panes > 0 ? ", " + std::to_string(aggregate.panes) + " panes" : ""));
    lines.scan(aggregate.scan);
  }
  lines.fields(2, "filter", rule.filters);
  lines.fields(2, "where", rule.assignments);
}

}  // namespace

std::string to_text(const RuleExplanation& rule) {
  Lines lines;
  lines.heading("rule " + rule.name + ": " + rule.declaration);
  lines.field(2, "engine", rule.engine);
  if (rule.stratum) lines.field(2, "stratum", std::to_string(*rule.stratum));
  lines.field(2, "timer", rule.timer);
  add_states(rule, lines);
  add_conditions(rule, lines);
  lines.field(2, "order by", rule.order);
  if (rule.limit) lines.field(2, "limit", std::to_string(*rule.limit));
  lines.field(2, "at most", rule.at_most);
  lines.field(2, "deadline", rule.deadline);
  lines.field(2, "consuming", joined(rule.consuming, ", "));
  lines.field(2, "execute", joined(rule.actions, ", "));
  lines.field(2, "reach", joined(rule.reach, ", "));
  return lines.take();
}

std::string to_text(const Explanation& explanation) {
  std::string text;
  for (const RuleExplanation& rule : explanation.rules) text += to_text(rule) + "\n";
  if (!explanation.types.empty()) {
    Lines lines;
    lines.heading("types");
    for (const TypeExplanation& type : explanation.types) {
      lines.field(2, std::string(to_string(type.origin)), type.declaration);
    }
    text += lines.take();
  }
  for (const auto& cycle : explanation.cycles) text += "\ncycle: " + joined(cycle, " -> ") + "\n";
  return text;
}

}  // namespace gorgo::plan
