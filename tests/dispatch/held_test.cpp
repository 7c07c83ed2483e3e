#include <pthread.h>

#include <ctime>
#include <future>
#include <thread>

#include "processor_fixture.hpp"

namespace gorgo {
namespace {

/// Each `B` brings about as many composites as there are pairs of `A`.
constexpr const char* kExploding =
    "event A(n: int); event B(n: int);"
    "rule r: define O(n: int, m: int) from B() and each A() as x within 1 min from B"
    "  and each A() as y within 1 min from B where n = x.n, m = y.n;";

/// What composites take while they are held, under each engine.
class HeldTest : public ::testing::TestWithParam<std::string> {
 protected:
  ProcessorOptions options(std::size_t held, unsigned threads) const {
    return {.engine = GetParam(),
            .max_held_bytes = held,
            .threads = threads,
            .job_terminators = threads > 1 ? std::size_t{2} : std::size_t{0}};
  }

  /// Publishes so many events and processes them all at once. What comes out is told by a checksum
  /// that depends on the order.
  struct Ran {
    std::uint64_t composites = 0;
    std::uint64_t checksum = 0;
    std::size_t peak = 0;
    std::size_t largest = 0;  ///< rows handed out at once
  };
  static Ran run(const ProcessorOptions& options, const std::string& rules, int as, int bs) {
    Processor processor(options);
    EXPECT_FALSE(processor.deploy("r", rules).failed());
    for (int i = 0; i < as; ++i) EXPECT_TRUE(processor.append(counted("A", 1 + i, i)));
    for (int i = 0; i < bs; ++i) EXPECT_TRUE(processor.append(counted("B", 1000 + i, i)));
    Ran ran;
    processor.process([&](const OutputBatch& batch) {
      ran.largest = std::max(ran.largest, batch.rows.size());
      for (const auto& row : batch.rows) {
        std::uint64_t value = row.place.root * 1'000'003 + row.place.ordinal;
        batch.for_each_attribute(row, [&](std::string_view, const Datum& cell) {
          value = value * 31 + static_cast<std::uint64_t>(cell.integer);
        });
        ran.checksum = ran.checksum * 1'000'003 + value;
      }
    });
    ran.composites = processor.counters().composites;
    ran.peak = processor.counters().peak_held_bytes;
    return ran;
  }
};

constexpr std::size_t kUnlimited = std::size_t{1} << 40;
constexpr std::size_t kBound = std::size_t{1} << 20;
constexpr std::size_t kThreads = 4;
/// Bytes that sinks at work may hold without anybody else knowing.
constexpr std::size_t kSlack = kThreads * (kBound / 1024);

TEST_P(HeldTest, AFirstBatchThatExplodesStaysWithinTheBoundAndOneTerminator) {
  const Ran one = run(options(kUnlimited, 1), kExploding, 60, 1);
  const Ran all = run(options(kUnlimited, 1), kExploding, 60, 40);
  ASSERT_GT(all.peak, 4 * (kBound + one.peak));
  for (const unsigned threads : {1U, static_cast<unsigned>(kThreads)}) {
    const Ran bounded = run(options(kBound, threads), kExploding, 60, 40);
    EXPECT_EQ(bounded.composites, 40u * 60u * 60u);
    EXPECT_EQ(bounded.checksum, all.checksum);
    EXPECT_LE(bounded.peak, kBound + one.peak + kSlack) << threads;
  }
}

/// All composites of an event are there before the first is delivered, but not all that rules find.
TEST_P(HeldTest, ManyRulesThatExplodeOnOneEventStayWithinItsLimit) {
  std::string rules = "event A(n: int); event B(n: int);";
  for (int i = 0; i < 30; ++i) {
    const std::string number = std::to_string(i);
    rules += "rule r" + number + ": define O" + number +
             "(n: int, m: int) from B() and each A() as x within 1 min from B"
             "  and each A() as y within 1 min from B where n = x.n, m = y.n;";
  }
  const Ran one = run(options(kUnlimited, 1), kExploding, 60, 1);
  for (const unsigned threads : {1U, static_cast<unsigned>(kThreads)}) {
    ProcessorOptions limited = options(kUnlimited, threads);
    limited.max_composites = 2 * 60 * 60;
    const Ran all = run(limited, rules, 60, 3);
    limited.max_held_bytes = 1;
    const Ran bounded = run(limited, rules, 60, 3);
    EXPECT_EQ(bounded.checksum, all.checksum);
    EXPECT_EQ(bounded.composites, 3 * limited.max_composites);
    EXPECT_LE(bounded.peak, 6 * one.peak) << threads;
    EXPECT_GT(all.peak, 60 * one.peak) << threads;
  }
}

TEST_P(HeldTest, AStepOfACycleStaysWithinTheLimitOfAnEvent) {
  const std::string rules =
      "event A(n: int); event B(n: int);"
      "rule first: define C(n: int) from B() and each A() as x within 1 min from B where n = x.n;"
      "rule again: define C(n: int) from C() as s and each A() as x within 1 min from s"
      "  where n = s.n + x.n;";
  ProcessorOptions limited = options(kUnlimited, 1);
  limited.max_composites = 2'000;
  limited.max_depth = 4;
  const Ran all = run(limited, rules, 60, 3);
  limited.max_held_bytes = kBound / 4;
  const Ran bounded = run(limited, rules, 60, 3);
  EXPECT_EQ(bounded.checksum, all.checksum);
  EXPECT_EQ(bounded.composites, 3 * limited.max_composites);
  EXPECT_LT(5 * bounded.peak, all.peak);
}

/// The rule in the middle finds no room beside the last one, and comes in a wave of its own.
TEST_P(HeldTest, RulesOfOneEventKeepTheirOrderInHoweverManyWaves) {
  const std::string rules =
      "event A(n: int); event B(n: int);"
      "rule none: define N() from B() and last A(n < 0) within 1 min from B;"
      "rule many: define M() from B() and each A() as x within 1 min from B;"
      "rule one: define P() from B();";
  Processor processor(options(std::size_t{16} << 10, 1));
  ASSERT_FALSE(processor.deploy("r", rules).failed());
  for (int i = 0; i < 1000; ++i) ASSERT_TRUE(processor.append(counted("A", 1 + i, i)));
  processor.process([](const OutputBatch&) {});
  ASSERT_TRUE(processor.append(counted("B", 2000, 0)));
  std::vector<std::string> rules_of_rows;
  processor.process([&](const OutputBatch& batch) {
    for (const auto& row : batch.rows) {
      if (row.place.ordinal > 0) rules_of_rows.push_back(batch.rule_names[row.rule]);
    }
  });
  std::vector<std::string> expected(1000, "many");
  expected.push_back("one");
  EXPECT_EQ(rules_of_rows, expected);
}

TEST_P(HeldTest, ManyCompositesOfOneEventAreHandedOutInPieces) {
  const Ran ran = run(options(kUnlimited, 1), kExploding, 300, 1);
  EXPECT_EQ(ran.composites, 300u * 300u);
  EXPECT_LE(ran.largest, 65'536u);
}

INSTANTIATE_TEST_SUITE_P(Engines, HeldTest,
                         ::testing::Values("reference", "column", "column-scan", "automaton",
                                           "cuda-host"),
                         [](const auto& tested) {
                           std::string name = tested.param;
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

/// Nanoseconds of processor time.
std::int64_t time_of(std::thread& thread) {
  clockid_t clock = 0;
  timespec time{};
  pthread_getcpuclockid(thread.native_handle(), &clock);
  clock_gettime(clock, &time);
  return time.tv_sec * 1'000'000'000 + time.tv_nsec;
}

Event texted(const char* type, Timestamp ms, const std::string& text) {
  return {.type = type, .timestamp = ms * kMillisecond, .attributes = {{"t", text}}};
}

/// A terminator that takes minutes, by engine and rule.
class StopTest : public ::testing::TestWithParam<std::tuple<std::string, const char*>> {};

TEST_P(StopTest, EndsTheEvaluationOfATerminator) {
  constexpr int kMany = 100'000;
  const std::string haystack(100, 'n');
  const auto& [engine, rule] = GetParam();
  Processor processor({.engine = engine, .threads = 1});
  const Diagnostics diagnostics = processor.deploy(
      "r", std::string("event A(t: string); event B(n: int); event C(t: string);") + rule);
  ASSERT_FALSE(diagnostics.failed()) << diagnostics.render();
  for (int i = 0; i < kMany; ++i) ASSERT_TRUE(processor.append(texted("C", 2, haystack)));
  for (int i = 0; i < kMany; ++i) ASSERT_TRUE(processor.append(texted("A", 3, "needle")));
  for (int i = 0; i < kMany; ++i) ASSERT_TRUE(processor.append(texted("C", 4, haystack)));
  ASSERT_TRUE(processor.append(texted("C", 4, "a needle")));
  processor.process([](const OutputBatch&) {});
  ASSERT_TRUE(processor.append(counted("B", 5, 0)));

  std::promise<void> began;
  std::thread thread([&] {
    began.set_value();
    processor.process([](const OutputBatch&) {});
  });
  began.get_future().wait();
  const std::int64_t start = time_of(thread);
  while (time_of(thread) - start < 100'000'000) std::this_thread::yield();
  processor.request_stop();
  thread.join();
  EXPECT_EQ(processor.counters().composites, 0u);
  EXPECT_TRUE(processor.is_stopped());
}

constexpr const char* kAggregating =
    "rule r: define O(n: int) from B() and each A(t = $t) as x within 1 min from B"
    "  where n = Count(C(t contains $t) within 1 min from B);";
constexpr const char* kNegatingEach =
    "rule r: define O(t: string) from B() and each A(t = $t) as x within 1 min from B"
    "  and not C(t contains $t) within 1 min from x where t = x.t;";
constexpr const char* kNegatingLast =
    "rule r: define O(t: string) from B() and last A(t = $t) as x within 1 min from B"
    "  and not C(t contains $t) between x and B where t = x.t;";

INSTANTIATE_TEST_SUITE_P(
    Engines, StopTest,
    ::testing::Combine(::testing::Values("reference", "column", "column-scan", "automaton"),
                       ::testing::Values(kAggregating, kNegatingEach, kNegatingLast)));

}  // namespace
}  // namespace gorgo
