// Events into the store of a type.

#include <benchmark/benchmark.h>

#include <array>

#include "history/event_store.hpp"
#include "history/hash_index.hpp"

namespace gorgo::history {
namespace {

EventType type() {
  EventType type;
  type.name = "Temp";
  type.attributes = {
      {"att", ValueType::integer}, {"value", ValueType::floating}, {"area", ValueType::string}};
  return type;
}

/// With as many dropped as come.
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

/// A key among `range(0)`, each of which has some four events.
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
    key.set(index, operands);
    benchmark::DoNotOptimize(index.find(key).window(0, static_cast<Timestamp>(keys)));
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(look_up)->Arg(100)->Arg(50'000);

}  // namespace
}  // namespace gorgo::history
