// Negations that a device tests with the choice.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <random>

#include "cuda/host_device.hpp"
#include "engine/cuda/cuda.hpp"
#include "engine/reference/reference.hpp"
#include "evaluation_of.hpp"

namespace gorgo::engine {
namespace {

using Batches = std::vector<std::vector<TestEvent>>;

constexpr std::uint64_t kApart = 0, kInside = std::numeric_limits<std::uint64_t>::max();
struct EmulatedInside {
  explicit EmulatedInside(std::uint64_t longest_inside)
      : engine(
            "emulated",
            [] {
              CudaEngine::Devices devices;
              devices.push_back(std::make_unique<gpu::HostDevice>(
                  gpu::DeviceOptions{.bytes = 1 << 22, .page_shift = 5}));
              return devices;
            },
            [] { return std::vector<std::string>(); }, {.longest_inside = longest_inside}) {}

  std::uint64_t rounds() const { return engine.contexts().at(0)->device().counters().rounds; }

  CudaEngine engine;
};

TestEvent at(Timestamp milliseconds, const std::string& type, std::int64_t k = 0, double v = 0,
             const std::string& s = "") {
  return {.type = type, .timestamp = milliseconds * 1'000'000, .k = k, .v = v, .s = s};
}

/// Holds both ways, and what lies between them, to the reference.
std::vector<std::string> composites(const std::string& rule, const Batches& batches) {
  const auto expected = evaluation_of(ReferenceEngine(), kTypes + rule, batches);
  for (const std::uint64_t longest : {kApart, std::uint64_t{2}, kInside}) {
    EmulatedInside emulated(longest);
    EXPECT_EQ(evaluation_of(emulated.engine, kTypes + rule, batches), expected) << rule << "\n"
                                                                                << longest;
    EXPECT_EQ(emulated.engine.failures(), 0u);
  }
  return expected;
}

std::vector<std::string> composites(const std::string& rule, std::vector<TestEvent> events) {
  return composites(rule, Batches{std::move(events)});
}

TEST(NegationInside, LeavesOutTheEndsOfTheInterval) {
  const std::string rule =
      "rule r: define O(k: int) from A() and last B() within 100 from A "
      "and not C() between B and A where k = B.k;";
  using testing::ElementsAre, testing::IsEmpty;
  EXPECT_THAT(composites(rule, {at(5, "B", 1), at(5, "C"), at(9, "C"), at(9, "A")}),
              ElementsAre("r 1"));
  EXPECT_THAT(composites(rule, {at(5, "B", 1), at(6, "C"), at(9, "A")}), IsEmpty());
  EXPECT_THAT(composites(rule, {at(4, "B", 1), at(5, "B", 2), at(5, "C"), at(9, "A")}),
              ElementsAre("r 2"));
}

TEST(NegationInside, KeepsTheWindowsEndsOut) {
  const std::string rule =
      "rule r: define O(k: int) from A() and first B() within 100 from A "
      "and not C() within 3 from B where k = B.k;";
  using testing::ElementsAre;
  // Exactly 3 before the first, 1 before the second, at the same time as the third.
  EXPECT_THAT(composites(rule, {at(4, "C"), at(7, "B", 1), at(9, "A")}), ElementsAre("r 1"));
  EXPECT_THAT(composites(rule, {at(4, "C"), at(5, "B", 1), at(8, "C"), at(8, "B", 3), at(9, "A")}),
              ElementsAre("r 3"));
  // Nothing lies in an interval of a nanosecond, nor before all time.
  constexpr Timestamp kEarliest = std::numeric_limits<Timestamp>::min();
  TestEvent earliest = at(0, "B", 7), with_it = at(0, "C"), end = at(0, "A");
  earliest.timestamp = with_it.timestamp = kEarliest + 5;
  end.timestamp = kEarliest + 9;
  EXPECT_THAT(composites(rule, {earliest, with_it, end}), ElementsAre("r 7"));
  with_it.timestamp = kEarliest + 4;
  EXPECT_THAT(composites(rule, {with_it, earliest, end}), testing::IsEmpty());
}

TEST(NegationInside, IsViolatedByEventsThatAreCandidatesThemselves) {
  // The newest B with no greater one behind it; one that is chosen for the other state is no
  // exception.
  EXPECT_THAT(composites("rule r: define O(k: int) from A() and last B() within 100 from A "
                         "and not B(v > B.v) between B and A where k = B.k;",
                         {at(1, "B", 1, 9), at(2, "B", 2, 3), at(3, "B", 3, 5), at(3, "B", 4, 4),
                          at(5, "A")}),
              testing::ElementsAre("r 4"));
  EXPECT_THAT(composites("rule r: define O(k: int, l: int) from A() and last B() within 100 from A "
                         "and each B() as E within 100 from A and not B(v >= E.v) between E and A "
                         "where k = B.k, l = E.k;",
                         {at(1, "B", 1, 9), at(2, "B", 2, 3), at(3, "B", 3, 5), at(5, "A")}),
              testing::ElementsAre("r 3 1", "r 3 3"));
}

TEST(NegationInside, ComparesAttributesOfTheCandidate) {
  // Strings, ints against floats, values that do not exist, conditions on the candidate alone.
  const std::vector<TestEvent> events = {at(1, "B", 1, 1.5, "x"), at(2, "B", 0, 2.0, "y"),
                                         at(3, "B", 3, 3.0, "z"), at(4, "C", 3, 3.0, "x"),
                                         at(5, "C", 2, 0.5, "y"), at(6, "A", 1, 3.0, "z")};
  for (const char* condition :
       {"s = B.s", "s != B.s", "k = B.v", "k < B.k", "12 / B.k = k * 2", "not (k > 6 / B.k)",
        "B.k > 1", "B.s = A.s", "s = B.s or v > A.v - B.v", "timestamp > B.timestamp + 3000000",
        "9223372036854775807 + B.k > k", "s < B.s", "B.s contains s", "s >= B.s or B.s > A.s",
        "A.s < B.s", "not (A.s <= B.s)"}) {
    const auto with = [&](const char* selection) {
      return std::string("rule r: define O(k: int) from A() and ") + selection +
             " B() within 100 from A and not C(" + condition + ") between B and A where k = B.k;";
    };
    for (const char* selection : {"last", "first", "each", "2-last", "2-first"}) {
      composites(with(selection), events);
    }
  }
}

/// Most candidates are rejected; the intervals have more events than a warp tests at a time.
Batches large(int events) {
  std::mt19937 random(5);
  Batches batches(2);
  Timestamp now = 0;
  for (auto& batch : batches) {
    for (int i = 0; i < events; ++i) {
      now += random() % 2;
      const char* type = random() % 3 == 0 ? "C" : "B";
      batch.push_back(at(now, type, random() % 50, static_cast<double>(random() % 1000)));
    }
    for (int i = 0; i < 4; ++i) batch.push_back(at(++now, "A", i, 500));
  }
  return batches;
}

TEST(NegationInside, SearchesLargeWindows) {
  const Batches batches = large(3000);
  for (const char* pattern :
       {"last B(k = $k) within 4000 from A and not C(v > B.v) within 40 from B",
        "first B() within 4000 from A and not C(v < B.v, k = 7) between B and A",
        "40-last B(v > 100) within 4000 from A and not C(k = B.k) within 200 from B",
        "90-first B(v > 100) within 4000 from A and not C(k = B.k) within 50 from B",
        "each B(k > 40) within 900 from A and not C(k = B.k) between B and A and not "
        "C(v * B.v > 998000) within 900 from A"}) {
    const std::string rule = std::string("rule r: define O(k: int, v: float) from A(k = $k) and ") +
                             pattern + " where k = B.k, v = B.v;";
    EXPECT_FALSE(composites(rule, batches).empty()) << rule;
  }
}

TEST(NegationInside, TakesARoundForAChoiceHoweverManyAreRejected) {
  const Batches batches = large(2000);
  const std::string rule =
      "rule r: define O(k: int) from A() and last B(k >= A.k - 9) within 2000 from A "
      "and not C(v < 990 + B.v / 100) within 30 from B where k = B.k;";
  const auto rounds_with = [&](std::uint64_t longest) {
    EmulatedInside emulated(longest);
    evaluation_of(emulated.engine, kTypes + rule, batches);
    return emulated.rounds();
  };
  EXPECT_EQ(rounds_with(kInside), batches.size());
  // A choice and its negation, eight more, and what is left.
  EXPECT_EQ(rounds_with(2), 5 * batches.size());
  EXPECT_GT(rounds_with(kApart), 6 * batches.size());
}

TEST(NegationInside, CountsTowardsTheLimitOfSequencesWhatIsLeft) {
  std::vector<TestEvent> events;
  for (int i = 0; i < 40; ++i) events.push_back(at(i, "B", i));
  for (int i = 0; i < 34; ++i) events.push_back(at(50, "C", i));
  events.push_back(at(60, "A"));
  const std::string rule =
      "define O(k: int) from A() and each B() within 100 from A "
      "and not C(k = B.k) between B and A where k = B.k;";
  EXPECT_EQ(composites("@limit(max_sequences = 6) " + rule, events).size(), 6u);
  EXPECT_EQ(composites("@limit(max_sequences = 5) " + rule, events).size(), 0u);
}

}  // namespace
}  // namespace gorgo::engine
