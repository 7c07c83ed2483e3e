#include "language/constants.hpp"

#include <algorithm>
#include <utility>
#include <variant>

#include "language/build_span.hpp"

namespace gorgo::language {

void Constants::declare(const ast::Name& name, std::optional<ast::Expr> value, Reporter& reporter) {
  if (const auto attribute = attributes_.find(name.text); attribute != attributes_.end()) {
    reporter.error(name.at,
                   in_quotes(name.text) + " is an attribute, at " + place(attribute->second) +
                       ", and cannot be a constant, too",
                   "rename one of them");
  }
  const auto [known, added] =
      constants_.try_emplace(name.text, Constant{std::move(value), name.at});
  if (added) return;
  reporter.error(name.at,
                 "the constant " + in_quotes(name.text) + " has a value already, at " +
                     place(known->second.at),
                 "choose another name");
}

void Constants::note(const std::vector<ast::AttributeDeclaration>& attributes, Reporter& reporter) {
  for (const auto& attribute : attributes) {
    attributes_.try_emplace(attribute.name.text, attribute.name.at);
    const auto constant = constants_.find(attribute.name.text);
    if (constant == constants_.end()) continue;
    reporter.error(attribute.name.at,
                   in_quotes(attribute.name.text) + " is a constant, at " +
                       place(constant->second.at) + ", and cannot be an attribute, too",
                   "rename one of them");
  }
}

void Constants::put_into(ast::RuleDefinition& rule, Reporter& reporter) const {
  if (auto* terminator = std::get_if<ast::Predicate>(&rule.terminator)) {
    put_into(*terminator, reporter);
  }
  if (rule.every && !rule.every->constant.text.empty()) {
    rule.every->events =
        number_of(rule.every->constant, "`every 100 Temp()`", reporter).value_or(1);
  }
  for (ast::Clause& clause : rule.clauses) put_into(clause, reporter);
  for (ast::Assignment& assignment : rule.assignments) put_into(assignment.value, reporter);
  if (rule.limit) put_into(*rule.limit, reporter);
  for (ast::Annotation& annotation : rule.annotations) put_into(annotation, reporter);
}

std::vector<ast::Name> Constants::names() const {
  std::vector<ast::Name> names;
  for (const auto& [name, constant] : constants_) names.push_back({name, constant.at});
  std::ranges::sort(names, {},
                    [](const ast::Name& name) { return std::pair(name.at.line, name.at.column); });
  return names;
}

/// `hint` is for names that are near to none.
void Constants::report_unknown(const ast::Name& name, std::string hint, Reporter& reporter) const {
  std::vector<std::string> known;
  for (const ast::Name& constant : names()) known.push_back(constant.text);
  reporter.error(name.at, "there is no constant " + in_quotes(name.text) + " in front of this rule",
                 reporter.suggest(name.text, known, std::move(hint)));
}

void Constants::put_into(ast::Clause& clause, Reporter& reporter) const {
  if (auto* state = std::get_if<ast::StateClause>(&clause)) {
    put_into(state->predicate, reporter);
    put_into(state->span, reporter);
  } else if (auto* negation = std::get_if<ast::NegationClause>(&clause)) {
    put_into(negation->predicate, reporter);
    put_into(negation->span, reporter);
  } else if (auto* binding = std::get_if<ast::AggregateBinding>(&clause)) {
    if (binding->left) put_into(*binding->left, reporter);
    put_into(binding->aggregate->predicate, reporter);
    put_into(binding->aggregate->span, reporter);
  } else {
    put_into(std::get<ast::FilterClause>(clause).condition, reporter);
  }
}

void Constants::put_into(ast::Predicate& predicate, Reporter& reporter) const {
  for (ast::Expr& condition : predicate.conditions) put_into(condition, reporter);
}

void Constants::put_into(ast::Span& span, Reporter& reporter) const {
  if (!span.newest_constant.text.empty()) {
    span.newest = number_of(span.newest_constant, "`within 20 events in 1 d from X`", reporter);
  }
  if (span.constant.text.empty()) return;
  const auto constant = constants_.find(span.constant.text);
  if (constant == constants_.end()) {
    return report_unknown(span.constant,
                          "a window is a time such as `5 min`, or a constant: `const w = 5 min;`",
                          reporter);
  }
  if (!constant->second.value) return;
  if (const auto width = width_of(*constant->second.value)) return set_width(span, *width);
  reporter.error(span.constant.at,
                 "the constant " + in_quotes(span.constant.text) + " is no time, at " +
                     place(constant->second.at),
                 "write for example `const w = 5 min;`");
}

void Constants::put_into(ast::Limit& limit, Reporter& reporter) const {
  if (limit.constant.text.empty()) return;
  limit.composites = number_of(limit.constant, "`limit 3`", reporter).value_or(1);
}

/// The whole number that the constant is. Nothing, after an error, where it is none.
std::optional<std::int64_t> Constants::number_of(const ast::Name& name, const std::string& example,
                                                 Reporter& reporter) const {
  const auto constant = constants_.find(name.text);
  if (constant == constants_.end()) {
    report_unknown(
        name, "a whole number stands here, as in " + example + ", or a constant: `const best = 3;`",
        reporter);
    return std::nullopt;
  }
  if (!constant->second.value) return std::nullopt;
  const ast::Expr& value = *constant->second.value;
  const auto* number = std::get_if<std::int64_t>(&value.value);
  if (number != nullptr && value.kind == ast::ExprKind::literal) return *number;
  reporter.error(name.at,
                 "the constant " + in_quotes(name.text) + " is no whole number, at " +
                     place(constant->second.at),
                 "write for example `const best = 3;`");
  return std::nullopt;
}

/// The number and the time of `@at_most` may be constants. Words of other annotations, and those
/// behind `by`, are names.
void Constants::put_into(ast::Annotation& annotation, Reporter& reporter) const {
  if (annotation.name.text != "at_most") return;
  for (ast::AnnotationArgument& argument : annotation.arguments) {
    const bool is_number = &argument == annotation.arguments.data() && argument.name.text.empty();
    if (!argument.is_word || !(is_number || argument.name.text == "per")) continue;
    const std::string& word = std::get<std::string>(argument.value);
    const auto constant = constants_.find(word);
    if (constant == constants_.end()) {
      report_unknown({word, argument.value_at},
                     "for example `@at_most(1, per = 10 min, by = area)`", reporter);
      continue;
    }
    if (!constant->second.value) continue;
    argument.value = constant->second.value->value;
    argument.is_time = constant->second.value->kind == ast::ExprKind::duration;
    argument.is_word = false;
  }
}

void Constants::put_into(ast::Expr& expr, Reporter& reporter) const {
  for (ast::Expr& child : expr.children) put_into(child, reporter);
  if (expr.aggregate != nullptr) {
    put_into(expr.aggregate->predicate, reporter);
    put_into(expr.aggregate->span, reporter);
  }
  if (expr.kind != ast::ExprKind::attribute) return;
  const auto constant = constants_.find(expr.name.text);
  if (constant == constants_.end() || !constant->second.value) return;
  const Location at = expr.at;
  const auto stated = expr.stated_type;
  expr = *constant->second.value;
  expr.at = at;
  expr.stated_type = stated;
}

}  // namespace gorgo::language
