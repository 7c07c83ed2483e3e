// Events into the store of a type.

#include <benchmark/benchmark.h>

#include <array>

#include "history/event_store.hpp"

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
    if (slot % 1024 == 0 && slot > kKept) store.drop_before(slot - kKept);
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(append_and_drop);

}  // namespace
}  // namespace gorgo::history
