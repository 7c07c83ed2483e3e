#include "engine/cuda/aggregate_searches.hpp"

#include <algorithm>
#include <bit>
#include <cassert>
#include <limits>

#include "cuda/search.hpp"
#include "engine/window.hpp"

namespace gorgo::engine {
namespace {

using gpu::Want;
using history::EventRef;

/// What is asked for ahead, in rows and in pairs of a row and an event, may take half of a round.
constexpr std::size_t kMostRowsAhead = 16;
constexpr std::uint64_t kMostPairsAhead = std::uint64_t{1} << 23;

bool sums_floats(const Aggregate& aggregate, bool floats) {
  const bool sums =
      aggregate.function == AggregateFunction::sum || aggregate.function == AggregateFunction::avg;
  return sums && floats;
}

/// Adds the least or greatest value, whose key is this.
void add_extreme(Aggregation& values, const gpu::Reduction& reduction, std::uint64_t key,
                 bool floats) {
  if (reduction.count == 0) return;
  const std::uint64_t extreme = gpu::word_of_key(floats, key);
  const double of_none = std::numeric_limits<double>::quiet_NaN();
  const double real = reduction.numbers == 0 ? of_none : std::bit_cast<double>(extreme);
  values.add(floats ? Datum::of(real) : Datum::of(static_cast<std::int64_t>(extreme)));
}

/// Precondition: the function is a reduction.
void add_reduction(Aggregation& values, AggregateFunction function, const gpu::Reduction& reduction,
                   bool floats) {
  switch (function) {
    case AggregateFunction::min:
      return add_extreme(values, reduction, ~reduction.least, floats);
    case AggregateFunction::max:
      return add_extreme(values, reduction, reduction.greatest, floats);
    case AggregateFunction::sum:
    case AggregateFunction::avg:
    case AggregateFunction::count: {
      const Int128 high = static_cast<std::int64_t>(reduction.high);
      return values.add_all(reduction.count, high * (Int128{1} << 32) + reduction.low);
    }
    case AggregateFunction::variance:
    case AggregateFunction::variance_pop:
    case AggregateFunction::std_dev:
    case AggregateFunction::std_dev_pop:
    case AggregateFunction::median:
    case AggregateFunction::percentile:
    case AggregateFunction::count_distinct:
    case AggregateFunction::first:
    case AggregateFunction::last:
      break;
  }
  assert(false && "the function is no reduction");
}

}  // namespace

AggregateSearches::AggregateSearches(const PassInput& input, SequenceTable& table)
    : input_(input), table_(table), is_requested_(input.plan.aggregates.size()) {}

/// The rows that agree on what an aggregate depends on stand together.
void AggregateSearches::request(std::uint32_t number, SearchQueue& queue) {
  const auto slot = [](const EventRef& event) { return event.slot; };
  const Aggregate& aggregate = input_.rule().aggregates[number];
  const std::size_t shared = input_.plan.plan->aggregates[number].decided_at + 1;
  DeviceScan& scan = input_.plan.aggregates[number];
  for (std::size_t first = 0, last; first < table_.rows(); first = last) {
    const auto prefix = table_.row(first).first(shared);
    for (last = first + 1; last < table_.rows(); ++last) {
      if (!std::ranges::equal(table_.row(last).first(shared), prefix, {}, slot, slot)) break;
    }
    groups_.push_back({.aggregate = number, .rows = {first, last}});
    queue.add({.owner = this,
               .scan = &scan,
               .range = input_.window(scan, interval_of(aggregate.span, table_.row(first))),
               .want = sums_floats(aggregate, scan.reduced_floats) ? Want::sum : Want::reduction,
               .limit = 0,
               .subject = static_cast<std::uint32_t>(groups_.size() - 1)});
  }
  is_requested_[number] = true;
}

void AggregateSearches::request_ahead(SearchQueue& queue) {
  groups_.clear();
  if (table_.rows() > kMostRowsAhead) return;
  for (std::uint32_t i = 0; i < is_requested_.size(); ++i) {
    const std::size_t shared = input_.plan.plan->aggregates[i].decided_at + 1;
    if (shared > table_.width() || is_requested_[i]) continue;
    const DeviceScan& scan = input_.plan.aggregates[i];
    const std::uint64_t events = scan.timeline->end() - scan.timeline->begin();
    if (table_.rows() * events > kMostPairsAhead) continue;
    table_.add_values();
    request(i, queue);
  }
}

void AggregateSearches::request(SearchQueue& queue) {
  groups_.clear();
  table_.add_values();
  for (std::uint32_t i = 0; i < is_requested_.size(); ++i) {
    if (!is_requested_[i]) request(i, queue);
  }
}

Aggregation AggregateSearches::begin(const Group& group) const {
  return {aggregate(group), input_.plan.aggregates[group.aggregate].column->store()};
}

void AggregateSearches::take_reduction(const QueuedSearch& search,
                                       const gpu::Reduction& reduction) {
  const Group& group = groups_[search.subject];
  Aggregation values = begin(group);
  add_reduction(values, aggregate(group).function, reduction, search.scan->reduced_floats);
  finish(group, values);
}

void AggregateSearches::take_sum(const QueuedSearch& search, const gpu::FloatSum& sum) {
  ExactSum exact;
  if (sum.nans > 0) exact.add(std::numeric_limits<double>::quiet_NaN());
  if (sum.infinities > 0) exact.add(std::numeric_limits<double>::infinity());
  if (sum.negative_infinities > 0) exact.add(-std::numeric_limits<double>::infinity());
  for (std::uint32_t i = 0; i < gpu::FloatSum::kLimbs; ++i) {
    const auto units = static_cast<std::int64_t>(sum.limbs[i]);
    if (units != 0) exact.add_units(units, static_cast<int>(32 * i));
  }
  const Group& group = groups_[search.subject];
  Aggregation values = begin(group);
  values.add_all(sum.count, exact);
  finish(group, values);
}

void AggregateSearches::take_nothing(const QueuedSearch& search) {
  const Group& group = groups_[search.subject];
  finish(group, begin(group));
}

}  // namespace gorgo::engine
