#include "language/build_span.hpp"

#include <cstdint>
#include <limits>

#include "language/literal.hpp"
#include "language/token_reader.hpp"

namespace gorgo::language {
namespace {

/// A window longer than time itself is no mistake: windows saturate.
Duration times(std::int64_t count, Duration length) {
  Duration width = 0;
  if (!__builtin_mul_overflow(count, length, &width)) return width;
  return count < 0 ? 0 : std::numeric_limits<Duration>::max();
}

Duration milliseconds(std::int64_t count) { return times(count, 1'000'000); }

using Parser = grammar::TeslaParser;

ast::Name constant_of(Parser::ExtentContext* extent, TokenReader& tokens) {
  return {extent->start->getText(), tokens.locate(extent->start)};
}

bool counts_events(Parser::ExtentContext* extent) {
  if (extent->unit() == nullptr) return false;
  return lower_case(extent->unit()->ID()->getText()) == "events";
}

void build_width(Parser::ExtentContext* extent, ast::Span& span, TokenReader& tokens,
                 Reporter& reporter) {
  if (extent->OF() != nullptr) {
    return reporter.error(tokens.locate(extent->OF()->getSymbol()),
                          "a window has one number of events",
                          "a time stands behind `in`: `within 20 of all events in 1 d from X`");
  }
  const bool has_unit = extent->unit() != nullptr;
  if (extent->INT() != nullptr) {
    const std::int64_t count = tokens.integer(extent->INT()->getSymbol());
    return set_width(span,
                     has_unit ? times(count, tokens.unit(extent->unit())) : milliseconds(count));
  }
  span.constant = constant_of(extent, tokens);
  if (!has_unit) return;
  reporter.error(tokens.locate(extent->unit()->start),
                 "a constant that is a window has its unit already",
                 "write for example `const w = 5 min;`, and `within w from X`");
}

/// Whether the extent is `20 of all events`, the only words that go with `of`.
bool counts_all(Parser::ExtentContext* extent, TokenReader& tokens, Reporter& reporter) {
  if (extent->OF() == nullptr) return false;
  const bool known = lower_case(extent->ID(0)->getText()) == "all" &&
                     lower_case(extent->ID(1)->getText()) == "events";
  if (!known) {
    reporter.error(tokens.locate(extent->ID(0)->getSymbol()), "expected `all events` behind `of`",
                   "write for example `within 20 of all events in 1 d from X`");
  }
  return true;
}

/// `20 events` or `20 of all events`, of the time that stands behind them.
void build_events(Parser::WindowContext* window, ast::Span& span, TokenReader& tokens,
                  Reporter& reporter) {
  auto* const events = window->extent(0);
  if (events->INT() != nullptr) {
    span.newest = tokens.integer(events->INT()->getSymbol());
  } else {
    span.newest = 1;  // until the constant is known
    span.newest_constant = constant_of(events, tokens);
  }
  span.endless = window->IN() == nullptr;
  if (span.endless) {
    set_width(span, std::numeric_limits<Duration>::max());
  } else {
    build_width(window->extent(1), span, tokens, reporter);
  }
}

void build_window(Parser::WindowContext* window, ast::Span& span, TokenReader& tokens,
                  Reporter& reporter) {
  span.inclusive = window->INCLUSIVE() != nullptr;
  if (span.inclusive && span.kind == SpanKind::after) {
    reporter.error(tokens.locate(window->INCLUSIVE()->getSymbol()),
                   "an absence with a deadline does not include its end",
                   "it is decided before the events of that instant: leave out `inclusive`, or "
                   "make the window longer");
  }
  span.of_all = counts_all(window->extent(0), tokens, reporter);
  if (span.of_all || counts_events(window->extent(0))) {
    return build_events(window, span, tokens, reporter);
  }
  build_width(window->extent(0), span, tokens, reporter);
  if (window->IN() == nullptr) return;
  reporter.error(tokens.locate(window->IN()->getSymbol()), "a window has one time",
                 "`in` stands behind a number of events: `within 20 events in 1 d from X`");
}

}  // namespace

void set_width(ast::Span& span, Duration width) {
  const bool longer = span.inclusive && width > 0 && width < std::numeric_limits<Duration>::max();
  span.width = longer ? width + 1 : width;
}

std::optional<Duration> width_of(const ast::Expr& literal) {
  const auto* count = std::get_if<std::int64_t>(&literal.value);
  if (count == nullptr) return std::nullopt;
  if (literal.kind == ast::ExprKind::duration) return *count;
  return milliseconds(*count);
}

ast::Span build_span(grammar::TeslaParser::SpanContext* span, Reporter& reporter) {
  TokenReader tokens(reporter);
  ast::Span result{.at = tokens.locate(span->start)};
  result.first = tokens.name(span->typeName(0));
  if (span->BETWEEN() != nullptr) {
    result.kind = SpanKind::between;
    result.second = tokens.name(span->typeName(1));
  } else {
    result.kind = span->FROM() != nullptr ? SpanKind::within : SpanKind::after;
    build_window(span->window(), result, tokens, reporter);
  }
  return result;
}

}  // namespace gorgo::language
