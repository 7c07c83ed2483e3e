#include <algorithm>
#include <cctype>
#include <utility>

#include "language/rule_binder.hpp"

namespace gorgo::language {
namespace {

bool is_word(const std::string& text) {
  const auto fits = [](unsigned char c) { return std::isalnum(c) || c == '_' || c == '-'; };
  return !text.empty() && std::isdigit(static_cast<unsigned char>(text[0])) == 0 &&
         std::all_of(text.begin(), text.end(), fits);
}

}  // namespace

void RuleBinder::bind_annotations() {
  std::unordered_set<std::string> seen;
  for (const auto& annotation : ast_.annotations) {
    const ast::Name& name = annotation.name;
    if (!seen.insert(name.text).second) {
      reporter_.error(name.at, "`@" + name.text + "` stands twice before this rule",
                      "leave one of them out");
    } else if (name.text == "engine") {
      bind_engine(annotation);
    } else if (name.text == "limit") {
      bind_limit(annotation);
    } else {
      reporter_.error(name.at, "there is no annotation `@" + name.text + "`",
                      reporter_.suggest(name.text, {"engine", "limit"},
                                        "the annotations are `@engine(NAME)` and "
                                        "`@limit(max_sequences = N)`"));
    }
  }
}

void RuleBinder::bind_engine(const ast::Annotation& annotation) {
  const auto& arguments = annotation.arguments;
  const bool one = arguments.size() == 1 && arguments[0].first.text.empty();
  const auto* word = one ? std::get_if<std::string>(&arguments[0].second) : nullptr;
  if (word == nullptr || !is_word(*word)) {
    return reporter_.error(annotation.name.at, "`@engine` takes the name of one engine",
                           "for example `@engine(column)`");
  }
  rule_.options.engine = *word;
}

void RuleBinder::bind_limit(const ast::Annotation& annotation) {
  bool given = false;
  for (const auto& [name, value] : annotation.arguments) {
    const Location at = name.text.empty() ? annotation.name.at : name.at;
    if (name.text != "max_sequences") {
      reporter_.error(
          at, "`@limit` has no argument " + in_quotes(name.text),
          reporter_.suggest(name.text, {"max_sequences"}, "write `@limit(max_sequences = N)`"));
      return;
    }
    const auto* number = std::get_if<std::int64_t>(&value);
    if (number == nullptr || *number < 1) {
      return reporter_.error(at, "`max_sequences` must be a whole number of at least 1",
                             "for example `@limit(max_sequences = 100000)`");
    }
    if (given) return reporter_.error(at, "`max_sequences` stands twice", "leave one of them out");
    given = true;
    rule_.options.max_sequences = static_cast<std::uint64_t>(*number);
  }
  if (given) return;
  reporter_.error(annotation.name.at, "`@limit` needs an argument",
                  "write `@limit(max_sequences = N)`");
}

void RuleBinder::bind_timer(const ast::Timer& timer) {
  const bool calendar = timer.hour || timer.minute || timer.second;
  if (timer.every.has_value() == calendar) {
    return reporter_.error(timer.at, "a timer has either a period or a time of day",
                           "write `Timer(every = 1 min)` or `Timer(hour = 9, minute = 0)`");
  }
  Timer& bound = rule_.timer.emplace();
  bound.every = timer.every;
  if (timer.every && *timer.every <= 0) {
    reporter_.error(timer.at, "the period of a timer must be greater than 0",
                    "for example `Timer(every = 1 min)`");
  }
  const auto field = [&](std::string_view name, const std::optional<std::int64_t>& value,
                         std::int64_t end) -> std::optional<std::int32_t> {
    if (!value) return std::nullopt;
    if (*value < 0 || *value >= end) {
      reporter_.error(timer.at, in_quotes(name) + " of a timer must be from 0 to " +
                                    std::to_string(end - 1) + ", not " + std::to_string(*value));
      return 0;
    }
    return static_cast<std::int32_t>(*value);
  };
  bound.hour = field("hour", timer.hour, 24);
  bound.minute = field("minute", timer.minute, 60);
  bound.second = field("second", timer.second, 60);
  // Finer fields left out are 0, coarser ones any (TESLA.md §8).
  if (bound.hour && !bound.minute) bound.minute = 0;
  if (bound.minute && !bound.second) bound.second = 0;
}

}  // namespace gorgo::language
