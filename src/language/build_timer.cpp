#include "language/build_timer.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "language/literal.hpp"

namespace gorgo::language {
namespace {

using ast::ExprKind;

/// One `field = number` of a timer.
struct TimerField {
  std::string name;
  std::int64_t number = 0;
  bool is_duration = false;
};

std::optional<TimerField> timer_field(const ast::Expr& condition) {
  if (condition.kind != ExprKind::equal) return std::nullopt;
  const ast::Expr& left = condition.children[0];
  const ast::Expr& right = condition.children[1];
  const auto* number = std::get_if<std::int64_t>(&right.value);
  if (left.kind != ExprKind::attribute || number == nullptr) return std::nullopt;
  return TimerField{lower_case(left.name.text), *number, right.kind == ExprKind::duration};
}

/// The zone of `zone = "Europe/Rome"`.
std::optional<ast::Name> timer_zone(const ast::Expr& condition) {
  if (condition.kind != ExprKind::equal) return std::nullopt;
  const ast::Expr& left = condition.children[0];
  const auto* zone = std::get_if<std::string>(&condition.children[1].value);
  const bool named = left.kind == ExprKind::attribute && lower_case(left.name.text) == "zone";
  if (!named || zone == nullptr) return std::nullopt;
  return ast::Name{*zone, condition.children[1].at};
}

constexpr const char* kForms = "write `Timer(every = 1 min)` or `Timer(hour = 9, minute = 0)`";

void report_unknown_field(const ast::Expr& condition, Reporter& reporter) {
  const bool named =
      !condition.children.empty() && condition.children[0].kind == ExprKind::attribute;
  const std::string name = named ? condition.children[0].name.text : "";
  const std::vector<std::string> fields = {"every", "hour", "minute", "second", "zone"};
  // A field of a name that is right has a wrong value.
  const bool is_slip = named && std::ranges::count(fields, lower_case(name)) == 0;
  if (named && !is_slip && condition.kind == ExprKind::equal &&
      condition.children[1].kind == ExprKind::attribute) {
    return reporter.error(condition.children[1].at, "a timer takes no constants",
                          "write the value itself: `every = 1 min`, `zone = \"Europe/Rome\"`");
  }
  reporter.error(is_slip ? condition.children[0].at : condition.at, "this is no field of a timer",
                 is_slip ? reporter.suggest(name, fields, kForms) : kForms);
}

/// Sets the field; returns what is wrong with it, or nothing.
const char* set_timer_field(ast::Timer& timer, const TimerField& field) {
  constexpr Duration kMillisecond = 1'000'000;
  if (field.name == "every") {
    if (timer.every) return "`every` is given twice";
    if (field.number <= 0) return "the period of a timer is positive";
    Duration period = field.number;
    if (!field.is_duration && __builtin_mul_overflow(field.number, kMillisecond, &period)) {
      period = std::numeric_limits<Duration>::max();
    }
    timer.every = period;
    return nullptr;
  }
  const bool is_hour = field.name == "hour";
  auto& part = is_hour ? timer.hour : field.name == "minute" ? timer.minute : timer.second;
  if (part) return "a field of the timer is given twice";
  if (field.is_duration) return "a field of the time of day is a plain number";
  if (field.number < 0 || field.number > (is_hour ? 23 : 59)) {
    return is_hour ? "the hour is 0 to 23" : "minutes and seconds are 0 to 59";
  }
  part = field.number;
  return nullptr;
}

}  // namespace

bool is_timer(const ast::Predicate& predicate) {
  return lower_case(predicate.type.text) == "timer";
}

ast::Timer build_timer(const ast::Predicate& predicate, Reporter& reporter) {
  ast::Timer timer{.at = predicate.type.at};
  if (predicate.alias) {
    reporter.error(predicate.alias->at, "a timer takes no alias", "leave out `as`");
  }
  if (predicate.conditions.empty()) {
    reporter.error(timer.at, "a timer needs to say when", kForms);
  }
  for (const auto& condition : predicate.conditions) {
    if (auto zone = timer_zone(condition)) {
      if (timer.zone) reporter.error(condition.at, "a field of the timer is given twice", kForms);
      timer.zone = std::move(zone);
      continue;
    }
    const auto field = timer_field(condition);
    const bool known = field && (field->name == "every" || field->name == "hour" ||
                                 field->name == "minute" || field->name == "second");
    if (!known) {
      report_unknown_field(condition, reporter);
    } else if (const char* problem = set_timer_field(timer, *field); problem != nullptr) {
      reporter.error(condition.at, problem, kForms);
    }
  }
  if (timer.every && (timer.hour || timer.minute || timer.second)) {
    reporter.error(timer.at, "`every` does not go with a time of day", kForms);
  }
  return timer;
}

void refuse_timer(const ast::Predicate& predicate, Reporter& reporter) {
  const auto joined = std::ranges::find_if(
      predicate.any_of, [](const ast::Name& type) { return lower_case(type.text) == "timer"; });
  const bool is_joined = joined != predicate.any_of.end();
  if (!is_joined && !is_timer(predicate)) return;
  if (is_joined) {
    return reporter.error(joined->at, "`Timer` goes with no other type",
                          "write a rule for the timer and one for the events");
  }
  reporter.error(predicate.type.at, "`Timer` may only be the terminator",
                 "write it directly behind `from`");
}

}  // namespace gorgo::language
