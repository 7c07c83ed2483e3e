// Events on their way through a processor: what every event costs that somebody wants, what it
// costs where nobody does, and what a round with one event costs that a rule reads.

#include <benchmark/benchmark.h>

#include <array>
#include <random>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "gorgo/processor.hpp"

namespace gorgo::bench {
namespace {

constexpr std::string_view kType = "Temp";

constexpr const char* kSequence = R"(
event A(key: int, value: int);
event B(key: int, value: int);
event C(key: int, value: int);
rule sequence: define Found(key: int, total: int)
  from C(key = $k) and each B(key = $k) within 4 s from C and last A(key = $k) within 4 s from B
  and $total = Sum(A(key = $k).value within 4 s from B)
  where key = $k, total = $total;
)";

Processor make_processor(const ProcessorOptions& options) {
  Processor processor(options);
  const auto declared = processor.declare(std::string(kType), {{"area", ValueType::integer},
                                                               {"value", ValueType::floating},
                                                               {"att", ValueType::integer},
                                                               {"sensor", ValueType::string}});
  if (!declared) throw std::logic_error(declared.error().to_string());
  return processor;
}

struct Publications {
  std::string_view type = kType;  // another one is declared by nobody
  bool has_wholes = false;        // every second value is an int, as in JSON
  bool is_wanted = true;
};

/// Appends batches that are there already, as a server does.
void append_batches(benchmark::State& state, const Publications& what) {
  Processor processor =
      make_processor({.max_ahead = 60'000'000'000,
                      .hands_out = [&what](std::string_view) { return what.is_wanted; }});
  constexpr std::uint32_t kBatch = 1024;
  BatchBuilder collected;
  for (std::uint32_t i = 0; i < kBatch; ++i) {
    const bool is_whole = what.has_wholes && i % 2 == 0;
    collected.add({std::string(what.type),
                   0,
                   {{"area", std::int64_t{7}},
                    {"value", is_whole ? Value(std::int64_t{46}) : Value(46.5)},
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
BENCHMARK_CAPTURE(append_batches, wanted, {});
BENCHMARK_CAPTURE(append_batches, with_ints_for_floats, {.has_wholes = true});
BENCHMARK_CAPTURE(append_batches, undeclared, {.type = "Undeclared"});
BENCHMARK_CAPTURE(append_batches, undeclared_with_ints_and_floats,
                  {.type = "Undeclared", .has_wholes = true});
BENCHMARK_CAPTURE(append_batches, unseen, {.is_wanted = false});

/// Events of so many types in turns, whose timestamps the processor gives.
void append_types_in_turns(benchmark::State& state, bool wanted) {
  Processor processor({.hands_out = [wanted](std::string_view) { return wanted; }});
  constexpr std::uint32_t kBatch = 1024;
  const auto types = static_cast<std::uint32_t>(state.range(0));
  for (std::uint32_t i = 0; i < types; ++i) {
    const auto declared = processor.declare(
        "T" + std::to_string(i), {{"area", ValueType::integer}, {"value", ValueType::floating}});
    if (!declared) throw std::logic_error(declared.error().to_string());
  }
  BatchBuilder collected;
  for (std::uint32_t i = 0; i < kBatch; ++i) {
    collected.add({"T" + std::to_string(i % types),
                   std::nullopt,
                   {{"area", std::int64_t{7}}, {"value", 46.5}}});
  }
  const EventBatch batch = collected.batch();
  for (auto _ : state) {
    IncomingBatch incoming(batch);
    processor.append(incoming, [&](const BatchCursor&, const Error& why) {
      state.SkipWithError(why.message.c_str());
    });
    processor.process([](const OutputBatch& out) { benchmark::DoNotOptimize(out.rows); });
  }
  state.SetItemsProcessed(state.iterations() * kBatch);
}
BENCHMARK_CAPTURE(append_types_in_turns, wanted, true)->Arg(4)->Arg(512);
BENCHMARK_CAPTURE(append_types_in_turns, unseen, false)->Arg(4);

/// Events for `kSequence`, of its types by chance, in batches of this size.
class Sequences {
 public:
  explicit Sequences(std::size_t size) : collected_(4096 / size) {
    constexpr std::array<const char*, 3> kTypes = {"A", "B", "C"};
    std::minstd_rand random;
    for (BatchBuilder& some : collected_) {
      for (std::size_t i = 0; i < size; ++i) {
        const auto key = static_cast<std::int64_t>(random() % 1000);
        some.add({kTypes[random() % 3], std::nullopt, {{"key", key}, {"value", std::int64_t{1}}}});
      }
      batches_.push_back(some.batch());
    }
  }
  const EventBatch& next() { return batches_[next_++ % batches_.size()]; }

 private:
  std::vector<BatchBuilder> collected_;
  std::vector<EventBatch> batches_;
  std::size_t next_ = 0;
};

/// A sequence of three events with one key, as in the base scenario, an event each millisecond. A
/// batch of one event says what a round costs, and a large one what events cost that take turns.
void append_sequences(benchmark::State& state) {
  const auto size = static_cast<std::size_t>(state.range(0));
  Timestamp now = 0;
  Processor processor({.threads = 1,
                       .clock = [&] { return now; },
                       .hands_out = [](std::string_view) { return false; }});
  const auto deployed = processor.deploy("base", kSequence);
  if (deployed.failed()) throw std::logic_error(deployed.render());
  Sequences sequences(size);
  for (auto _ : state) {
    now += static_cast<Timestamp>(size) * 1'000'000;
    IncomingBatch incoming(sequences.next());
    processor.append(incoming, [&](const BatchCursor&, const Error& why) {
      state.SkipWithError(why.message.c_str());
    });
    processor.process([](const OutputBatch& out) { benchmark::DoNotOptimize(out.rows); });
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(append_sequences)->Arg(1)->Arg(1024);

constexpr const char* kFire = R"(
event Temp(area: string, value: float);
event Smoke(area: string);
rule fire: define Fire(area: string, mean: float)
  from Smoke(area = $a) and last Temp(area = $a, value > 49.9) within 5 min from Smoke
  and $mean = Avg(Temp(area = $a).value within 5 min from Smoke)
  where area = $a, mean = $mean;
)";

/// Batches of publishers that send at the same time: each is in order, and all but the first of a
/// round begin before the end of the one before, like the messages of several gateways of a
/// cluster.
class Publishers {
 public:
  static constexpr std::uint32_t kBatch = 2048;

  explicit Publishers(std::uint32_t publishers) : publishers_(publishers) {
    std::minstd_rand random;
    for (Sent& sent : sent_) {
      for (std::uint32_t i = 0; i < kBatch; ++i) sent.collected.add(event(random));
      sent.batch = sent.collected.batch();
      for (EventTable& table : sent.batch.tables) {
        table.timestamps = sent.timestamps.emplace_back(table.events);
      }
    }
  }
  /// The next batch, where an event comes each microsecond.
  const EventBatch& next() {
    Sent& sent = sent_[number_ % sent_.size()];
    Timestamp at = Timestamp{number_ / publishers_} * publishers_ * kBatch + number_ % publishers_;
    ++number_;
    std::vector<std::uint32_t> rows(sent.batch.tables.size());
    for (const std::uint32_t table : sent.batch.order) {
      sent.timestamps[table][rows[table]++] = at * 1000;
      at += publishers_;
    }
    return sent.batch;
  }

 private:
  struct Sent {
    BatchBuilder collected;
    EventBatch batch;
    std::vector<std::vector<Timestamp>> timestamps;  // by table
  };

  const std::uint32_t publishers_;
  std::vector<Sent> sent_ = std::vector<Sent>(64);
  std::uint32_t number_ = 0;

  static Event event(std::minstd_rand& random) {
    const std::string area = "area" + std::to_string(random() % 16);
    if (random() % 100 == 0) return {"Smoke", 0, {{"area", area}}};
    return {"Temp", 0, {{"area", area}, {"value", static_cast<double>(random() % 4000) / 100}}};
  }
};

/// What an event costs a partition of a cluster that has so many gateways.
void append_of_publishers(benchmark::State& state) {
  Processor processor({.threads = 1,
                       .clock = [] { return Timestamp{0}; },
                       .hands_out = [](std::string_view) { return false; }});
  const auto deployed = processor.deploy("fire", kFire);
  if (deployed.failed()) throw std::logic_error(deployed.render());
  Publishers publishers(static_cast<std::uint32_t>(state.range(0)));
  for (auto _ : state) {
    IncomingBatch incoming(publishers.next());
    processor.append(incoming, [&](const BatchCursor&, const Error& why) {
      state.SkipWithError(why.message.c_str());
    });
    processor.process([](const OutputBatch& out) { benchmark::DoNotOptimize(out.rows); });
  }
  state.SetItemsProcessed(state.iterations() * Publishers::kBatch);
}
BENCHMARK(append_of_publishers)->Arg(1)->Arg(2)->Arg(4);

}  // namespace
}  // namespace gorgo::bench
