// Batches of the wire protocol: encoding, checking, reading.

#include "protocol/batch_reader.hpp"

#include <benchmark/benchmark.h>

#include "protocol/batch_check.hpp"
#include "protocol/batch_writer.hpp"

namespace gorgo::protocol {
namespace {

void write_rows(BatchWriter& writer, std::int64_t rows) {
  for (std::int64_t i = 0; i < rows; ++i) {
    writer.add("Temp", i * 1'000'000);
    writer.attribute("area", Datum::of("kitchen"));
    writer.attribute("value", Datum::of(46.5));
    writer.attribute("sensor", Datum::of(i));
  }
}

void encode_batch(benchmark::State& state) {
  flatbuffers::FlatBufferBuilder builder;
  for (auto _ : state) {
    builder.Clear();
    BatchWriter writer;
    write_rows(writer, state.range(0));
    builder.Finish(writer.finish(builder));
    benchmark::DoNotOptimize(builder.GetBufferPointer());
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(encode_batch)->Arg(1)->Arg(256);

void read_batch(benchmark::State& state) {
  flatbuffers::FlatBufferBuilder builder;
  BatchWriter writer;
  write_rows(writer, state.range(0));
  builder.Finish(writer.finish(builder));
  const auto& batch = *flatbuffers::GetRoot<wire::Batch>(builder.GetBufferPointer());
  for (auto _ : state) {
    if (!check_batch(batch, builder.GetSize(), 65536)) state.SkipWithError("the batch is refused");
    for (BatchReader reader(batch); reader.next();) benchmark::DoNotOptimize(reader.cells().data());
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(read_batch)->Arg(1)->Arg(256);

}  // namespace
}  // namespace gorgo::protocol
