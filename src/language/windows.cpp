#include "language/windows.hpp"

namespace gorgo::language {

Span WindowBinder::bind(const ast::Span& span, std::uint32_t earlier) {
  Span bound;
  bound.kind = span.kind;
  bound.width = span.width;
  bound.first = earlier_state(span.first, earlier);
  if (span.kind != SpanKind::between) {
    if (span.width > 0) return bound;
    reporter_.error(span.at, "the window is empty: its width must be greater than 0",
                    "a bare number is milliseconds; intervals are open on both sides");
    return bound;
  }
  bound.second = earlier_state(span.second, earlier);
  if (span.first.text == span.second.text) {
    reporter_.error(span.second.at,
                    "nothing lies between " + in_quotes(span.first.text) + " and itself",
                    "name two states, or use `within ... from`");
  }
  return bound;
}

std::optional<std::uint64_t> WindowBinder::newest(const ast::Span& span) {
  if (!span.newest) return std::nullopt;
  if (*span.newest < 1) {
    reporter_.error(span.at, "the window is empty: it takes no event",
                    "write a number of at least 1");
    return std::nullopt;
  }
  if (span.endless) {
    reporter_.warning(span.at, "no time bounds this window, so that events are remembered for ever",
                      "write for example `within 20 events in 1 d from X`");
  }
  return static_cast<std::uint64_t>(*span.newest);
}

std::uint32_t WindowBinder::earlier_state(const ast::Name& name, std::uint32_t earlier) {
  const auto state = scope_.find_state(name.text);
  if (!state) {
    scope_.explain_unknown_state(name, reporter_);
    return 0;
  }
  if (*state < earlier && scope_.states()[*state].table) {
    reporter_.error(name.at, "a row of a table may be of any time, so no window begins at it",
                    "name a state that is an event");
    return 0;
  }
  if (*state < earlier) return *state;
  reporter_.error(name.at,
                  "the state " + in_quotes(name.text) + " does not come earlier in the text",
                  "windows refer to earlier states: move this clause behind that state");
  return 0;
}

}  // namespace gorgo::language
