#include "language/build_span.hpp"

#include <cstdint>
#include <limits>

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

Duration window_width(grammar::TeslaParser::WindowContext* window, TokenReader& tokens) {
  const std::int64_t count = tokens.integer(window->INT()->getSymbol());
  return window->unit() == nullptr ? milliseconds(count)
                                   : times(count, tokens.unit(window->unit()));
}

void build_window(grammar::TeslaParser::WindowContext* window, ast::Span& span, TokenReader& tokens,
                  Reporter& reporter) {
  span.inclusive = window->INCLUSIVE() != nullptr;
  if (span.inclusive && span.kind == SpanKind::after) {
    reporter.error(tokens.locate(window->INCLUSIVE()->getSymbol()),
                   "an absence with a deadline does not include its end",
                   "it is decided before the events of that instant: leave out `inclusive`, or "
                   "make the window longer");
  }
  if (window->constantName() != nullptr) {
    span.constant = {window->start->getText(), tokens.locate(window->start)};
  } else {
    set_width(span, window_width(window, tokens));
  }
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
