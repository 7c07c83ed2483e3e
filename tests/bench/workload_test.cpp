#include "bench/workload.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <utility>
#include <vector>

#include "bench/heavy.hpp"
#include "bench/measure.hpp"
#include "bench/random.hpp"
#include "gorgo/processor.hpp"

namespace gorgo::bench {
namespace {

/// Every sweep, at every value of the quick grid.
class EverySweep : public testing::TestWithParam<const Sweep*> {
 protected:
  const Sweep& sweep() const { return *GetParam(); }
};

bool same(const Datum& a, const Datum& b) {
  if (a.tag != b.tag) return false;
  return a.tag == Datum::Tag::string ? a.text() == b.text() : a.integer == b.integer;
}

void expect_same(const GeneratedBatch& a, const GeneratedBatch& b) {
  ASSERT_EQ(a.events.events(), b.events.events());
  ASSERT_EQ(a.types, b.types);
  std::vector<Datum> cells, others;
  BatchCursor other(b.events);
  for (BatchCursor at(a.events); !at.done(); at.advance(), other.advance()) {
    EXPECT_EQ(at.table_number(), other.table_number());
    EXPECT_EQ(at.timestamp(), other.timestamp());
    at.read(cells);
    other.read(others);
    ASSERT_TRUE(std::ranges::equal(cells, others, same));
  }
}

TEST_P(EverySweep, GivesTheSameEventsAgain) {
  const Workload workload = sweep().at(sweep().quick.front(), true);
  GeneratedEvents first, second;
  const EventSource source = workload.make_source(), again = workload.make_source();
  for (int i = 0; i < 2000; ++i) source(first);
  for (int i = 0; i < 2000; ++i) again(second);
  expect_same(first.batch(), second.batch());
}

TEST_P(EverySweep, GivesTheSameCompositesUnderEveryEngine) {
  auto engines = engine_names();
  engines.emplace_back(kHandwritten);
  Limits limits = limits_of("quick");
  limits.seconds = limits.baseline_seconds = 1e9;  // as many events on a slow machine
  for (const double x : sweep().quick) {
    const auto cell = measure(
        sweep(), x, engines, limits, [](const auto&, int) {}, [] { return true; });
    ASSERT_TRUE(cell) << cell.error().to_string();
    EXPECT_EQ(cell->mismatch, "") << "x = " << x;
    ASSERT_GE(cell->engines.size(), 2u);
    for (const EngineResult& result : cell->engines) {
      ASSERT_EQ(result.runs.size(), 1u) << result.engine;
      EXPECT_EQ(result.runs[0].events, limits.events) << result.engine;
      EXPECT_GT(result.runs[0].after.back().composites, 0u) << result.engine << ", x = " << x;
    }
  }
}

/// The rules of rules/ over generated events.
class EveryApplication : public testing::TestWithParam<const Sweep*> {};

TEST_P(EveryApplication, GivesEachRuleSomethingToFind) {
  const Workload workload = GetParam()->at(GetParam()->quick.front(), true);
  const auto subject = make_processor_subject(workload, std::string(kAutomatic));
  ASSERT_TRUE(subject) << subject.error().to_string();
  ASSERT_TRUE((*subject)->filled());
  const EventSource next = workload.make_source();
  GeneratedEvents events;
  for (int i = 0; i < 20'000; ++i) next(events);
  ASSERT_TRUE((*subject)->feed(events.batch()));
  for (const RuleInfo& rule : (*subject)->rules()) EXPECT_GT(rule.composites, 0u) << rule.name;
}

/// Uses batches and keys of which there are enough for threads to share.
TEST_P(EveryApplication, GivesTheSameCompositesHoweverManyThreadsThereAre) {
  const auto many = std::ranges::find_if(GetParam()->full, [](double x) { return x >= 1000; });
  ASSERT_NE(many, GetParam()->full.end());
  std::vector<Tally> tallies;
  for (const unsigned threads : {1U, 4U}) {
    Workload workload = GetParam()->at(*many, true);
    workload.threads = threads;
    const auto subject = make_processor_subject(workload, "column");
    ASSERT_TRUE(subject) << subject.error().to_string();
    const EventSource next = workload.make_source();
    for (int i = 0; i < 12; ++i) {
      if (i == 4) {
        ASSERT_TRUE((*subject)->filled());
      }
      GeneratedEvents events;
      while (events.size() < 4096) next(events);
      ASSERT_TRUE((*subject)->feed(events.batch()));
    }
    tallies.push_back((*subject)->tally());
  }
  EXPECT_GT(tallies[0].composites, 0u);
  EXPECT_EQ(tallies[0], tallies[1]);
}

TEST(GeneratedEvents, LeavesOutTypesWhenAsked) {
  GeneratedEvents events;
  events.leave_out({false, true});
  const auto add = [&](std::uint32_t type, Timestamp timestamp) {
    events.add(type, timestamp, {Datum::of(timestamp), events.text("x")});
  };
  for (Timestamp i = 0; i < 6; ++i) add(static_cast<std::uint32_t>(i % 3), i);
  events.leave_out({});
  add(1, 6);
  const GeneratedBatch batch = events.batch();
  EXPECT_EQ(batch.types, (std::vector<std::uint32_t>{0, 2, 1}));
  std::vector<std::pair<std::uint32_t, std::int64_t>> seen;
  for (BatchCursor at(batch.events); !at.done(); at.advance()) {
    EXPECT_EQ(at.timestamp(), at.value(at.table().columns[0]).integer);
    seen.emplace_back(batch.types[at.table_number()], *at.timestamp());
  }
  EXPECT_EQ(seen, (decltype(seen){{0, 0}, {2, 2}, {0, 3}, {2, 5}, {1, 6}}));
}

TEST(Halfspace, LimitHasTheProbability) {
  Random random(7);
  constexpr double kProbability = 0.01;
  const double limit = halfspace_limit(kProbability);
  int below = 0;
  constexpr int kPairs = 200'000;
  for (int i = 0; i < kPairs; ++i) {
    double product = 0;
    for (int j = 0; j < 3; ++j) product += random.unit() * random.unit();
    below += product < limit ? 1 : 0;
  }
  EXPECT_NEAR(below, kProbability * kPairs, 200);  // 4.5 standard deviations
}

std::string name_of(const testing::TestParamInfo<const Sweep*>& info) {
  std::string name = info.param->id;
  std::ranges::replace_if(
      name, [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
  return name;
}

std::vector<const Sweep*> all_sweeps() {
  std::vector<const Sweep*> all;
  for (const Sweep& sweep : sweeps()) {
    if (!sweep.quick.empty()) all.push_back(&sweep);
  }
  return all;
}

std::vector<const Sweep*> applications() {
  std::vector<const Sweep*> applications;
  for (const Sweep& sweep : sweeps()) {
    if (sweep.id.ends_with("/sorted") || sweep.id.ends_with("/disordered")) {
      applications.push_back(&sweep);
    }
  }
  return applications;
}

INSTANTIATE_TEST_SUITE_P(Bench, EveryApplication, testing::ValuesIn(applications()), name_of);
INSTANTIATE_TEST_SUITE_P(Bench, EverySweep, testing::ValuesIn(all_sweeps()), name_of);

}  // namespace
}  // namespace gorgo::bench
