#include <algorithm>
#include <bit>
#include <limits>

#include "cuda/search.hpp"
#include "engine/cuda/wave.hpp"

namespace gorgo::engine {
namespace {

using gpu::Want;
using history::EventRef;
using history::Range;

/// Several terminators together may have at most so many candidates or rows.
constexpr std::size_t kMostRows = 1 << 22;
/// A wave may have at most so many candidates: beyond that, depth first needs less memory.
constexpr std::size_t kMostCandidates = 1 << 26;
/// What is asked for ahead, in rows and in pairs of a row and an event, may take half of a round.
constexpr std::size_t kMostRowsAhead = 16;
constexpr std::uint64_t kMostPairsAhead = std::uint64_t{1} << 23;
/// The factor by which the next search for candidates looks further than the last.
constexpr std::uint64_t kGrowth = 8;

bool sums_floats(const Aggregate& aggregate, bool floats) {
  const bool sums =
      aggregate.function == AggregateFunction::sum || aggregate.function == AggregateFunction::avg;
  return sums && floats;
}

}  // namespace

void Wave::advance() {
  requests_.clear();
  next_request_ = 0;
  switch (step_) {
    case Step::choose:
      step_ = Step::verify;
      return request_verification();
    case Step::verify:
      return settle_candidates();
    case Step::aggregate:
      return finish();
    case Step::done:
      return;
  }
}

void Wave::open_state() {
  open_.clear();
  chosen_.assign(terminators(), 0);
  for (std::uint32_t r = 0; r < rows(); ++r) {
    const Range range = window(plan_.states[state_ - 1], window_of(rule().states[state_], row(r)));
    if (range.empty()) continue;
    const std::uint64_t wanted =
        selection() == Selection::each ? kUnknown : rule().states[state_].k;
    open_.push_back({.row = r, .rest = range, .wanted = wanted, .asked = 0});
  }
  request_choices();
  if (!open_.empty()) request_aggregates_ahead();
}

void Wave::request_choices() {
  step_ = Step::choose;
  candidates_.clear();
  inside_.clear();
  for (std::uint32_t i = 0; i < open_.size(); ++i) {
    if (!open_[i].closed) request_choice(i);
  }
}

void Wave::request_choice(std::uint32_t index) {
  Open& open = open_[index];
  const std::uint32_t inside = add_inside(open);
  const bool is_first = open.asked == 0 || inside != kApart;
  const std::uint64_t next = is_first ? open.wanted : open.asked * kGrowth;
  const std::uint64_t limit = std::min(next, open.rest.size());
  Request request{.scan = &plan_.states[state_ - 1],
                  .range = open.rest,
                  .want = from_newest() ? Want::newest : Want::oldest,
                  .limit = static_cast<std::uint32_t>(limit),
                  .subject = index,
                  .inside = inside};
  open.asked = limit;
  if (selection() == Selection::each || limit > kMostSelected) {
    request.want = Want::every;
    open.asked = kUnknown;
  }
  requests_.push_back(request);
}

void Wave::take_offsets(const Request& request, std::span<const std::uint32_t> offsets) {
  switch (step_) {
    case Step::choose:
      return take_candidates(request, offsets);
    case Step::verify:
      candidates_[request.subject].violates |= !offsets.empty();
      return;
    case Step::aggregate:
    case Step::done:
      return;
  }
}

void Wave::take_candidates(const Request& request, std::span<const std::uint32_t> offsets) {
  Open& open = open_[request.subject];
  const auto add = [&](std::uint32_t offset) {
    candidates_.push_back({.open = request.subject,
                           .position = request.range.first + offset,
                           .is_verified = request.inside != kApart});
  };
  if (request.want == Want::every && from_newest()) {
    std::for_each(offsets.rbegin(), offsets.rend(), add);
  } else {
    std::for_each(offsets.begin(), offsets.end(), add);
  }
  open.closed = open.asked == kUnknown || offsets.size() < open.asked || request.inside != kApart;
  if (!open.closed && from_newest()) open.rest.last = request.range.first + offsets.back();
  if (!open.closed && !from_newest()) open.rest.first = request.range.first + offsets.back() + 1;

  too_large_ = too_large_ || (candidates_.size() > kMostRows && terminators() > 1);
  if (candidates_.size() > kMostCandidates) {
    throw gpu::DeviceError("a terminator has too many candidates", false);
  }
}

void Wave::take_nothing(const Request& request) {
  if (!request.is_aggregate()) {
    if (step_ == Step::choose) open_[request.subject].closed = true;
    return;
  }
  const Group& group = groups_[request.subject];
  finish_aggregate(group, aggregation(group).result());
}

/// Candidates stand row by row, in the order of the search.
void Wave::settle_candidates() {
  for (const Candidate& candidate : candidates_) {
    Open& open = open_[candidate.open];
    if (candidate.violates || open.wanted == 0) continue;
    if (open.wanted != kUnknown) --open.wanted;
    accepted_.push_back({open.row, candidate.position});
  }
  bool any_open = false;
  for (Open& open : open_) {
    open.closed = open.closed || open.wanted == 0 || state_ == 0;
    any_open = any_open || !open.closed;
  }
  if (any_open) return request_choices();
  finish_state();
}

void Wave::finish_state() {
  // Rows come in order, and their events in order of time. What was searched from the newest stands
  // the other way round.
  if (!std::ranges::is_sorted(accepted_)) std::ranges::sort(accepted_);
  note_reliances();
  limit_sequences();
  add_rows();
  if (rows() > kMostRows && terminators() > 1) too_large_ = true;
  ++state_;
  if (too_large_) return;
  if (state_ < rule().states.size()) return open_state();
  step_ = Step::aggregate;
  request_aggregates();
}

/// With `each` rows do not rely on each other's events: without an event the rows that have it are
/// gone, and nothing else changes.
void Wave::note_reliances() {
  if (selection() == Selection::each) return;
  const auto& consuming = rule().consuming;
  const auto state = static_cast<std::uint32_t>(state_);
  if (std::ranges::find(consuming, state) == consuming.end()) return;
  for (const Accepted& accepted : accepted_) {
    reliances_.push_back({terminator_of_[accepted.row], state, event_of(accepted.position).slot});
  }
}

void Wave::limit_sequences() {
  if (state_ == 0) return;
  for (const Accepted& accepted : accepted_) {
    const std::uint32_t terminator = terminator_of_[accepted.row];
    if (++chosen_[terminator] > rule().options.max_sequences) overflowed_[terminator] = true;
  }
}

void Wave::add_rows() {
  std::vector<EventRef> rows;
  std::vector<Datum> values;
  std::vector<std::uint32_t> terminator_of;
  const std::size_t aggregates = values_.empty() ? 0 : rule().aggregates.size();
  rows.reserve(accepted_.size() * (width_ + 1));
  terminator_of.reserve(accepted_.size());
  for (const Accepted& accepted : accepted_) {
    const std::uint32_t terminator = terminator_of_[accepted.row];
    if (overflowed_[terminator]) continue;
    const auto before = row(accepted.row);
    rows.insert(rows.end(), before.begin(), before.end());
    rows.push_back(event_of(accepted.position));
    const auto known = values_.begin() + static_cast<std::ptrdiff_t>(accepted.row * aggregates);
    values.insert(values.end(), known, known + static_cast<std::ptrdiff_t>(aggregates));
    terminator_of.push_back(terminator);
  }
  accepted_.clear();
  candidates_.clear();
  rows_ = std::move(rows);
  values_ = std::move(values);
  terminator_of_ = std::move(terminator_of);
  ++width_;
}

/// Asks once for the rows that agree on what an aggregate depends on; those stand together.
void Wave::request_aggregate(std::uint32_t number) {
  const auto slot = [](const EventRef& event) { return event.slot; };
  const Aggregate& aggregate = rule().aggregates[number];
  const std::size_t shared = plan_.plan->aggregates[number].decided_at + 1;
  DeviceScan& scan = plan_.aggregates[number];
  for (std::uint32_t first = 0, last; first < rows(); first = last) {
    const auto prefix = row(first).first(shared);
    for (last = first + 1; last < rows(); ++last) {
      if (!std::ranges::equal(row(last).first(shared), prefix, {}, slot, slot)) break;
    }
    groups_.push_back({.aggregate = number, .first_row = first, .last_row = last});
    requests_.push_back(
        {.scan = &scan,
         .range = window(scan, interval_of(aggregate.span, row(first))),
         .want = sums_floats(aggregate, scan.reduced_floats) ? Want::sum : Want::reduction,
         .limit = 0,
         .subject = static_cast<std::uint32_t>(groups_.size() - 1)});
  }
  is_aggregated_[number] = true;
}

/// Asks for the aggregates that depend only on states that are chosen already.
void Wave::request_aggregates_ahead() {
  groups_.clear();
  if (rows() > kMostRowsAhead) return;
  for (std::uint32_t i = 0; i < rule().aggregates.size(); ++i) {
    if (plan_.plan->aggregates[i].decided_at + 1 > width_ || is_aggregated_[i]) continue;
    const DeviceScan& scan = plan_.aggregates[i];
    if (rows() * (scan.timeline->end() - scan.timeline->begin()) > kMostPairsAhead) continue;
    values_.resize(rows() * rule().aggregates.size());
    request_aggregate(i);
  }
}

void Wave::request_aggregates() {
  groups_.clear();
  values_.resize(rows() * rule().aggregates.size());
  for (std::uint32_t i = 0; i < rule().aggregates.size(); ++i) {
    if (!is_aggregated_[i]) request_aggregate(i);
  }
}

Aggregation Wave::aggregation(const Group& group) const {
  const Aggregate& aggregate = rule().aggregates[group.aggregate];
  const ValueType input =
      aggregate.attribute
          ? plan_.aggregates[group.aggregate].column->store().attribute_type(*aggregate.attribute)
          : ValueType::integer;
  return {aggregate.function, input};
}

void Wave::take_reduction(const Request& request, const gpu::Reduction& reduction) {
  const Group& group = groups_[request.subject];
  const AggregateFunction function = rule().aggregates[group.aggregate].function;
  const bool floats = request.scan->reduced_floats;
  Aggregation values = aggregation(group);
  if (function == AggregateFunction::min || function == AggregateFunction::max) {
    const std::uint64_t extreme = gpu::word_of_key(
        floats, function == AggregateFunction::min ? ~reduction.least : reduction.greatest);
    const double of_none = std::numeric_limits<double>::quiet_NaN();
    const double real = reduction.numbers == 0 ? of_none : std::bit_cast<double>(extreme);
    if (reduction.count > 0) {
      values.add(floats ? Datum::of(real) : Datum::of(static_cast<std::int64_t>(extreme)));
    }
  } else {
    const Int128 high = static_cast<std::int64_t>(reduction.high);
    values.add_all(reduction.count, high * (Int128{1} << 32) + reduction.low);
  }
  finish_aggregate(group, values.result());
}

void Wave::take_sum(const Request& request, const gpu::FloatSum& sum) {
  ExactSum exact;
  if (sum.nans > 0) exact.add(std::numeric_limits<double>::quiet_NaN());
  if (sum.infinities > 0) exact.add(std::numeric_limits<double>::infinity());
  if (sum.negative_infinities > 0) exact.add(-std::numeric_limits<double>::infinity());
  for (std::uint32_t i = 0; i < gpu::FloatSum::kLimbs; ++i) {
    const auto units = static_cast<std::int64_t>(sum.limbs[i]);
    if (units != 0) exact.add_units(units, static_cast<int>(32 * i));
  }
  const Group& group = groups_[request.subject];
  Aggregation values = aggregation(group);
  values.add_all(sum.count, exact);
  finish_aggregate(group, values.result());
}

void Wave::finish_aggregate(const Group& group, const Datum& value) {
  const std::size_t aggregates = rule().aggregates.size();
  for (std::size_t r = group.first_row; r < group.last_row; ++r) {
    values_[r * aggregates + group.aggregate] = value;
  }
}

}  // namespace gorgo::engine
