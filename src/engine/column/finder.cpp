#include "engine/column/finder.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <map>

#include "engine/aggregation.hpp"
#include "engine/column/block_sum.hpp"

namespace gorgo::engine {
namespace {

/// The attribute whose running sums answer the aggregate, if they can.
std::optional<std::uint32_t> summed_attribute(const Aggregate* aggregate,
                                              const history::EventStore& store) {
  if (aggregate == nullptr || !aggregate->attribute || store.is_nullable()) return std::nullopt;
  if (!adds_up(aggregate->function) ||
      store.attribute_type(*aggregate->attribute) != ValueType::integer) {
    return std::nullopt;
  }
  return aggregate->attribute;
}

/// The attribute whose summaries answer the aggregate, if they can.
std::optional<std::uint32_t> valued_attribute(const Aggregate* aggregate,
                                              const history::EventStore& store) {
  if (aggregate == nullptr || !aggregate->attribute || store.is_nullable()) return std::nullopt;
  const bool floats = store.attribute_type(*aggregate->attribute) == ValueType::floating;
  const bool extremes = aggregate->function == AggregateFunction::min ||
                        aggregate->function == AggregateFunction::max;
  if (!extremes && !(adds_up(aggregate->function) && floats)) return std::nullopt;
  return aggregate->attribute;
}

/// Adds the groups from `first` up to `last`. Precondition: summaries answer the function.
void add_groups(Aggregation& result, AggregateFunction function,
                std::span<const history::Summary> groups, std::uint64_t first, std::uint64_t last) {
  switch (function) {
    case AggregateFunction::min:
      for (const auto& group : groups.subspan(first, last - first)) {
        result.add_all(history::Posting::kGroup, group.least);
      }
      return;
    case AggregateFunction::max:
      for (const auto& group : groups.subspan(first, last - first)) {
        result.add_all(history::Posting::kGroup, group.greatest);
      }
      return;
    case AggregateFunction::sum:
    case AggregateFunction::avg:
      return result.add_all((last - first) * history::Posting::kGroup, groups[last - 1].sum,
                            first == 0 ? ExactSum() : groups[first - 1].sum);
    case AggregateFunction::count:
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
  assert(false && "summaries do not answer the function");
}

/// The attribute whose sum a scan takes by blocks, if it can.
std::optional<std::uint32_t> attribute_by_blocks(const Aggregate* aggregate,
                                                 const history::EventStore& store) {
  if (aggregate == nullptr || !aggregate->attribute || store.is_nullable()) return std::nullopt;
  return adds_up(aggregate->function) ? aggregate->attribute : std::nullopt;
}

/// The attribute by whose values a search may begin: one with a lower and an upper bound, be they
/// stated or implied, or, if matches are looked at one by one, one with a single bound.
std::optional<std::uint32_t> ranged_attribute(const plan::Scan& scan,
                                              const history::EventStore& store, bool one_by_one) {
  std::optional<std::uint32_t> bounded;
  std::map<std::uint32_t, int> sides;  // by attribute: 1 has a lower bound, 2 an upper one
  for (const plan::Comparison& comparison : scan.comparisons) {
    const auto attribute = comparison.attribute();
    const bool lower = comparison.op == Op::greater || comparison.op == Op::greater_equal;
    const bool upper = comparison.op == Op::less || comparison.op == Op::less_equal;
    if (!attribute || (!lower && !upper)) continue;
    const ValueType type = store.attribute_type(*attribute);
    const bool number = type == ValueType::integer || type == ValueType::floating;
    if (!number || comparison.operand.type != type) continue;
    int& known = sides[*attribute];
    known |= lower ? 1 : 2;
    if (known == 3) return attribute;
    if (!bounded) bounded = attribute;
  }
  for (const Expr& condition : scan.residual) {
    if (const auto implied = ImpliedBounds::of(condition)) return implied->attribute();
  }
  return one_by_one ? bounded : std::nullopt;
}

}  // namespace

Finder::Finder(const plan::Scan& scan, history::History& history, bool use_indexes,
               Selectivity worth)
    : Finder(scan, history, use_indexes, worth, nullptr) {}

Finder::Finder(const plan::Scan& scan, history::History& history, bool use_indexes,
               Selectivity worth, const State& state)
    : Finder(scan, history, use_indexes, worth, nullptr) {
  look_among(state.among, state.predicate.type, history);
}

Finder::Finder(const plan::Scan& scan, history::History& history, bool use_indexes,
               const Aggregate& aggregate)
    : Finder(scan, history, use_indexes, Selectivity::all, &aggregate) {
  look_among(aggregate.among, aggregate.predicate.type, history);
}

Finder::Finder(const plan::Scan& scan, history::History& history, bool use_indexes,
               Selectivity worth, const Aggregate* aggregate)
    : column_(history.column(scan.column)),
      store_(column_->store()),
      way_(way_to(scan, *column_, use_indexes, worth, aggregate)) {
  const Prober* const keyed = prober();
  if (keyed == nullptr) return;
  const auto summed = summed_attribute(aggregate, store_);
  const auto valued = valued_attribute(aggregate, store_);
  if (summed) sums_ = keyed->index()->find_sum(*summed);
  if (valued) values_ = keyed->index()->find_values(*valued);
}

void Finder::look_among(std::optional<std::uint64_t> count, TypeId type,
                        history::History& history) {
  if (count) among_ = std::make_unique<NewestEvents>(type, *count, history);
}

/// Begins at the oldest of the newest events: of its instant, those before it do not belong to
/// them.
history::Range Finder::start_among(const Search& search) {
  const auto oldest = among_->oldest(search);
  if (!oldest) return begin(search);
  Search narrowed = search;
  narrowed.interval.after = oldest->timestamp() - 1;
  history::Range range = begin(narrowed);
  std::uint64_t behind = range.last;
  while (range.first < behind) {
    const std::uint64_t middle = range.first + (behind - range.first) / 2;
    const history::EventRef at = event(middle);
    if (at.timestamp() == oldest->timestamp() && at.slot < oldest->slot) {
      range.first = middle + 1;
    } else {
      behind = middle;
    }
  }
  return range;
}

Finder::Way Finder::way_to(const plan::Scan& scan, history::Column& column, bool use_indexes,
                           Selectivity worth, const Aggregate* aggregate) {
  const auto summed = summed_attribute(aggregate, column.store());
  const auto valued = valued_attribute(aggregate, column.store());
  // Without conditions the window is the posting of an empty key, which all events have.
  const bool whole = scan.comparisons.empty() && scan.residual.empty();
  if (!use_indexes || (scan.key.empty() && !(whole && (summed || valued)))) {
    auto timeline = column.timeline(scan.column.attributes);
    if (const auto summed_by_blocks = attribute_by_blocks(aggregate, column.store())) {
      timeline = column.timeline(std::array{*summed_by_blocks});
    }
    if (whole) return WholeWindow(scan, column.store(), std::move(timeline));
    const auto ranged =
        use_indexes ? ranged_attribute(scan, column.store(), aggregate == nullptr) : std::nullopt;
    return std::make_unique<Scanner>(scan, column.store(), std::move(timeline),
                                     ranged ? column.range_index(*ranged) : nullptr, worth);
  }
  std::vector<Expr> subjects;
  for (const std::uint32_t i : scan.key) subjects.push_back(scan.comparisons[i].subject);
  return std::make_unique<Prober>(scan, column.store(),
                                  column.index(std::move(subjects), summed, valued));
}

Datum Finder::aggregate(const Aggregate& aggregate, history::Range range) {
  if (aggregate.newest) range = newest(range, *aggregate.newest);
  const bool first = aggregate.function == AggregateFunction::first;
  if (first || aggregate.function == AggregateFunction::last) return end_of(aggregate, range);
  const std::uint64_t ordered = ordered_end(range);
  if (ordered == range.last) {
    if (const auto value = aggregate_at_once(aggregate, range)) return *value;
  }
  Aggregation result(aggregate, store_);
  if (add_together(aggregate, {range.first, ordered}, result)) range.first = ordered;
  const Datum one = Datum::of(std::int64_t{1});
  ascending(range, [&](std::uint64_t position) {
    result.add(aggregate.attribute ? store_.attribute(event(position).slot, *aggregate.attribute)
                                   : one);
    return true;
  });
  return result.result();
}

/// The end of the range that has so many matching events, or all that there are.
history::Range Finder::newest(history::Range range, std::uint64_t count) {
  if (is_exact() && ordered_end(range) == range.last) {
    return {range.last - std::min<std::uint64_t>(count, range.size()), range.last};
  }
  history::Range found{range.last, range.last};
  descending(range, [&](std::uint64_t position) {
    found.first = position;
    return --count > 0;
  });
  return found;
}

/// The value of the first or last match that has one.
Datum Finder::end_of(const Aggregate& aggregate, history::Range range) {
  Datum found = Datum::none();
  const auto take = [&](std::uint64_t position) {
    found = store_.attribute(event(position).slot, *aggregate.attribute);
    return !found.exists();
  };
  aggregate.function == AggregateFunction::first ? ascending(range, take) : descending(range, take);
  return found;
}

/// Whether the aggregate is the number of matches.
bool Finder::counts_all(const Aggregate& aggregate) const {
  return aggregate.function == AggregateFunction::count &&
         (!aggregate.attribute || !store_.is_nullable());
}

/// What running sums say that the range adds up to, if they are exact.
std::optional<std::int64_t> Finder::sum_of(history::Range range) const {
  if (!sums_ || !prober()->index()->is_exact(*sums_, range.size())) return std::nullopt;
  return static_cast<std::int64_t>(prober()->posting().sum(*sums_, range));
}

std::optional<Datum> Finder::aggregate_at_once(const Aggregate& aggregate,
                                               history::Range range) const {
  if (!is_exact()) return std::nullopt;
  const std::uint64_t count = range.size();
  if (counts_all(aggregate)) return Datum::of(static_cast<std::int64_t>(count));
  const auto sum = sum_of(range);
  if (!sum) return std::nullopt;
  if (aggregate.function == AggregateFunction::sum) return Datum::of(*sum);
  if (count == 0) return Datum::none();
  return Datum::of(static_cast<double>(*sum) / static_cast<double>(count));
}

bool Finder::add_together(const Aggregate& aggregate, history::Range range, Aggregation& to) const {
  if (!is_exact()) return add_blocks(aggregate, range, to);
  if (counts_all(aggregate)) {
    to.add_all(range.size(), Int128{0});
  } else if (const auto sum = sum_of(range)) {
    to.add_all(range.size(), Int128{*sum});
  } else if (values_) {
    add_summaries(aggregate, range, to);
  } else {
    return false;
  }
  return true;
}

/// Looks only at events of groups that are not in the range as a whole.
void Finder::add_summaries(const Aggregate& aggregate, history::Range range,
                           Aggregation& to) const {
  constexpr std::uint64_t kGroup = history::Posting::kGroup;
  const Prober& keyed = *prober();
  const history::HashIndex& index = *keyed.index();
  const auto groups = index.summaries(keyed.posting(), *values_);
  std::array<double, kGroup> floats;
  const auto add_sum = [&](history::Range some) {
    for (; !some.empty(); some.first += kGroup) {
      const history::Range next{some.first, std::min(some.last, some.first + kGroup)};
      to.add_all(index.floats(keyed.posting(), *values_, next, floats));
    }
  };
  const auto add = [&](std::uint64_t first, std::uint64_t last) {
    if (adds_up(aggregate.function)) return add_sum({first, last});
    for (std::uint64_t i = first; i < last; ++i) {
      to.add(index.value(keyed.posting(), *values_, i));
    }
  };
  const std::uint64_t first = (range.first + kGroup - 1) / kGroup;
  const std::uint64_t last = std::min<std::uint64_t>(range.last / kGroup, groups.size());
  if (first >= last) return add(range.first, range.last);
  add(range.first, first * kGroup);
  add(last * kGroup, range.last);
  add_groups(to, aggregate.function, groups, first, last);
}

/// Looks at blocks of events, if matches are added up or counted.
bool Finder::add_blocks(const Aggregate& aggregate, history::Range range, Aggregation& to) const {
  Scanner* const scanning = scanner();
  if (scanning == nullptr || !scanning->is_by_blocks()) return false;
  const auto summed = attribute_by_blocks(&aggregate, store_);
  if (!summed && !counts_all(aggregate)) return false;
  BlockSum sum;
  const bool ints = summed && store_.attribute_type(*summed) == ValueType::integer;
  scanning->each_block(range, [&](std::uint64_t first, std::uint64_t count, const BlockMask& mask) {
    if (!summed) return sum.add_count(mask);
    const std::uint64_t* const values = scanning->timeline()->attribute(*summed).words(first);
    ints ? sum.add_ints(values, count, mask) : sum.add_floats(values, count, mask);
  });
  if (ints) {
    to.add_all(sum.count(), sum.of_ints());
  } else {
    to.add_all(sum.count(), sum.of_floats());
  }
  return true;
}

std::size_t Finder::bytes() const {
  const std::size_t among = among_ ? share_of(among_->timeline()) : 0;
  if (const Prober* const keyed = prober()) return among + share_of(keyed->index());
  if (const auto* const window = std::get_if<WholeWindow>(&way_)) {
    return among + share_of(window->timeline());
  }
  const Scanner& scanner = *std::get<std::unique_ptr<Scanner>>(way_);
  return among + share_of(scanner.timeline()) + (scanner.ranges() ? share_of(scanner.ranges()) : 0);
}

double Finder::upkeep() const {
  const double among = among_ ? among_->timeline()->upkeep().each() : 0;
  if (const Prober* const keyed = prober()) return among + keyed->index()->upkeep().each();
  if (const auto* const window = std::get_if<WholeWindow>(&way_)) {
    return among + window->timeline()->upkeep().each();
  }
  const Scanner& scanner = *std::get<std::unique_ptr<Scanner>>(way_);
  return among + scanner.timeline()->upkeep().each() +
         (scanner.ranges() ? scanner.ranges()->upkeep().each() : 0);
}

}  // namespace gorgo::engine
