#include "bench/measure.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>

namespace gorgo::bench {
namespace {

using testing::HasSubstr;

TEST(Spread, IsTheMedianAndTheRange) {
  const Spread odd = spread_of({3, 1, 20});
  EXPECT_EQ(odd.median, 3);
  EXPECT_EQ(odd.min, 1);
  EXPECT_EQ(odd.max, 20);
  EXPECT_EQ(spread_of({4, 1, 2, 9}).median, 3);
  EXPECT_EQ(spread_of({}).median, 0);
}

Run with_latencies(std::vector<double> seconds) {
  Run run;
  run.latencies = std::move(seconds);
  return run;
}

TEST(Latency, IsWhatMostBatchesOfAllRunsStayWithin) {
  EXPECT_FALSE(latency_of({with_latencies({})}));
  std::vector<double> most;
  for (int i = 99; i > 0; --i) most.push_back(i * 1e-6);
  const auto latency = latency_of({with_latencies(most), with_latencies({1})});
  ASSERT_TRUE(latency);
  EXPECT_NEAR(latency->p50, 50'000, 1);
  EXPECT_NEAR(latency->p99, 99'000, 1);
  EXPECT_EQ(latency->batches, 100);
  EXPECT_NEAR(latency_of({with_latencies({2e-6})})->p99, 2'000, 1);
}

Run run_of(std::vector<Tally> after) {
  Run run;
  run.after = std::move(after);
  return run;
}

TEST(Disagreement, ComparesTheBatchesThatBothMeasured) {
  EXPECT_FALSE(disagreement({}));
  EXPECT_FALSE(
      disagreement({{"a", {run_of({{1, 7}, {3, 9}})}, ""}, {"b", {run_of({{1, 7}})}, ""}}));
}

TEST(Disagreement, FindsAnotherChecksumOfAsManyComposites) {
  const auto what =
      disagreement({{"a", {run_of({{1, 7}, {3, 9}})}, ""}, {"b", {run_of({{1, 7}, {3, 10}})}, ""}});
  ASSERT_TRUE(what);
  EXPECT_THAT(*what, HasSubstr("after 2048 events"));
  EXPECT_THAT(*what, HasSubstr("a 3 composites, checksum 0000000000000009"));
  EXPECT_THAT(*what, HasSubstr("b 3 composites, checksum 000000000000000a"));
}

TEST(Disagreement, FindsAnotherCount) {
  EXPECT_TRUE(disagreement({{"a", {run_of({{1, 7}})}, ""}, {"b", {run_of({{2, 7}})}, ""}}));
}

TEST(Disagreement, ComparesTheRepetitionsOfOneEngine) {
  EXPECT_TRUE(disagreement({{"a", {run_of({{1, 7}}), run_of({{1, 8}})}, ""}}));
}

TEST(Disagreement, ComparesWithWhatIsLongerThanTheFirst) {
  EXPECT_TRUE(disagreement({{"a", {run_of({{1, 7}})}, ""},
                            {"b", {run_of({{1, 7}, {2, 8}})}, ""},
                            {"c", {run_of({{1, 7}, {2, 9}})}, ""}}));
}

/// A subject that is wrong about one composite, from the `wrong`th event on.
class Counting : public Subject {
 public:
  explicit Counting(std::uint64_t wrong) : wrong_(wrong) {}
  Result<void> feed(GeneratedBatch batch) override {
    for (BatchCursor at(std::move(batch.events)); !at.done(); at.advance()) {
      CompositeHash hash(hash_of("Seen"), *at.timestamp());
      hash.add(Datum::of(++events_ == wrong_ ? std::int64_t{1} : std::int64_t{0}));
      tally_.add(hash);
    }
    return {};
  }
  Result<void> filled() override { return {}; }
  Tally tally() const override { return tally_; }
  Memory memory() const override { return {}; }

 private:
  std::uint64_t wrong_, events_ = 0;
  Tally tally_;
};

Sweep counting_sweep(std::uint64_t wrong) {
  return {.id = "counting", .at = [wrong](double, bool) {
            Workload workload;
            workload.rules = "event E(v: int);\ndefine Seen(v: int) from E() where v = E.v;\n";
            workload.types = {"E"};
            workload.make_source = [] {
              return [tick = Timestamp{0}](GeneratedEvents& batch) mutable {
                batch.add(0, ++tick, {Datum::of(std::int64_t{0})});
              };
            };
            workload.fill = 100;
            workload.handwritten = [wrong] { return std::make_unique<Counting>(wrong); };
            return workload;
          }};
}

CellResult measured(const Sweep& sweep, const Limits& limits) {
  auto cell = measure(
      sweep, 1, {"column-scan", kHandwritten}, limits, [](const auto&, int) {},
      [] { return true; });
  EXPECT_TRUE(cell) << cell.error().to_string();
  return std::move(*cell);
}

TEST(Measure, CountsAndComparesWhatComesBehindTheFilling) {
  const Sweep sweep = counting_sweep(0);
  const CellResult cell = measured(sweep, {.events = 3000, .repetitions = 2});
  EXPECT_EQ(cell.mismatch, "");
  ASSERT_EQ(cell.engines.size(), 2u);
  for (const EngineResult& result : cell.engines) {
    ASSERT_EQ(result.runs.size(), 2u);
    EXPECT_EQ(result.runs[0].events, 3000u);
    ASSERT_EQ(result.runs[0].after.size(), 3u);
    EXPECT_EQ(result.runs[0].after[0].composites, 1024u);
    EXPECT_EQ(result.runs[0].after[2].composites, 3000u);
    EXPECT_GT(result.runs[0].seconds, 0);
  }
}

TEST(Measure, SaysThatAnEngineDeclinesARule) {
  const Sweep sweep = counting_sweep(0);
  const auto cell = measure(
      sweep, 1, {"cuda-host", "column"}, {.events = 3000, .repetitions = 1},
      [](const auto&, int) {}, [] { return true; });
  ASSERT_TRUE(cell) << cell.error().to_string();
  const Declines declines = declines_of(cell->engines[0].runs);
  EXPECT_EQ(declines.terminators, 3000u);
  ASSERT_EQ(declines.all.size(), 1u);
  EXPECT_EQ(declines.all[0].terminators, 3000u);
  EXPECT_EQ(declines.all[0].by, "column");
  EXPECT_EQ(declines.all[0].because, "it has nothing to search");
  EXPECT_TRUE(declines_of(cell->engines[1].runs).all.empty());
}

TEST(Declined, IsWhatWasLeftToTheScansBetweenTwoLooks) {
  RuleInfo before, after;
  before.declined = 10;
  after.declined = 25;
  after.declined_because = "no room";
  const auto all = declined_between({{before, before}}, {{after, after}}, "cuda");
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].terminators, 30u);
  EXPECT_EQ(all[0].by, "column-scan");
  EXPECT_EQ(all[0].because, "no room");
  EXPECT_TRUE(declined_between({{after}}, {{after}}, "cuda").empty());
}

TEST(Measure, OneWrongValueIsAMismatch) {
  const Sweep sweep = counting_sweep(2000);
  const CellResult cell = measured(sweep, {.events = 3000, .repetitions = 1});
  EXPECT_THAT(cell.mismatch, HasSubstr("after 2048 events"));
}

TEST(Measure, SkipsABaselineThatWouldTakeTooLong) {
  const Sweep sweep = counting_sweep(0);
  const CellResult cell =
      measured(sweep, {.events = 1'000'000'000, .seconds = 0.01, .baseline_seconds = 1});
  EXPECT_THAT(cell.engines[0].skipped, HasSubstr("predicted"));
  EXPECT_TRUE(cell.engines[0].runs.empty());
  EXPECT_FALSE(cell.engines[1].runs.empty());
}

TEST(Measure, StopsWhenItIsToldTo) {
  const Sweep sweep = counting_sweep(0);
  int left = 3;
  const auto cell = measure(
      sweep, 1, {"column-scan"}, {}, [](const auto&, int) {}, [&left] { return --left > 0; });
  ASSERT_TRUE(cell);
  EXPECT_TRUE(cell->engines[0].runs.empty());
}

TEST(Measure, ReportsARefusedRule) {
  Sweep sweep = counting_sweep(0);
  sweep.at = [](double, bool) { return Workload{.rules = "define X() from"}; };
  const auto cell = measure(
      sweep, 1, {"column-scan"}, {}, [](const auto&, int) {}, [] { return true; });
  ASSERT_FALSE(cell);
  EXPECT_THAT(cell.error().message, HasSubstr("counting, column-scan: bench:1:"));
}

}  // namespace
}  // namespace gorgo::bench
