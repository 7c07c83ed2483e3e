// Event lines: reading and writing.

#include <benchmark/benchmark.h>

#include "codec/event_line.hpp"

namespace gorgo::codec {
namespace {

constexpr std::string_view kLine =
    R"({"type":"Temp","ts":1767323045123,"attrs":{"area":"kitchen","value":46.5,"sensor":17}})";

void read_line(benchmark::State& state) {
  Event event;
  for (auto _ : state) {
    if (!read_event_line(kLine, event)) state.SkipWithError("the line is refused");
    benchmark::DoNotOptimize(event);
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(read_line);

void write_line(benchmark::State& state) {
  const Event event = *read_event_line(kLine);
  std::string out;
  for (auto _ : state) {
    out.clear();
    append_event_line(out, event);
    benchmark::DoNotOptimize(out);
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(write_line);

}  // namespace
}  // namespace gorgo::codec
