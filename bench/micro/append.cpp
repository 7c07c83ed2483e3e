// Events that no rule reads on their way through a processor: what every event costs.

#include <benchmark/benchmark.h>

#include <array>

#include "gorgo/processor.hpp"

namespace gorgo::bench {
namespace {

constexpr std::string_view kType = "Temp";
constexpr std::array<std::string_view, 4> kNames = {"area", "value", "att", "sensor"};

Processor make_processor(const ProcessorOptions& options) {
  Processor processor(options);
  const auto declared = processor.declare(std::string(kType), {{"area", ValueType::integer},
                                                               {"value", ValueType::floating},
                                                               {"att", ValueType::integer},
                                                               {"sensor", ValueType::string}});
  if (!declared) throw std::logic_error(declared.error().to_string());
  return processor;
}

/// `append(timestamp, cells)`, and evaluation of so many at a time.
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

/// As a server does.
void append_by_name(benchmark::State& state) {
  Processor processor = make_processor({.max_ahead = 60'000'000'000});
  const EventHeader header = processor.header(kType, kNames);
  run(state, processor, [&](Timestamp timestamp, std::span<const Datum> cells) {
    return processor.append(header, timestamp, cells).has_value();
  });
}
BENCHMARK(append_by_name);

}  // namespace
}  // namespace gorgo::bench
