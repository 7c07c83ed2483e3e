#include "language/build_span.hpp"

#include <cstdint>
#include <limits>

#include "language/token_reader.hpp"

namespace gorgo::language {
namespace {

Duration window_width(grammar::TeslaParser::WindowContext* window, TokenReader& tokens) {
  constexpr Duration kMillisecond = 1'000'000;
  const std::int64_t count = tokens.integer(window->INT()->getSymbol());
  const Duration length = window->unit() == nullptr ? kMillisecond : tokens.unit(window->unit());
  Duration width = 0;
  // A window longer than time itself is no mistake: windows saturate.
  if (__builtin_mul_overflow(count, length, &width)) width = std::numeric_limits<Duration>::max();
  return width;
}

}  // namespace

ast::Span build_span(grammar::TeslaParser::SpanContext* span, Reporter& reporter) {
  TokenReader tokens(reporter);
  ast::Span result{.at = tokens.locate(span->start)};
  result.first = tokens.name(span->typeName(0));
  if (span->BETWEEN() != nullptr) {
    result.kind = SpanKind::between;
    result.second = tokens.name(span->typeName(1));
  } else {
    result.kind = span->FROM() != nullptr ? SpanKind::within : SpanKind::after;
    result.width = window_width(span->window(), tokens);
  }
  return result;
}

}  // namespace gorgo::language
