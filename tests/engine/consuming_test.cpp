#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <iterator>
#include <random>

#include "engine/cuda/cuda.hpp"
#include "engine/reference/reference.hpp"
#include "evaluation_of.hpp"
#include "failing_device.hpp"
#include "gorgo/processor.hpp"
#include "language/language.hpp"

namespace gorgo::engine {
namespace {

using Batches = std::vector<std::vector<TestEvent>>;

constexpr const char* kTypes =
    "event A(k: int, v: float, s: string); event B(k: int, v: float, s: string);"
    "event C(k: int, v: float, s: string);\n";

/// What a terminator consumes decides about the next: as a choice, as one of many sequences, ahead
/// of a choice, in two states, and where `where` decides whether anything is consumed.
const char* const kRules[] = {
    "define O(k: int, v: float) from A(k = $k) and last B(k = $k) within 900 from A"
    " where k = A.k, v = B.v consuming B;",
    "define O(v: float, w: float) from A(k = $k) and each B(k = $k) within 300 from A and"
    " first C(v > B.v) within 200 from B where v = B.v, w = C.v consuming B, C;",
    "define O(v: float, w: float) from A(k = $k) and 3-first B(k != $k) within 500 from A and"
    " last C(k = B.k) within 300 from A and not C(v > 1.2) between A and B"
    " where v = B.v, w = C.v consuming C;",
    "define O(k: int, n: int) from A(k = $k) and last B(v > A.v) within 700 from A and"
    " 2-last C(s = B.s) within 600 from B and B.k < 3"
    " where k = C.k / (B.k - 1), n = Count(B(k = $k) within 300 from A) consuming B, C;",
    "@limit(max_sequences = 12) rule limited: define O(v: float) from A(k = $k) and"
    " each B(k = $k) within 400 from A where v = B.v consuming B;",
};

/// Events of the types that the rule reads; one in `terminators` is an A.
Batches stream(const std::string& rule, int size, int batches, int terminators, int keys,
               unsigned seed = 1) {
  const bool with_c = rule.find("C(") != rule.npos;
  std::mt19937 random(seed);
  const auto below = [&](int n) { return static_cast<std::int64_t>(random() % n); };
  Batches all;
  Timestamp now = 0;
  for (int b = 0; b < batches; ++b) {
    auto& batch = all.emplace_back();
    for (int i = 0; i < size; ++i) {
      now += 1'000'000 * below(3);
      const char* type = below(terminators) == 0 ? "A" : with_c && below(2) == 0 ? "C" : "B";
      batch.push_back({.type = type,
                       .timestamp = now,
                       .k = below(keys),
                       .v = static_cast<double>(below(100)) / 64,
                       .s = std::string(1, static_cast<char>('a' + below(3)))});
    }
  }
  return all;
}

CudaEngine emulated(std::uint64_t bytes = 1 << 20, std::uint64_t failure_period = 0,
                    std::uint64_t least_pairs = 0, std::uint64_t least_terminators = 3) {
  return {"emulated",
          [=] {
            CudaEngine::Devices devices;
            devices.push_back(
                std::make_unique<FailingDevice>(gpu::DeviceOptions{.bytes = bytes, .page_shift = 5},
                                                every_round(failure_period, Fault::error)));
            return devices;
          },
          [] { return std::vector<std::string>(); },
          {.least_pairs = least_pairs, .least_terminators = least_terminators}};
}

std::uint64_t rounds_of(const CudaEngine& engine) {
  return engine.contexts().at(0)->device().counters().rounds;
}

class Consuming : public testing::TestWithParam<const char*> {
 protected:
  std::string text() const { return kTypes + std::string(GetParam()); }
  std::vector<std::string> expected(const Batches& batches) const {
    return evaluation_of(ReferenceEngine(), text(), batches);
  }
};

TEST_P(Consuming, GivesWhatTerminatorsGiveOneAfterTheOther) {
  for (const int keys : {2, 5, 40}) {
    const Batches batches = stream(GetParam(), 400, 5, 4, keys);
    const CudaEngine engine = emulated();
    const auto wanted = expected(batches);
    EXPECT_FALSE(wanted.empty()) << keys;
    EXPECT_EQ(evaluation_of(engine, text(), batches), wanted) << keys;
    EXPECT_GT(rounds_of(engine), 5u);
  }
}

TEST_P(Consuming, AgreesWhereTheCpuTakesTurns) {
  // Few pairs in the first batches, then more and more.
  Batches batches = stream(GetParam(), 30, 20, 6, 5);
  for (auto& batch : stream(GetParam(), 300, 3, 6, 5)) {
    for (TestEvent& event : batch) event.timestamp += batches.back().back().timestamp;
    batches.push_back(std::move(batch));
  }
  const CudaEngine engine = emulated(1 << 20, 0, 900);
  EXPECT_EQ(evaluation_of(engine, text(), batches), expected(batches));
  EXPECT_GT(rounds_of(engine), 0u);
}

TEST_P(Consuming, AgreesWhereMemoryIsShortOrTheDeviceFails) {
  const Batches batches = stream(GetParam(), 300, 8, 5, 6);
  const auto wanted = expected(batches);
  const CudaEngine tight = emulated(60 * 32 * 8);
  EXPECT_EQ(evaluation_of(tight, text(), batches), wanted);
  for (const std::uint64_t period : {2, 3, 5}) {
    const CudaEngine failing = emulated(1 << 20, period);
    EXPECT_EQ(evaluation_of(failing, text(), batches), wanted) << period;
    EXPECT_GT(failing.contexts().at(0)->last_failure().count, 0u);
  }
}

INSTANTIATE_TEST_SUITE_P(Rules, Consuming, testing::ValuesIn(kRules));

RC_GTEST_PROP(ConsumingRules, AgreeUnderRandomStreams, ()) {
  const auto number = [](int low, int high) { return *rc::gen::inRange(low, high + 1); };
  const std::string rule = kRules[number(0, static_cast<int>(std::size(kRules)) - 1)];
  const Batches batches = stream(rule, number(1, 300), number(1, 5), number(2, 9), number(1, 30),
                                 static_cast<unsigned>(number(0, 1'000'000)));
  const CudaEngine engine = emulated(1 << 20, 0, static_cast<std::uint64_t>(number(0, 1000)));
  RC_LOG() << rule;
  const auto expected = evaluation_of(ReferenceEngine(), kTypes + rule, batches);
  RC_CLASSIFY(expected.size() > 20, "many composites");
  RC_ASSERT(evaluation_of(engine, kTypes + rule, batches) == expected);
}

/// Rounds that a batch of terminators takes, each with one event of its own or all with the same.
std::uint64_t rounds(bool own, bool consuming) {
  std::vector<TestEvent> batch;
  for (const char* type : {"B", "A"}) {
    for (int i = 0; i < 10; ++i) {
      batch.push_back({.type = type,
                       .timestamp = 1'000'000 * static_cast<Timestamp>(batch.size()),
                       .k = own ? i : 0,
                       .v = 0,
                       .s = ""});
    }
  }
  const std::string rule = std::string(kTypes) +
                           "define O(k: int) from A(k = $k) and last B(k = $k) within 900 from A"
                           " where k = B.k" +
                           (consuming ? " consuming B;" : ";");
  const CudaEngine engine = emulated(1 << 20, 0, 0, 1000);
  EXPECT_EQ(evaluation_of(engine, rule, {batch}).size(), 10u);
  return rounds_of(engine);
}

TEST(ConsumingRounds, AreMoreOnlyWhereTerminatorsCompete) {
  EXPECT_EQ(rounds(true, true), rounds(true, false));
  // Each takes what the one before it left.
  EXPECT_EQ(rounds(false, true), 10 * rounds(false, false));
}

TEST(ConsumingRounds, AreGivenUpWhereTerminatorsCompeteForLong) {
  Processor processor({.engine = "cuda-host"});
  const std::string rule =
      "define O(k: int) from A(k = $k) and last B(k = $k) within 900 from A"
      " where k = B.k consuming B;";
  ASSERT_FALSE(processor.deploy("rule.tesla", kTypes + rule).failed());
  for (int i = 0; i < 200; ++i) {
    const auto accepted = processor.append(
        {.type = i < 100 ? "B" : "A",
         .timestamp = 1'000'000 * i,
         .attributes = {{"k", std::int64_t{1}}, {"v", 0.0}, {"s", std::string()}}});
    ASSERT_FALSE(accepted.has_error());
  }
  std::size_t composites = 0;
  processor.process([&](const OutputBatch& batch) {
    composites += static_cast<std::size_t>(std::ranges::count_if(
        batch.rows, [](const auto& row) { return row.rule != OutputBatch::kPrimitive; }));
  });
  EXPECT_EQ(composites, 100u);
  EXPECT_GT(processor.rules().at(0).declined, 0u);
  EXPECT_EQ(processor.rules().at(0).declined_because,
            "terminators compete for the events that they consume");
}

}  // namespace
}  // namespace gorgo::engine
