// Batches of the wire protocol: encoding, checking, reading.

#include "protocol/batch.hpp"

#include <benchmark/benchmark.h>

#include "protocol/batch_check.hpp"

namespace gorgo::protocol {
namespace {

void collect(BatchBuilder& batch, std::int64_t rows) {
  for (std::int64_t i = 0; i < rows; ++i) {
    batch.add("Temp", i * 1'000'000);
    batch.attribute("area", Datum::of("kitchen"));
    batch.attribute("value", Datum::of(46.5));
    batch.attribute("sensor", Datum::of(i));
  }
}

void encode_batch(benchmark::State& state) {
  flatbuffers::FlatBufferBuilder builder;
  for (auto _ : state) {
    builder.Clear();
    BatchBuilder collected;
    collect(collected, state.range(0));
    builder.Finish(pack(builder, collected.batch()));
    benchmark::DoNotOptimize(builder.GetBufferPointer());
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(encode_batch)->Arg(1)->Arg(256);

void read_batch(benchmark::State& state) {
  flatbuffers::FlatBufferBuilder builder;
  BatchBuilder collected;
  collect(collected, state.range(0));
  builder.Finish(pack(builder, collected.batch()));
  const auto& batch = *flatbuffers::GetRoot<wire::Batch>(builder.GetBufferPointer());
  std::vector<Datum> cells;
  for (auto _ : state) {
    if (!check_batch(batch, builder.GetSize(), 65536)) state.SkipWithError("the batch is refused");
    for (BatchCursor event(view_of(batch)); !event.done(); event.advance()) {
      event.read(cells);
      benchmark::DoNotOptimize(cells.data());
    }
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(read_batch)->Arg(1)->Arg(256);

}  // namespace
}  // namespace gorgo::protocol
