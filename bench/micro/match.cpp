// A batch of the base scenario through a processor: what an event costs with nothing to find, and
// with about one match for each state.

#include <benchmark/benchmark.h>

#include <utility>

#include "bench/base.hpp"
#include "bench/measure.hpp"
#include "gorgo/processor.hpp"

namespace gorgo::bench {
namespace {

void process_batches(benchmark::State& state, const std::string& engine, std::int64_t values) {
  const Workload workload = base_workload({.window = 1000, .values = values});
  const auto subject = make_processor_subject(workload, engine);
  if (!subject) return state.SkipWithError("the rules are refused");
  const EventSource next = workload.make_source();
  GeneratedEvents events;
  for (auto _ : state) {
    state.PauseTiming();
    events.clear();
    for (std::size_t i = 0; i < kBatch; ++i) next(events);
    GeneratedBatch batch = events.batch();
    state.ResumeTiming();
    if (!(*subject)->feed(std::move(batch))) state.SkipWithError("an event is refused");
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(kBatch));
}

/// The engines are known when the program starts.
const bool kRegistered = [] {
  for (const auto& engine : engine_names()) {
    benchmark::RegisterBenchmark(("no_match/" + engine).c_str(), process_batches, engine,
                                 1'000'000'000);
    benchmark::RegisterBenchmark(("match/" + engine).c_str(), process_batches, engine, 300);
  }
  return true;
}();

}  // namespace
}  // namespace gorgo::bench
