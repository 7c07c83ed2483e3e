#include "plan/panes.hpp"

#include <algorithm>
#include <limits>

#include "base/int128.hpp"
#include "plan/period.hpp"

namespace gorgo::plan {

std::int64_t PaneCut::pane_of(Timestamp timestamp) const {
  const Int128 distance = Int128{timestamp} - offset;
  const Int128 quotient = distance / width;
  return static_cast<std::int64_t>(distance % width < 0 ? quotient - 1 : quotient);
}

Timestamp PaneCut::begin_of(std::int64_t pane) const {
  const Int128 begin = Int128{pane} * width + offset;
  return static_cast<Timestamp>(std::clamp<Int128>(begin, std::numeric_limits<Timestamp>::min(),
                                                   std::numeric_limits<Timestamp>::max()));
}

std::optional<PaneCut> cut_of(const Rule& rule) {
  if (!rule.options.panes || !rule.timer || rule.timer->clock != nullptr) return std::nullopt;
  return PaneCut{period_of(*rule.timer), offset_of(*rule.timer)};
}

bool consists_of_panes(const PaneCut& cut, const Span& span) {
  const Duration end = 1 % cut.width;  // a window with its older end is a nanosecond longer
  return span.kind == SpanKind::within && span.first == 0 && span.width > cut.width &&
         span.width % cut.width == end;
}

std::int64_t panes_of(const Rule& rule, const Aggregate& aggregate) {
  const auto cut = cut_of(rule);
  if (!cut || aggregate.span.table || !consists_of_panes(*cut, aggregate.span)) return 0;
  return aggregate.span.width / cut->width;
}

}  // namespace gorgo::plan
