#include "engine/panes.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <iterator>

#include "base/value_key.hpp"
#include "engine/aggregation.hpp"
#include "history/evaluate.hpp"

namespace gorgo::engine {
namespace {

using history::EventRef;
using history::EventStore;
using history::Slot;

ExactSum& floats_of(Pane& pane) {
  if (pane.floats == nullptr) pane.floats = std::make_unique<ExactSum>();
  return *pane.floats;
}

void add_value(Pane& pane, AggregateFunction function, const Datum& value) {
  if (!value.exists()) return;
  ++pane.count;
  if (function == AggregateFunction::count) return;
  if (!adds_up(function)) {
    pane.extreme = best_of(function, pane.extreme, value);
  } else if (value.tag == Datum::Tag::integer) {
    pane.integers += value.integer;
  } else {
    floats_of(pane).add(value.floating);
  }
}

void add_floats(Pane& pane, std::span<const std::uint64_t> words) {
  std::array<double, 64> values;
  ExactSum& sum = floats_of(pane);
  while (!words.empty()) {
    const auto some = words.first(std::min(words.size(), values.size()));
    std::ranges::transform(some, values.begin(), [](auto w) { return std::bit_cast<double>(w); });
    sum.add(std::span(values).first(some.size()));
    words = words.subspan(some.size());
  }
}

/// Adds events that follow each other, all of which have the attribute.
void add_run(Pane& pane, const Aggregate& aggregate, const EventStore& store, Slot first,
             Slot last) {
  const std::size_t count = last - first;
  if (aggregate.function == AggregateFunction::count) {
    pane.count += count;
    return;
  }
  const ValueType type = store.attribute_type(*aggregate.attribute);
  if (!adds_up(aggregate.function)) {
    for (Slot slot = first; slot < last; ++slot) {
      add_value(pane, aggregate.function, store.attribute(slot, *aggregate.attribute));
    }
    return;
  }
  const std::span words(store.attribute_vector(*aggregate.attribute).words(first), count);
  pane.count += count;
  if (type == ValueType::floating) return add_floats(pane, words);
  for (const std::uint64_t word : words) pane.integers += std::bit_cast<std::int64_t>(word);
}

/// Appends the key of an event. False: it lacks an attribute, so that it equals none.
bool append_key(const plan::Scan& scan, EventRef event, std::string& key) {
  for (const std::uint32_t i : scan.key) {
    const Datum value = event.store->attribute(event.slot, *scan.comparisons[i].attribute());
    if (!value.exists()) return false;
    append_value_key(value, key);
  }
  return true;
}

/// Appends the key that a sequence looks for. False: there is none.
bool append_key(const plan::Scan& scan, const history::Scope& scope, std::string& key) {
  for (const std::uint32_t i : scan.key) {
    const Datum value = history::evaluate(scan.comparisons[i].operand, scope);
    if (!value.exists()) return false;
    append_value_key(value, key);
  }
  return true;
}

void add_pane(const Pane& pane, AggregateFunction function, Aggregation& to) {
  if (function == AggregateFunction::count) {
    to.add_all(pane.count, Int128{0});
  } else if (!adds_up(function)) {
    to.add_all(pane.count, pane.extreme);
  } else if (pane.floats != nullptr) {
    to.add_all(pane.count, *pane.floats, ExactSum());
  } else {
    to.add_all(pane.count, pane.integers);
  }
}

}  // namespace

/// Events come in the order of time mostly, so that many follow each other in one pane.
void Panes::add(const plan::Plan& plan, std::size_t aggregate, const EventStore& store, Slot first,
                std::optional<Timestamp> after) {
  const plan::Scan& scan = plan.aggregates[aggregate].scan;
  const bool together = scan.key.empty() && scan.column.conditions.empty() && !store.is_nullable();
  const Timestamp* const times = store.timestamps(first);
  const std::size_t count = store.end() - first;
  for (std::size_t i = 0, next = 0; i < count; i = next) {
    next = i + 1;
    if (after && times[i] <= *after) continue;
    const std::int64_t number = plan.panes->pane_of(times[i]);
    const Timestamp begin = plan.panes->begin_of(number), end = plan.panes->begin_of(number + 1);
    const auto is_inside = [&](Timestamp time) {
      return time >= begin && time < end && (!after || time > *after);
    };
    while (next < count && is_inside(times[next])) ++next;
    if (number < oldest_) continue;
    if (together) {
      add_run(pane({}, number), plan.rule.aggregates[aggregate], store, first + i, first + next);
    } else {
      add_each(plan, aggregate, store, first + i, first + next, number);
    }
  }
}

void Panes::add_each(const plan::Plan& plan, std::size_t aggregate, const EventStore& store,
                     Slot first, Slot last, std::int64_t number) {
  const plan::Scan& scan = plan.aggregates[aggregate].scan;
  const Aggregate& of_rule = plan.rule.aggregates[aggregate];
  std::string key;
  for (Slot slot = first; slot < last; ++slot) {
    const EventRef event{&store, slot};
    const history::Scope scope{.candidate = event, .states = {}, .aggregates = {}};
    if (!history::all_hold(scan.column.conditions, scope)) continue;
    key.clear();
    if (!append_key(scan, event, key)) continue;
    const Datum value =
        of_rule.attribute ? store.attribute(slot, *of_rule.attribute) : Datum::of(std::int64_t{1});
    if (value.exists()) add_value(pane(key, number), of_rule.function, value);
  }
}

Pane& Panes::pane(const std::string& key, std::int64_t number) {
  OfKey& panes = of_keys_[key];
  auto at = panes.end();
  while (at != panes.begin() && std::prev(at)->number > number) --at;
  if (at != panes.begin() && std::prev(at)->number == number) return *std::prev(at);
  return *panes.insert(at, Pane{.number = number});
}

Datum Panes::value(const plan::Plan& plan, std::size_t aggregate,
                   std::span<const EventRef> sequence, const EventStore& store) const {
  const plan::AggregatePlan& of_plan = plan.aggregates[aggregate];
  const Aggregate& of_rule = plan.rule.aggregates[aggregate];
  Aggregation result(of_rule, store);
  const history::Scope scope{.candidate = {}, .states = sequence, .aggregates = {}};
  std::string key;
  if (!history::all_hold(of_plan.scan.guards, scope) || !append_key(of_plan.scan, scope, key)) {
    return result.result();
  }
  const auto known = of_keys_.find(key);
  if (known == of_keys_.end()) return result.result();
  const std::int64_t end = plan.panes->pane_of(sequence[0].timestamp());
  const OfKey& panes = known->second;
  auto pane = std::ranges::lower_bound(panes, end - of_plan.panes, {}, &Pane::number);
  for (; pane != panes.end() && pane->number < end; ++pane) {
    add_pane(*pane, of_rule.function, result);
  }
  return result.result();
}

void Panes::forget_before(std::int64_t pane) {
  if (pane <= oldest_) return;
  oldest_ = pane;
  for (auto& [key, panes] : of_keys_) {
    panes.erase(panes.begin(), std::ranges::lower_bound(panes, pane, {}, &Pane::number));
  }
  boost::unordered::erase_if(of_keys_, [](const auto& of_key) { return of_key.second.empty(); });
}

std::size_t Panes::bytes() const {
  constexpr std::size_t kPlace = 1 + sizeof(std::string) + sizeof(OfKey);
  std::size_t total = of_keys_.bucket_count() * kPlace;
  for (const auto& [key, panes] : of_keys_) {
    total += key.capacity() + panes.capacity() * sizeof(Pane);
    for (const Pane& pane : panes) total += pane.floats == nullptr ? 0 : sizeof(ExactSum);
  }
  return total;
}

}  // namespace gorgo::engine
