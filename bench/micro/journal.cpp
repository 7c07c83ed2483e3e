// The journal on the disk of this machine, in the folder that GORGO_BENCH_FOLDER names, or in the
// current one: records without syncs, the sync alone, and producers that wait for their records.

#include "journal/journal.hpp"

#include <benchmark/benchmark.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "journal/committer.hpp"

namespace gorgo::journal {
namespace {

/// A new journal, removed with the object.
class BenchJournal {
 public:
  BenchJournal() : disk_(make_posix_disk()) {
    const char* where = std::getenv("GORGO_BENCH_FOLDER");
    folder_ = std::string(where != nullptr ? where : ".") + "/bench_journal_XXXXXX";
    if (mkdtemp(folder_.data()) == nullptr) std::abort();
    journal_ = std::move(Journal::open(*disk_, folder_).value());
  }
  ~BenchJournal() {
    journal_.reset();
    std::filesystem::remove_all(folder_);
  }

  Journal& journal() { return *journal_; }

  Place append(const std::vector<std::byte>& payload) {
    const std::array<Bytes, 1> parts = {payload};
    return journal_->append(kFirstKind, parts).value();
  }

 private:
  std::unique_ptr<Disk> disk_;
  std::string folder_;
  std::unique_ptr<Journal> journal_;
};

void journal_append(benchmark::State& state) {
  BenchJournal bench;
  const std::vector<std::byte> payload(state.range(0), std::byte{7});
  std::int64_t bytes = 0;
  for (auto _ : state) {
    bench.append(payload);
    bytes += state.range(0);
    if (bytes % (std::int64_t{1} << 30) < state.range(0)) {
      state.PauseTiming();
      bench.journal().trim(bench.journal().end()).value();
      state.ResumeTiming();
    }
  }
  state.SetBytesProcessed(bytes);
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(journal_append)->Arg(100)->Arg(10'000)->Arg(100'000);

void journal_sync(benchmark::State& state) {
  BenchJournal bench;
  const std::vector<std::byte> payload(4000, std::byte{7});
  for (auto _ : state) {
    bench.append(payload);
    bench.journal().sync().value();
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(journal_sync)->UseRealTime()->Unit(benchmark::kMillisecond);

/// Each producer waits for its record before it appends the next one.
void journal_group_commit(benchmark::State& state) {
  BenchJournal bench;
  std::int64_t syncs = 0;
  Committer committer(bench.journal(), [&](const Result<Place>&) { ++syncs; });
  const std::vector<std::byte> payload(10'000, std::byte{7});
  for (auto _ : state) {
    std::vector<std::thread> producers;
    for (std::int64_t i = 0; i < state.range(0); ++i) {
      producers.emplace_back([&] {
        for (int j = 0; j < 50; ++j) committer.wait(bench.append(payload)).value();
      });
    }
    for (auto& producer : producers) producer.join();
  }
  state.SetItemsProcessed(state.iterations() * state.range(0) * 50);
  state.counters["syncs"] =
      benchmark::Counter(static_cast<double>(syncs), benchmark::Counter::kIsRate);
}
BENCHMARK(journal_group_commit)
    ->Arg(1)
    ->Arg(4)
    ->Arg(16)
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);

void journal_checksum(benchmark::State& state) {
  const std::vector<std::byte> bytes(state.range(0), std::byte{7});
  for (auto _ : state) benchmark::DoNotOptimize(crc32c(1, bytes));
  state.SetBytesProcessed(state.iterations() * state.range(0));
}
BENCHMARK(journal_checksum)->Arg(100)->Arg(10'000);

}  // namespace
}  // namespace gorgo::journal
