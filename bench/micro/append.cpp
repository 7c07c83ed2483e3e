// Events that no rule reads on their way through a processor: what every event costs that somebody
// wants, and what it costs where nobody does.

#include <benchmark/benchmark.h>

#include <stdexcept>
#include <string>
#include <vector>

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

/// Appends batches that are there already, as a server does.
void append_batches(benchmark::State& state, bool wanted) {
  Processor processor = make_processor(
      {.max_ahead = 60'000'000'000, .hands_out = [wanted](std::string_view) { return wanted; }});
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
BENCHMARK_CAPTURE(append_batches, wanted, true);
BENCHMARK_CAPTURE(append_batches, unseen, false);

}  // namespace
}  // namespace gorgo::bench
