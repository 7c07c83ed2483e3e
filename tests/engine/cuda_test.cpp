#include "engine/cuda/cuda.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>
#include <memory>
#include <new>
#include <random>

#include "engine/automaton/automaton.hpp"
#include "engine/cuda/options.hpp"
#include "engine/reference/reference.hpp"
#include "evaluation_of.hpp"
#include "failing_device.hpp"
#include "language/language.hpp"

namespace gorgo::engine {
namespace {

using Batches = std::vector<std::vector<TestEvent>>;

/// Rules that read every kind of search: selections, lists, reductions, programs, negations.
std::string rules(std::int64_t window) {
  const std::string within = " within " + std::to_string(window) + " from ";
  return kTypes +
         std::string("rule last: define L(k: int, v: float) from A(k = $k) and last B(k = $k)") +
         within + "A where k = A.k, v = B.v;\n" +
         "rule each: define E(k: int, v: float) from A(k = $k, s = $s) and each B(s = $s, k != "
         "$k)" +
         within + "A where k = B.k, v = B.v;\n" +
         "rule chain: define H(v: float, w: float, n: int) from A() and 70-last B(v * v < A.v + "
         "0.5)" +
         within + "A and first C(k = B.k or s = A.s)" + within +
         "B and not C(v > B.v) between B and C where v = B.v, w = C.v, n = Count(C(k < A.k)" +
         within + "B);\n" +
         "rule sums: define S(a: float, b: int, c: float) from A(k = $k) and $a = Sum(B(k = $k).v" +
         within + "A) where a = $a, b = Sum(B(v > 0.3).k" + within + "A), c = Max(B(k >= $k).v" +
         within + "A);\n";
}

/// `size` events of mixed types, then some that terminate, again and again.
Batches random_stream(std::size_t size, std::size_t batches) {
  std::mt19937 random(static_cast<unsigned>(size));
  const auto below = [&](int n) { return static_cast<std::int64_t>(random() % n); };
  Batches all;
  Timestamp now = 0;
  for (std::size_t b = 0; b < batches; ++b) {
    auto& batch = all.emplace_back();
    for (std::size_t i = 0; i < size + 3; ++i) {
      now += 1'000'000;
      const char* type = i >= size ? "A" : below(2) == 0 ? "B" : "C";
      batch.push_back({.type = type,
                       .timestamp = now,
                       .k = below(5),
                       .v = static_cast<double>(below(100)) / 64,
                       .s = std::string(1, static_cast<char>('a' + below(3)))});
    }
  }
  return all;
}

struct Emulated {
  explicit Emulated(std::uint64_t bytes = 1 << 20, std::uint32_t page_shift = 5,
                    std::uint64_t failure_period = 0, bool final_failure = false,
                    std::size_t devices = 1,
                    const CudaEngine::Tuning& tuning = {.least_terminators = 3})
      : engine(
            "emulated",
            [=] {
              CudaEngine::Devices opened;
              while (opened.size() < devices) {
                // Only the first of several devices fails.
                const std::uint64_t period = opened.empty() ? failure_period : 0;
                opened.push_back(std::make_unique<FailingDevice>(
                    gpu::DeviceOptions{.bytes = bytes, .page_shift = page_shift},
                    every_round(period, final_failure ? Fault::final_error : Fault::error)));
              }
              return opened;
            },
            [] { return std::vector<std::string>(); }, tuning) {}

  CudaEngine engine;
  DeviceContext& context(std::size_t device = 0) const { return *engine.contexts().at(device); }
};

std::vector<std::string> expected(const std::string& rules, const Batches& batches) {
  return evaluation_of(ReferenceEngine(), rules, batches);
}

class Boundaries : public testing::TestWithParam<std::size_t> {};

TEST_P(Boundaries, OfWarpsBlocksAndPagesDoNotMatter) {
  const Batches batches = random_stream(GetParam(), 4);
  const std::string text = rules(static_cast<std::int64_t>(2 * GetParam() + 8));
  const auto wanted = expected(text, batches);
  Emulated emulated;
  EXPECT_EQ(evaluation_of(emulated.engine, text, batches), wanted);
  if (GetParam() >= 31) {
    EXPECT_FALSE(wanted.empty());
    EXPECT_GT(emulated.context().device().counters().rounds, 4u);
  }
  EXPECT_EQ(emulated.context().last_failure().count, 0u);
}

INSTANTIATE_TEST_SUITE_P(Sizes, Boundaries,
                         testing::Values(0, 1, 31, 32, 33, 63, 64, 65, 255, 257));

/// Rounds that it takes to evaluate the batches, together.
std::uint64_t rounds_for(const std::string& text, const Batches& batches) {
  Emulated emulated(1 << 20, 5, 0, false, 1, {.least_terminators = 1000});
  const auto lines = evaluation_of(emulated.engine, text, batches);
  EXPECT_FALSE(lines.empty());
  EXPECT_EQ(lines, expected(text, batches));
  return emulated.context().device().counters().rounds;
}

TEST(CudaEngine, SearchesForManyRulesAtOnce) {
  const auto rounds_with = [](int rules) {
    std::string text = kTypes;
    for (int i = 0; i < rules; ++i) {
      text += "define O" + std::to_string(i) + "(v: float) from A(k = $k) and each B(k = $k, v > " +
              std::to_string(i) + ".0 / 64.0) within 1000 from A where v = B.v;\n";
    }
    Batches batches = random_stream(100, 4);
    for (auto& batch : batches) {
      std::erase_if(batch, [](const TestEvent& e) { return std::string(e.type) == "C"; });
    }
    return rounds_for(text, batches);
  };
  const auto alone = rounds_with(1);
  EXPECT_GT(alone, 0u);
  EXPECT_EQ(rounds_with(30), alone);
}

/// A batch of terminators, each with an aggregate that depends on the state before the last.
TEST(CudaEngine, AsksForAggregatesOfFewSequencesWithTheNextChoice) {
  const std::string text =
      std::string(kTypes) +
      "define O(v: float) from A(k = $k) and last B(k = $k) within 1000 from A and last C(k = $k)"
      " within 1000 from B and $s = Sum(C(k = $k).v within 1000 from B) where v = $s;";
  for (const int terminators : {1, 100}) {
    Batches batches(2);
    Timestamp time = 0;
    const auto add = [&](std::size_t batch, const char* type, int events) {
      for (int i = 0; i < events; ++i) {
        batches[batch].push_back(
            {.type = type, .timestamp = ++time, .k = i % terminators, .v = 0.5 * i, .s = "x"});
      }
    };
    add(0, "C", 3 * terminators);
    add(0, "B", terminators);
    add(1, "A", terminators);
    EXPECT_EQ(rounds_for(text, batches), terminators == 1 ? 2u : 3u);
  }
}

TEST(CudaEngine, SearchesNothingWhereTheWindowSaysWhatIsFound) {
  const std::string text =
      std::string(kTypes) +
      "define O(k: int, v: float, n: int) from A() and last B() within 40 from A "
      "and 3-first C() within 40 from B where k = B.k, v = C.v, n = Count(B() "
      "within 30 from A);";
  const Batches batches = random_stream(100, 4);
  Emulated emulated;
  const auto lines = evaluation_of(emulated.engine, text, batches);
  EXPECT_GT(lines.size(), 4u);
  EXPECT_EQ(lines, expected(text, batches));
  EXPECT_EQ(emulated.context().device().counters().searches, 0u);
}

TEST(CudaEngine, SwapsPagesWhenMemoryIsShortAndLosesNothing) {
  const Batches batches = random_stream(200, 6);
  const std::string text = rules(800);
  const auto wanted = expected(text, batches);
  for (const std::size_t pages : {100, 80, 60, 40}) {
    Emulated emulated(pages * 32 * 8);
    EXPECT_EQ(evaluation_of(emulated.engine, text, batches), wanted) << pages;
    EXPECT_GT(emulated.context().pages().counters().swapped_in, 0u) << pages;
    EXPECT_EQ(emulated.context().last_failure().count, 0u) << pages;
  }
}

/// Two rules share a column of which a page holds several windows. What the second one reads, and
/// the first does not, has not been uploaded when it leaves the window.
TEST(CudaEngine, FindsWhatARuleReadsSeldom) {
  const std::string often =
      "define O(v: float) from A(k = $k) and each B(k = $k) within 100 from A where v = B.v;\n";
  for (const char* seldom :
       {"define P(v: float) from C(s = $s) and each B(s = $s) within 100 from C where v = B.v;",
        "define P(v: float) from C(v = $v) and last B(v < $v) within 100 from C where v = B.v;",
        "define P(v: float) from C(k = $k) and last B(k = $k) within 100 from C where v = B.v "
        "consuming B;"}) {
    Batches batches;
    std::mt19937 random(5);
    Timestamp now = 0;
    for (int batch = 0; batch < 90; ++batch) {
      auto& events = batches.emplace_back();
      for (int i = 0; i < 40; ++i) {
        const bool is_last = i >= 36;
        events.push_back({.type = !is_last         ? "B"
                                  : batch % 30 < 2 ? "C"
                                                   : "A",
                          .timestamp = now += 1'000'000,
                          .k = static_cast<std::int64_t>(random() % 4),
                          .v = static_cast<double>(random() % 100) / 64,
                          .s = std::string(1, static_cast<char>('a' + random() % 3))});
      }
    }
    const std::string text = kTypes + often + seldom;
    Emulated emulated(1 << 22, 12);
    EXPECT_EQ(evaluation_of(emulated.engine, text, batches), expected(text, batches)) << seldom;
    EXPECT_GT(emulated.context().device().counters().rounds, 50u);
    EXPECT_EQ(emulated.context().last_failure().count, 0u);
  }
}

/// Rules that each search a column of their own, of four full pages: the events of B0, of B1, ...,
/// in order.
struct Columns {
  std::string rules;
  Batches filling;

  /// Every `consuming`-th rule consumes the event that it finds; 0: none does.
  explicit Columns(int count, int consuming = 0)
      : rules("event A(k: int, v: float, s: string);\n") {
    auto& batch = filling.emplace_back();
    for (int i = 0; i < count; ++i) {
      const std::string type = "B" + std::to_string(i);
      rules += "event " + type + "(k: int, v: float, s: string);\ndefine O" + std::to_string(i) +
               "(k: int) from A(v = $v) and last " + type +
               "(v > $v) within 100000 from A where k = " + type + ".k" +
               (consuming > 0 && i % consuming == 0 ? " consuming " + type : "") + ";\n";
      for (int event = 0; event < 4 * 32; ++event) {
        batch.push_back({.type = type, .timestamp = ++now, .k = event, .v = 1, .s = ""});
      }
    }
  }

  Batches with_terminators(std::size_t batches) {
    Batches all = filling;
    while (all.size() < batches + 1) {
      all.push_back({{.type = "A", .timestamp = ++now, .k = 0, .v = 0.5, .s = ""}});
    }
    return all;
  }

  Timestamp now = 0;
};

TEST(CudaEngine, SwapsAsLittleAsCanBe) {
  constexpr std::uint64_t kNeed = 16, kBudget = 8, kBatches = 10;
  Columns columns(4);
  const Batches batches = columns.with_terminators(kBatches);
  Emulated emulated(kBudget * 32 * 8);
  const auto got = evaluation_of(emulated.engine, columns.rules, batches);
  EXPECT_EQ(got, expected(columns.rules, batches));
  EXPECT_EQ(got.size(), 4 * kBatches);
  const PageCounters& counters = emulated.context().pages().counters();
  // Every batch looks at all pages, and what it finds in memory is as much as can be there. Going
  // round, the least recently used page would always be the next one.
  EXPECT_EQ(counters.swapped_in, (kNeed - kBudget) * (kBatches - 1));
  EXPECT_EQ(counters.swapped_out, (kNeed - kBudget) * kBatches);
  EXPECT_EQ(counters.uploaded, kNeed);
  EXPECT_EQ(counters.hits, kBudget * (kBatches - 1));
  EXPECT_EQ(emulated.context().last_failure().count, 0u);
}

TEST(CudaEngine, HasPagesComeWhileTheDeviceSearchesForTheStepBefore) {
  using Call = FailingDevice::Call;
  struct Calls {
    int under_way = 0, most = 0, fetches = 0, early = 0;
  } calls;
  const auto note = [&calls](Call call, std::uint64_t) {
    if (call == Call::start) ++calls.under_way;
    if (call == Call::finish) --calls.under_way;
    if (call == Call::fetch) ++calls.fetches;
    if (call == Call::fetch && calls.under_way > 0) ++calls.early;
    calls.most = std::max(calls.most, calls.under_way);
    return Fault::none;
  };
  const CudaEngine engine(
      "emulated",
      [&note] {
        CudaEngine::Devices devices;
        devices.push_back(std::make_unique<FailingDevice>(
            gpu::DeviceOptions{.bytes = 16 * 32 * 8, .page_shift = 5}, note));
        return devices;
      },
      [] { return std::vector<std::string>(); }, {.least_terminators = 3});
  constexpr int kBatches = 5;
  Columns columns(10);
  const Batches batches = columns.with_terminators(kBatches);
  EXPECT_EQ(evaluation_of(engine, columns.rules, batches), expected(columns.rules, batches));
  EXPECT_GE(calls.fetches, kBatches);
  // The first step of a batch looks at pages that have stayed.
  EXPECT_EQ(calls.early, calls.fetches);
  EXPECT_EQ(calls.most, 2);
}

TEST(CudaEngine, SwapsForRulesThatConsumeBesideOthers) {
  for (const int consuming : {1, 2, 3}) {
    Columns columns(6, consuming);
    const Batches batches = columns.with_terminators(8);
    Emulated emulated(12 * 32 * 8);
    const auto got = evaluation_of(emulated.engine, columns.rules, batches);
    EXPECT_EQ(got, expected(columns.rules, batches)) << consuming;
    EXPECT_EQ(got.size(), 6u * 8u);
    EXPECT_GT(emulated.context().pages().counters().swapped_in, 0u);
    EXPECT_GT(emulated.context().pages().counters().prefetched, 0u);
    EXPECT_EQ(emulated.context().last_failure().count, 0u);
  }
}

TEST(CudaEngine, BringsAnUnfinishedPageBackWithoutWritingItAnew) {
  constexpr std::uint64_t kColumns = 6, kBatches = 10, kRest = 20;
  Columns columns(kColumns);
  for (std::uint64_t i = 0; i < kColumns * kRest; ++i) {
    columns.filling[0].push_back({.type = "B" + std::to_string(i % kColumns),
                                  .timestamp = ++columns.now,
                                  .k = 1,
                                  .v = 0.6,
                                  .s = ""});
  }
  Batches batches = columns.with_terminators(kBatches);
  for (std::size_t i = 1; i < batches.size(); ++i) {
    TestEvent fresh = batches[i].front();
    for (std::uint64_t rule = 0; rule < kColumns; ++rule) {
      fresh.type = "B" + std::to_string(rule);
      fresh.k = static_cast<std::int64_t>(i);
      fresh.v = 1;
      --fresh.timestamp;
      batches[i].insert(batches[i].begin(), fresh);
    }
  }
  Timestamp now = 0;
  for (auto& batch : batches) {
    for (TestEvent& event : batch) event.timestamp = ++now;
  }
  Emulated emulated(12 * 32 * 8);
  EXPECT_EQ(evaluation_of(emulated.engine, columns.rules, batches),
            expected(columns.rules, batches));
  EXPECT_GT(emulated.context().pages().counters().swapped_in, kColumns * (kBatches - 2));
  // An event is written when its page comes for the first time, or stays.
  const std::uint64_t events = kColumns * (4 * 32 + kRest + kBatches);
  EXPECT_LE(emulated.context().device().counters().uploaded, events * 8);
}

TEST(CudaEngine, LooksForPagesThatCanGoAtMostTwiceForAStep) {
  constexpr std::uint64_t kRuleCount = 24, kBudget = 40, kBatches = 10;
  Columns columns(kRuleCount);
  // A fifth page of each column, which is not full and comes with the round that needs it.
  for (std::uint64_t i = 0; i < kRuleCount; ++i) {
    columns.filling[0].push_back(
        {.type = "B" + std::to_string(i), .timestamp = ++columns.now, .k = 1, .v = 0, .s = ""});
  }
  const Batches batches = columns.with_terminators(kBatches);
  Emulated emulated(kBudget * 32 * 8);
  const auto got = evaluation_of(emulated.engine, columns.rules, batches);
  EXPECT_EQ(got, expected(columns.rules, batches));
  const PageCounters& counters = emulated.context().pages().counters();
  const std::uint64_t steps = emulated.context().pages().step();
  EXPECT_GT(counters.swapped_in, (kRuleCount - 8) * 4 * (kBatches - 1));
  EXPECT_GE(steps, kBatches * kRuleCount / 2);
  EXPECT_LE(counters.victim_searches, 2 * steps);
  EXPECT_EQ(emulated.context().last_failure().count, 0u);
}

TEST(CudaEngine, NeedsThePagesWithinWindowsOnly) {
  Columns columns(1);
  const std::size_t at = columns.rules.find("100000");
  columns.rules.replace(at, 6, "40");  // milliseconds: they reach back over two pages
  Batches batches = columns.filling;
  for (auto& event : batches[0]) event.timestamp *= 1'000'000;
  batches.push_back({{.type = "A", .timestamp = 129'000'000, .k = 0, .v = 0.5, .s = ""}});
  Emulated emulated;
  EXPECT_EQ(evaluation_of(emulated.engine, columns.rules, batches).size(), 1u);
  EXPECT_EQ(emulated.context().pages().counters().uploaded, 2u);
}

TEST(CudaEngine, LeavesRulesThatDoNotFitToTheCpu) {
  const Batches batches = random_stream(200, 3);
  const std::string text = rules(800);
  Emulated emulated(3 * 32 * 8);
  EXPECT_EQ(evaluation_of(emulated.engine, text, batches), expected(text, batches));
  EXPECT_EQ(emulated.context().last_failure().count, 0u);
  EXPECT_EQ(emulated.context().pages().counters().swapped_out, 0u);
}

TEST(CudaEngine, EvaluatesOnTheCpuWhatTheDeviceFailsOn) {
  const Batches batches = random_stream(100, 8);
  const std::string text = rules(300);
  const auto wanted = expected(text, batches);
  for (const std::uint64_t period : {1, 2, 3, 7}) {
    Emulated emulated(1 << 20, 5, period);
    EXPECT_EQ(evaluation_of(emulated.engine, text, batches), wanted);
    EXPECT_GT(emulated.context().last_failure().count, 0u);
    EXPECT_EQ(emulated.context().failure(), "the device failed: a failure that was asked for");
    const DeviceInfo device = emulated.engine.devices().at(0);
    EXPECT_EQ(device.failures, emulated.engine.failures());
    EXPECT_EQ(device.failure, "a failure that was asked for");
    EXPECT_THAT(device.failed_on, testing::MatchesRegex("[0-9]+ terminators of '.*'.*"));
    EXPECT_EQ(device.problem, "");
  }
}

TEST(CudaEngine, GoesOnWithTheDevicesThatAreLeft) {
  const Batches batches = random_stream(100, 8);
  const std::string text = rules(300);
  Emulated emulated(1 << 20, 5, 5, true, 2);
  ASSERT_EQ(emulated.engine.contexts().size(), 2u);
  const DeviceContext& broken = emulated.context();
  EXPECT_EQ(evaluation_of(emulated.engine, text, batches), expected(text, batches));
  EXPECT_FALSE(broken.problem().empty());
  ASSERT_EQ(emulated.engine.contexts().size(), 1u);
  EXPECT_EQ(emulated.context().last_failure().count, 0u);
  EXPECT_GT(emulated.context().device().counters().rounds, 20u);
}

TEST(CudaEngine, LeavesADeviceThatFailedForGood) {
  const Batches batches = random_stream(100, 8);
  const std::string text = rules(300);
  Emulated emulated(1 << 20, 5, 5, true);
  EXPECT_EQ(evaluation_of(emulated.engine, text, batches), expected(text, batches));
  EXPECT_TRUE(emulated.engine.contexts().empty());
  EXPECT_EQ(emulated.engine.devices().at(0).problem, "a failure that was asked for");
  // Rules that come later are evaluated all the same.
  EXPECT_EQ(evaluation_of(emulated.engine, text, batches), expected(text, batches));
}

TEST(CudaEngine, SaysWhichDevicesItDoesWithout) {
  const auto open = []() -> CudaEngine::Opened {
    CudaEngine::Devices devices;
    devices.push_back(std::make_unique<gpu::HostDevice>(
        gpu::DeviceOptions{.bytes = 1 << 20, .page_shift = 5}, 1));
    return {std::move(devices), {{0, "no memory"}}};
  };
  const CudaEngine engine("emulated", open, [] { return std::vector<std::string>(); }, {});
  EXPECT_EQ(engine.failures(), 0u);
  const Batches batches = random_stream(100, 2);
  EXPECT_EQ(evaluation_of(engine, rules(300), batches), expected(rules(300), batches));
  // A change of it is what the server looks at before it logs.
  EXPECT_EQ(engine.failures(), 1u);
  const auto devices = engine.devices();
  ASSERT_EQ(devices.size(), 2u);
  EXPECT_EQ(devices[0].number, 0u);
  EXPECT_EQ(devices[0].problem, "no memory");
  EXPECT_EQ(devices[1].number, 1u);
  EXPECT_EQ(devices[1].problem, "");
}

TEST(CudaEngine, IsReadyWhenWhatItBeganHasSettled) {
  std::promise<void> go;
  const CudaEngine engine(
      "emulated",
      [opened = go.get_future().share()] {
        opened.wait();
        CudaEngine::Devices devices;
        devices.push_back(std::make_unique<gpu::HostDevice>(
            gpu::DeviceOptions{.bytes = 1 << 20, .page_shift = 5}));
        return devices;
      },
      [] { return std::vector<std::string>(); }, {});
  engine.settle();  // nothing was begun
  EXPECT_FALSE(engine.is_ready());
  go.set_value();
  engine.settle();
  EXPECT_TRUE(engine.is_ready());
}

/// ThreadSanitizer sees here whether the opening thread writes what is gone.
TEST(CudaEngine, OutlivesTheThreadThatOpensItsDevices) {
  std::promise<void> began;
  bool is_opened = false;
  {
    const CudaEngine engine(
        "emulated",
        [&]() -> CudaEngine::Opened {
          began.set_value();
          is_opened = true;
          throw gpu::DeviceError("no memory", true);
        },
        [] { return std::vector<std::string>(); }, {});
    EXPECT_FALSE(engine.is_ready());
    began.get_future().wait();
  }
  EXPECT_TRUE(is_opened);
}

TEST(CudaEngine, IsUnavailableWhereTheHostHasNoMemoryToOpenADevice) {
  const CudaEngine engine(
      "emulated", []() -> CudaEngine::Opened { throw std::bad_alloc(); },
      [] { return std::vector<std::string>(); }, {});
  EXPECT_FALSE(engine.is_ready());
  engine.settle();
  EXPECT_TRUE(engine.is_ready());
  EXPECT_TRUE(engine.contexts().empty());
  ASSERT_EQ(engine.devices().size(), 1u);
  EXPECT_EQ(engine.devices()[0].problem, "no memory of the host");
}

TEST(CudaEngine, HasNoDevicesAndNoFailureOnAMachineWithoutAny) {
  const auto open = [] {
    CudaEngine::Opened none{{}};
    none.why_none = "this machine has no GPU";
    return none;
  };
  const CudaEngine engine("emulated", open, [] { return std::vector<std::string>(); }, {});
  const Batches batches = random_stream(100, 2);
  EXPECT_EQ(evaluation_of(engine, rules(300), batches), expected(rules(300), batches));
  EXPECT_TRUE(engine.contexts().empty());
  EXPECT_TRUE(engine.devices().empty());
  EXPECT_EQ(engine.failures(), 0u);
}

TEST(CudaEngine, SpreadsWhatIsNotSmallOverThreads) {
  const std::string text = rules(900);
  const Batches batches = random_stream(100, 6);
  for (const bool small : {false, true}) {
    Emulated emulated(1 << 20, 5, 0, false, 1, {.least_terminators = small ? 1000U : 3U});
    EXPECT_EQ(evaluation_of(emulated.engine, text, batches), expected(text, batches));
    gpu::Device& device = emulated.context().device();
    ASSERT_GT(device.channels(), kThreads);
    for (std::uint32_t i = 0; i <= kThreads; ++i) {
      EXPECT_EQ(device.channel(i).counters().rounds > 0, small == (i == 0)) << i << small;
    }
  }
}

TEST(CudaEngine, TakesTurnsWhereARoundOfAllWouldBeLong) {
  const std::string text =
      std::string(kTypes) +
      "define E(k: int) from A() and each B() within 900 from A where k = B.k;";
  Batches batches = random_stream(100, 1);
  std::erase_if(batches[0], [](const TestEvent& event) { return std::string(event.type) == "C"; });
  batches[0].resize(batches[0].size() + 21, TestEvent(batches[0].back()));
  for (const bool long_rounds : {false, true}) {
    const std::uint64_t least_pairs = long_rounds ? 0 : 100;
    Emulated emulated(1 << 20, 5, 0, false, 1,
                      {.least_pairs = least_pairs, .least_terminators = 3});
    EXPECT_EQ(evaluation_of(emulated.engine, text, batches), expected(text, batches));
    gpu::Device& device = emulated.context().device();
    for (std::uint32_t i = 1; i <= kThreads; ++i) {
      EXPECT_EQ(device.channel(i).counters().rounds, long_rounds ? 2U : 1U) << i;
    }
  }
}

TEST(CudaEngine, SpreadsRulesAndTerminatorsOverDevices) {
  const Batches batches = random_stream(300, 6);
  for (const bool heavy : {false, true}) {
    const std::string text =
        heavy ? kTypes + std::string(
                             "define E(k: int, v: float) from A(k = $k) and each B(k != $k) within "
                             "900 from A where k = B.k, v = B.v;"
                             "define F(k: int) from A(k = 1) and last C() within 3 from A "
                             "where k = C.k;")
              : rules(900);
    Emulated emulated(1 << 20, 5, 0, false, 3);
    EXPECT_EQ(evaluation_of(emulated.engine, text, batches), expected(text, batches)) << heavy;
    for (std::size_t i = 0; i < 3; ++i) {
      EXPECT_GT(emulated.context(i).device().counters().searches, 5u) << heavy << i;
    }
  }
}

std::string reason(const Engine& engine, const std::string& rule) {
  language::BoundFile bound = language::compile({"test.tesla", kTypes + rule}, Schema());
  EXPECT_EQ(bound.rules.size(), 1u) << bound.diagnostics.render();
  return engine.reason_to_decline(plan::make_plan(std::move(bound.rules[0])));
}

TEST(CudaEngine, SaysWhatItLeavesToTheCpu) {
  const Emulated emulated;
  const auto of = [&](const std::string& rule) { return reason(emulated.engine, rule); };
  EXPECT_EQ(of("define O(k: int) from A() and each B(s = A.s) within 5 from A where k = B.k;"), "");
  EXPECT_EQ(of("define O(k: int) from A() and each B(s < A.s) within 5 from A where k = B.k;"), "");
  EXPECT_EQ(
      of("define O(k: int) from A() and not B(s contains A.s) within 5 from A and "
         "each C(not (A.s >= s)) within 5 from A where k = Max(B(s > C.s).k between C and A);"),
      "");
  EXPECT_EQ(of("define O(k: int) from A() and last B() within 5 from A where k = B.k consuming B;"),
            "");
  EXPECT_EQ(of("define O(k: int) from A(k > 1) where k = A.k;"), "it has nothing to search");
  const std::string of_all = " within 3 of all events in 5 s from A";
  EXPECT_EQ(of("define O(k: int) from A() and each B()" + of_all + " where k = B.k;"),
            "B: it counts the events of its window");
  EXPECT_EQ(of("define O(k: int) from A() where k = Count(B()" + of_all + ");"),
            "an aggregate counts the events of its window");
  const CudaEngine none(
      "none", []() -> CudaEngine::Devices { throw gpu::DeviceError("no luck", true); },
      [] { return std::vector<std::string>(); }, {});
  EXPECT_EQ(reason(none, "define O(k: int) from A() and each B() within 5 from A where k = B.k;"),
            "there is no GPU to use: no luck");
}

TEST(AutomatonEngine, SaysWhatItLeavesToTheColumnEngine) {
  const AutomatonEngine engine;
  const std::string window = " 5 s from A where k = B.k;";
  EXPECT_EQ(reason(engine, "define O(k: int) from A() and each B() within" + window), "");
  EXPECT_EQ(
      reason(engine, "define O(k: int) from A() and each B() within 3 of all events in" + window),
      "B: it counts the events of its window");
}

TEST(CudaOptions, AreReadFromText) {
  const auto options = parse_cuda_options(
      "devices=2+0,memory=512MiB,page_events=1024,least_pairs=7,least_terminators=9,compile=never,"
      "negations=separate,uploads=separate");
  ASSERT_TRUE(options.has_value());
  EXPECT_THAT(options->devices, testing::ElementsAre(2, 0));
  EXPECT_THAT(parse_cuda_options("devices=all")->devices, testing::IsEmpty());
  EXPECT_EQ(options->memory, std::uint64_t{512} << 20);
  EXPECT_EQ(options->page_events, 1024u);
  EXPECT_EQ(options->least_pairs, 7u);
  EXPECT_EQ(options->least_terminators, 9u);
  EXPECT_EQ(options->compile, gpu::Compile::never);
  EXPECT_EQ(options->longest_inside, 0u);
  EXPECT_FALSE(options->fused_uploads);
  EXPECT_TRUE(parse_cuda_options("uploads=fused")->fused_uploads);
  EXPECT_GT(parse_cuda_options("negations=inside")->longest_inside, 1u << 30);
  EXPECT_TRUE(parse_cuda_options("").has_value());
  for (const char* wrong :
       {"memory=1TiB", "page_events=1000", "pages=3", "memory", "least_pairs=-1",
        "least_terminators=0", "devices=", "devices=1+1", "devices=one", "memory=99999999999GiB",
        "compile=often", "negations=some", "uploads=never"}) {
    EXPECT_TRUE(parse_cuda_options(wrong).has_error()) << wrong;
  }
}

TEST(StringCodes, AreGivenAgainWhenNobodyUsesThem) {
  StringCodes codes;
  const std::uint64_t a = codes.add("a");
  EXPECT_EQ(codes.add("a"), a);
  const std::uint64_t b = codes.add("b");
  EXPECT_NE(a, b);
  codes.release(a);
  EXPECT_EQ(codes.find("a"), a);
  codes.release(a);
  EXPECT_EQ(codes.find("a"), 0u);
  EXPECT_EQ(codes.add("c"), a);
  EXPECT_EQ(codes.find("b"), b);
  EXPECT_EQ(codes.size(), 2u);
}

}  // namespace
}  // namespace gorgo::engine
