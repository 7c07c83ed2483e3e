// Events that no rule reads on their way through a processor: what every event costs.

#include <benchmark/benchmark.h>

#include <array>

#include "gorgo/processor.hpp"

namespace gorgo::bench {
namespace {

constexpr std::string_view kType = "Temp";

Processor make_processor(const ProcessorOptions& options) {
  Processor processor(options);
  const auto declared = processor.declare(std::string(kType), {{"area", ValueType::integer},
                                                               {"value", ValueType::floating},
                                                               {"att", ValueType::integer},
                                                               {"sensor", ValueType::string}});
  if (!declared) throw std::logic_error(declared.error().to_string());
  return processor;
}

/// Calls `append(timestamp, cells)` and evaluates `kBatch` events at a time.
template <class Append>
void run(benchmark::State& state, Processor& processor, Append&& append) {
  constexpr Timestamp kBatch = 1024;
  const std::array cells = {Datum::of(std::int64_t{7}), Datum::of(46.5), Datum::of(std::int64_t{0}),
                            Datum::of("kitchen")};
  Timestamp now = 0;
  for (auto _ : state) {
    if (!append(++now, cells)) state.SkipWithError("the event is refused");
    if (now % kBatch != 0) continue;
    processor.process([](const OutputBatch& batch) { benchmark::DoNotOptimize(batch.rows); });
  }
  state.SetItemsProcessed(state.iterations());
}

void append_by_type(benchmark::State& state) {
  Processor processor = make_processor({});
  const TypeId type = processor.schema().find(kType)->id;
  run(state, processor, [&](Timestamp timestamp, std::span<const Datum> cells) {
    return processor.append(type, timestamp, cells).has_value();
  });
}
BENCHMARK(append_by_type);

/// Appends batches that are there already, as a server does.
void append_batches(benchmark::State& state) {
  Processor processor = make_processor({.max_ahead = 60'000'000'000});
  constexpr std::uint32_t kBatch = 1024;
  BatchBuilder collected;
  for (std::uint32_t i = 0; i < kBatch; ++i) {
    collected.add({std::string(kType),
                   0,
                   {{"area", std::int64_t{7}},
                    {"value", 46.5},
                    {"att", std::int64_t{0}},
                    {"sensor", std::string("kitchen")}}});
  }
  std::vector<Timestamp> timestamps(kBatch);
  EventBatch batch = collected.batch();
  batch.tables[0].timestamps = timestamps;
  Timestamp now = 0;
  for (auto _ : state) {
    for (Timestamp& timestamp : timestamps) timestamp = ++now;
    IncomingBatch incoming(batch);
    processor.append(incoming, [&](const BatchCursor&, const Error&) {
      state.SkipWithError("an event is refused");
    });
    processor.process([](const OutputBatch& out) { benchmark::DoNotOptimize(out.rows); });
  }
  state.SetItemsProcessed(state.iterations() * kBatch);
}
BENCHMARK(append_batches);

}  // namespace
}  // namespace gorgo::bench
