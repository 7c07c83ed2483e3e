// What an event costs that many clients have subscribed to with filters of their own, of which it
// matches about a half, whatever their number.

#include <benchmark/benchmark.h>

#include <random>

#include "server/subscriptions/subscriptions.hpp"

namespace gorgo::server {
namespace {

constexpr std::uint32_t kRows = 1000;

/// Undeclared events whose attribute `a` is below 100, and whose `b` is 0 or 1.
struct Events {
  Schema schema;
  std::vector<std::shared_ptr<const Extras>> extras = {
      std::make_shared<const Extras>(Extras{"T", {"a", "b"}})};
  OutputBatch batch;

  Events() {
    batch.schema = &schema;
    batch.extras = extras;
    std::mt19937 random(1);
    for (std::uint32_t i = 0; i < kRows; ++i) {
      batch.cells.push_back(Datum::of(static_cast<std::int64_t>(random() % 100)));
      batch.cells.push_back(Datum::of(static_cast<std::int64_t>(random() % 2)));
      batch.rows.push_back({{i + 1, 0}, i, kNoType, 2 * i, 0, OutputBatch::kPrimitive});
    }
  }
};

void read_all(std::span<const std::shared_ptr<Outbox>> clients) {
  for (const auto& client : clients) {
    while (!client->take().empty()) client->written();
  }
}

/// range(0): subscriptions; range(1): of a client.
void deliver(benchmark::State& state) {
  const Events events;
  const Limits limits;
  ClientTotals totals{.memory = {limits.memory_bytes, [] {}}};
  Subscriptions subscriptions(limits, totals.memory, [](const Outbox&, std::size_t) {});
  std::vector<std::shared_ptr<Outbox>> clients;
  for (std::int64_t i = 0; i < state.range(0); ++i) {
    if (i % state.range(1) == 0) {
      clients.push_back(std::make_shared<Outbox>(clients.size() + 1, "client", limits, totals,
                                                 std::function<void()>([] {})));
    }
    const std::string text = "T(a = " + std::to_string(i) + ", b > 0)";
    subscriptions.add(clients.back(), static_cast<std::uint32_t>(i), text, {}, events.schema);
  }
  subscriptions.deliver(events.batch);  // puts clients with the same subscriptions together
  read_all(clients);
  std::uint64_t rows = 0;
  for (auto _ : state) {
    rows += subscriptions.deliver(events.batch);
    state.PauseTiming();
    read_all(clients);
    state.ResumeTiming();
  }
  state.SetItemsProcessed(state.iterations() * kRows);
  state.counters["rows_per_event"] =
      static_cast<double>(rows) / static_cast<double>(state.iterations() * kRows);
}
BENCHMARK(deliver)->ArgsProduct({{100, 1000, 10'000, 100'000}, {1, 100}});

/// What a busy type costs the engine thread that so many clients subscribe to.
/// range(0): clients.
void fan_out(benchmark::State& state) {
  const Events events;
  const Limits limits;
  ClientTotals totals{.memory = {limits.memory_bytes, [] {}}};
  Subscriptions subscriptions(limits, totals.memory, [](const Outbox&, std::size_t) {});
  std::vector<std::shared_ptr<Outbox>> clients;
  for (std::int64_t i = 0; i < state.range(0); ++i) {
    clients.push_back(
        std::make_shared<Outbox>(i + 1, "client", limits, totals, std::function<void()>([] {})));
    subscriptions.add(clients.back(), 1, "T", {}, events.schema);
  }
  std::int64_t most = 0;
  for (auto _ : state) {
    subscriptions.deliver(events.batch);
    state.PauseTiming();
    most = std::max(most, totals.memory.used());
    read_all(clients);
    state.ResumeTiming();
  }
  state.SetItemsProcessed(state.iterations() * kRows);
  state.counters["bytes"] = static_cast<double>(most);
}
BENCHMARK(fan_out)->Arg(1)->Arg(10)->Arg(200);

}  // namespace
}  // namespace gorgo::server
