// Events into the store of a type.

#include <benchmark/benchmark.h>

#include <array>
#include <vector>

#include "history/event_store.hpp"
#include "history/hash_index.hpp"
#include "history/range_index.hpp"

namespace gorgo::history {
namespace {

EventType type() {
  EventType type;
  type.name = "Temp";
  type.attributes = {
      {"att", ValueType::integer}, {"value", ValueType::floating}, {"area", ValueType::string}};
  return type;
}

/// Appends events and drops as many.
void append_and_drop(benchmark::State& state) {
  constexpr Slot kKept = 10'000;
  const EventType temp = type();
  EventStore store(temp);
  std::array cells = {Datum::of(std::int64_t{0}), Datum::of(46.5), Datum::of("kitchen")};
  for (auto _ : state) {
    cells[0].integer = static_cast<std::int64_t>(store.end());
    const Slot slot = store.append(static_cast<Timestamp>(store.end()), store.end(), cells);
    if (slot % 1024 == 0 && slot > kKept) store.drop_until(store.timestamp(slot - kKept));
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(append_and_drop);

/// Looks up a key among `range(0)`, each of which has some four events.
void look_up(benchmark::State& state) {
  const auto keys = static_cast<std::uint64_t>(state.range(0));
  EventStore store(type());
  BlockPool pool;
  Expr att;
  att.op = Op::attribute;
  HashIndex index({att}, store, pool);
  for (std::uint64_t i = 0; i < 4 * keys; ++i) {
    const std::array cells = {Datum::of(static_cast<std::int64_t>(mix(i) % keys)), Datum::of(0.0),
                              Datum::of("kitchen")};
    const Slot slot = store.append(static_cast<Timestamp>(i), i, cells);
    index.add({&slot, 1});
  }
  HashIndex::Key key;
  std::uint64_t n = 0;
  for (auto _ : state) {
    const std::array operands = {Datum::of(static_cast<std::int64_t>(mix(++n) % keys))};
    key.set(index.layout(), operands);
    benchmark::DoNotOptimize(index.find(key).window(0, static_cast<Timestamp>(keys)));
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(look_up)->Arg(100)->Arg(50'000);

/// The events of a store by a float in [0, 1).
struct ByValue {
  EventType type{.name = "V", .attributes = {{"v", ValueType::floating}}};
  EventStore store{type};
  RangeIndex index{0, store};
  std::uint64_t n = 0;

  double random() { return static_cast<double>(mix(++n) >> 11) * 0x1p-53; }
  void add(std::size_t events) {
    std::vector<Slot> slots;
    for (std::size_t i = 0; i < events; ++i) {
      const Datum value = Datum::of(random());
      slots.push_back(store.append(static_cast<Timestamp>(store.end()), store.end(), {&value, 1}));
    }
    index.add(slots);
  }
  void drop_to(Slot kept) {
    if (store.end() <= kept) return;
    store.drop_until(store.timestamp(store.end() - kept) - 1);
    index.drop_gone();
  }
};

/// Takes in events in batches and drops as many; `range(0)` are kept.
void index_by_value(benchmark::State& state) {
  constexpr std::size_t kBatch = 1024;
  const auto kept = static_cast<Slot>(state.range(0));
  ByValue by_value;
  by_value.add(kept);
  for (auto _ : state) {
    by_value.add(kBatch);
    by_value.drop_to(kept);
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(kBatch));
}
BENCHMARK(index_by_value)->Arg(100'000)->Arg(4'000'000);

/// Searches `range(0)` events for about the ten in a band of values.
void search_by_value(benchmark::State& state) {
  const auto kept = static_cast<Slot>(state.range(0));
  const double width = 10 / static_cast<double>(kept);
  ByValue by_value;
  by_value.add(kept);
  std::vector<Slot> found;
  for (auto _ : state) {
    const double least = by_value.random();
    RangeIndex::Bounds bounds;
    bounds.restrict_to(Op::greater, Datum::of(least));
    bounds.restrict_to(Op::less, Datum::of(least + width));
    found.clear();
    benchmark::DoNotOptimize(by_value.index.find(bounds, 1000, found));
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(search_by_value)->Arg(100'000)->Arg(4'000'000);

}  // namespace
}  // namespace gorgo::history
