#include "processor_fixture.hpp"

#include <algorithm>
#include <bit>

namespace gorgo {
namespace {

class DeliveryTest : public ProcessorTest {};

TEST_F(DeliveryTest, CompositesStandDirectlyBehindTheirRoot) {
  deploy(kFire);
  append(temp(1, "A", 50));
  append(smoke(2, "A"));
  append(smoke(3, "B"));
  EXPECT_THAT(process(), ElementsAre("1.0 Temp area=A value=50.000000", "2.0 Smoke area=A",
                                     "2.1 Fire area=A value=50.000000", "3.0 Smoke area=B"));
}

TEST_F(DeliveryTest, PublishedCompositesAndProducedOnesShareAHistory) {
  deploy(std::string(kFire) +
         "define Alarm(n: int) from Siren() and each Fire() within 1 min from Siren "
         "where n = Count(Fire() within 1 min from Siren); event Siren();");
  append(temp(1, "A", 50));
  append({.type = "Fire",
          .timestamp = 2 * kMillisecond,
          .attributes = {{"area", std::string("B")}, {"value", 60.0}}});
  append(smoke(3, "A"));
  append({.type = "Siren", .timestamp = 4 * kMillisecond});
  EXPECT_THAT(process(),
              ElementsAre("1.0 Temp area=A value=50.000000", "2.0 Fire area=B value=60.000000",
                          "3.0 Smoke area=A", "3.1 Fire area=A value=50.000000", "4.0 Siren",
                          "4.1 Alarm n=2", "4.2 Alarm n=2"));
}

TEST_F(DeliveryTest, TheNamesOfFloatsAreFloatsWhereTheTypeSaysSo) {
  deploy("event A(f: float, s: string);");
  const auto named = [](const char* name) {
    return Event{"A", std::nullopt, {{"f", std::string(name)}, {"s", std::string(name)}}};
  };
  for (const char* name : {"NaN", "Infinity", "-Infinity"}) append(named(name));
  EXPECT_THAT(process(), ElementsAre("1.0 A f=nan s=NaN", "2.0 A f=inf s=Infinity",
                                     "3.0 A f=-inf s=-Infinity"));
  EXPECT_THAT(refused(named("nan")), HasSubstr("attribute `f` is string, expected float"));
  // Nobody knows the type: they stay what they are.
  append({"Unknown", std::nullopt, {{"f", std::string("NaN")}}});
  EXPECT_THAT(process(), ElementsAre("4.0 Unknown f=NaN"));
}

TEST_F(DeliveryTest, EventsThatDoNotFitAreRefusedByName) {
  deploy(kFire);
  EXPECT_THAT(refused({.type = "Temp", .attributes = {{"area", std::string("A")}}}),
              HasSubstr("attribute `value` is missing"));
  EXPECT_THAT(refused({.type = "Temp", .attributes = {{"area", std::int64_t{1}}, {"value", 1.0}}}),
              HasSubstr("attribute `area` is int, expected string"));
  EXPECT_THAT(refused({.type = "Smoke",
                       .attributes = {{"area", std::string("A")}, {"aera", std::string("A")}}}),
              HasSubstr("there is no attribute `aera` (did you mean `area`?)"));
  EXPECT_THAT(refused({.type = "Smoke",
                       .attributes = {{"area", std::string("A")}, {"area", std::string("A")}}}),
              HasSubstr("given twice"));
  EXPECT_THAT(refused({.type = ""}), HasSubstr("no type"));
  EXPECT_EQ(processor.counters().refused, 5u);
  EXPECT_THAT(process(), IsEmpty());
}

TEST_F(DeliveryTest, AttributesMayBeNamedInAnyOrder) {
  deploy(kFire);
  append({"Temp", 1, {{"area", std::string("A")}, {"value", 50.0}}});
  append({"Temp", 2, {{"value", 60.0}, {"area", std::string("B")}}});
  EXPECT_THAT(process(),
              ElementsAre("1.0 Temp area=A value=50.000000", "2.0 Temp area=B value=60.000000"));
}

TEST_F(DeliveryTest, EventsOutOfOrderInTimeAreAcceptedOrRefused) {
  processor = Processor(
      {.max_late = 5 * kMillisecond, .clock = [] { return Timestamp{30 * kMillisecond}; }});
  deploy("event A(s: string);");
  const auto at = [](std::optional<Timestamp> timestamp, const char* text) {
    return Event{"A", timestamp, {{"s", std::string(text)}}};
  };
  append(at(20 * kMillisecond, "first"));
  append(at(18 * kMillisecond, "late"));
  EXPECT_THAT(refused(at(14 * kMillisecond, "too late")), HasSubstr("behind the clock"));
  append(at(std::nullopt, "stamped"));
  EXPECT_THAT(process(), ElementsAre("1.0 A s=first", "2.0 A s=late", "3.0 A s=stamped"));
  EXPECT_EQ(processor.clock(), 30 * kMillisecond);
  EXPECT_EQ(processor.counters().accepted, 3u);
  EXPECT_EQ(processor.counters().late, 1u);
  EXPECT_EQ(processor.counters().too_late, 1u);
}

// It holds however many batches one call makes of them, and of whatever size the call before was.
TEST_F(DeliveryTest, WhatComesOutHasTheCellsOfItsOwnEvents) {
  deploy(kFire);
  Timestamp at = 0;
  for (const int pairs : {1, 300, 2, 32, 100, 1}) {
    std::vector<std::string> expected;
    for (int i = 0; i < pairs; ++i) {
      const std::string area = "area " + std::to_string(at);
      const std::string fire = "area=" + area + " value=50.000000";
      append(temp(++at, area.c_str(), 50));
      expected.push_back(std::to_string(at) + ".0 Temp " + fire);
      append(smoke(++at, area.c_str()));
      expected.push_back(std::to_string(at) + ".0 Smoke area=" + area);
      expected.push_back(std::to_string(at) + ".1 Fire " + fire);
    }
    EXPECT_EQ(process(), expected);
  }
  EXPECT_GT(batches, 6);
}

TEST_F(DeliveryTest, IntIsAcceptedWhereFloatIsDeclared) {
  deploy(kFire);
  append({.type = "Temp",
          .timestamp = 1,
          .attributes = {{"area", std::string("A")}, {"value", std::int64_t{50}}}});
  EXPECT_THAT(process(), ElementsAre("1.0 Temp area=A value=50.000000"));
}

TEST_F(DeliveryTest, TypesThatNobodyKnowsPassThroughAsTheyAre) {
  append({.type = "Anything",
          .timestamp = 1,
          .attributes = {{"b", std::int64_t{2}}, {"a", std::string("x")}}});
  EXPECT_THAT(process(), ElementsAre("1.0 Anything b=2 a=x"));
}

TEST_F(DeliveryTest, InferredTypesMayLackAttributesAndCarryOthers) {
  deploy("define Hot(v: float) from Reading([float]v > 1.0) where v = Reading.v;");
  append({.type = "Reading", .timestamp = 1, .attributes = {{"unit", std::string("C")}}});
  append({.type = "Reading", .timestamp = 2, .attributes = {{"v", 2.0}, {"u", std::int64_t{1}}}});
  EXPECT_THAT(process(), ElementsAre("1.0 Reading unit=C", "2.0 Reading v=2.000000 u=1",
                                     "2.1 Hot v=2.000000"));
  EXPECT_THAT(refused({.type = "Reading", .attributes = {{"v", std::string("hot")}}}),
              HasSubstr("`v` is string, expected float"));
}

TEST_F(DeliveryTest, ANaNThatLeavesHasOneBitPattern) {
  deploy(
      "event A(f: float); define Out(a: float, b: float, c: float, d: float, e: float) "
      "from A(f = $f) and last A() as B within 10 from A "
      "where a = A.f, b = -A.f, c = $f * 0, d = Max(A().f within 10 from A), "
      "e = Avg(A().f within 10 from A);");
  const double nan = std::bit_cast<double>(0xFFF8000000000123u);
  append({.type = "A", .timestamp = 1, .attributes = {{"f", nan}}});
  append({.type = "A", .timestamp = 2, .attributes = {{"f", nan}}});
  std::vector<std::uint64_t> patterns;
  processor.process([&](const OutputBatch& batch) {
    for (const auto& row : batch.rows) {
      if (batch.type_name(row) != "Out") continue;
      batch.for_each_attribute(row, [&](std::string_view, const Datum& value) {
        patterns.push_back(std::bit_cast<std::uint64_t>(value.floating));
      });
    }
  });
  EXPECT_EQ(patterns, std::vector<std::uint64_t>(5, 0x7FF8000000000000u));
}

TEST_F(DeliveryTest, RecursionIsIterationUntilMaxDepth) {
  deploy("event A(n: int); rule loop: define A(n: int) from A(n = $n, n > 0) where n = $n - 1;");
  append(counted("A", 1, 3));
  append(counted("A", 2, 1));
  EXPECT_THAT(process(), ElementsAre("1.0 A n=3", "1.1 A n=2", "1.2 A n=1", "1.3 A n=0",
                                     "2.0 A n=1", "2.1 A n=0"));
  append(counted("A", 3, 100));
  EXPECT_EQ(process().size(), 17u);  // depth 16 is stored and evaluated no more
  EXPECT_EQ(processor.counters().dropped_depth, 1u);
}

TEST_F(DeliveryTest, ACountOverOwnResultsIsRecursion) {
  deploy(
      "event A(n: int); rule r: define Total(n: int) from A(n = $n) and last Total() within "
      "1 h from A where n = Total.n + $n; ");
  append({.type = "Total", .timestamp = 0, .attributes = {{"n", std::int64_t{0}}}});
  for (int i = 1; i <= 4; ++i) append(counted("A", i, i));
  const auto lines = process();
  EXPECT_EQ(lines.back(), "5.1 Total n=10");
}

TEST_F(DeliveryTest, ARunawayCycleIsBoundedByItsRoot) {
  processor = Processor({.max_composites = 50});
  deploy(
      "event A(n: int); rule a: define A(n: int) from A(n = $n) where n = $n + 1;"
      "rule b: define A(n: int) from A(n = $n) where n = $n + 2;");
  append(counted("A", 1, 0));
  append(counted("A", 2, 0));
  EXPECT_EQ(process().size(), 2u * 51u);
}

TEST_F(DeliveryTest, TooManySequencesYieldNothingAndAreCounted) {
  deploy(
      "event A(n: int); event B(n: int); @limit(max_sequences = 3) rule r: define O(n: int) "
      "from B() and each A() as A1 within 1 min from B and each A() as A2 within 1 min from B "
      "where n = A1.n;");
  append(counted("A", 1, 1));
  append(counted("B", 2, 0));
  append(counted("A", 3, 2));
  append(counted("B", 4, 0));
  EXPECT_THAT(process(),
              ElementsAre("1.0 A n=1", "2.0 B n=0", "2.1 O n=1", "3.0 A n=2", "4.0 B n=0"));
  EXPECT_EQ(processor.rules()[0].overflows, 1u);
  EXPECT_EQ(processor.rules()[0].terminators, 2u);
}

TEST_F(DeliveryTest, CompositesOfARootAreLimitedInPlaceOrder) {
  processor = Processor({.max_composites = 3});
  deploy(
      "event A(n: int); event B(n: int);"
      "rule r: define O(n: int) from B() and each A() within 1 min from B where n = A.n;"
      "rule s: define P(n: int) from O() where n = O.n;");
  for (int i = 1; i <= 2; ++i) append(counted("A", i, i));
  append(counted("B", 3, 0));
  EXPECT_THAT(process(), ElementsAre("1.0 A n=1", "2.0 A n=2", "3.0 B n=0", "3.1 O n=1",
                                     "3.2 O n=2", "3.3 P n=1"));
  EXPECT_EQ(processor.counters().dropped_composites, 1u);
}

TEST_F(DeliveryTest, ABatchThatCausesTooMuchIsDeliveredInParts) {
  processor = Processor({.max_held_bytes = 1000});
  deploy(
      "event A(n: int); event B(n: int);"
      "rule r: define O(n: int) from B() and each A() within 1 min from B where n = A.n;");
  for (int i = 1; i <= 5; ++i) append(counted("A", i, i));
  for (int i = 1; i <= 20; ++i) append(counted("B", 10 + i, i));
  EXPECT_EQ(process().size(), 25u + 20u * 5u);
  EXPECT_GE(batches, 5);
}

/// A recursive rule that multiplies, beside others of its cycle, up to the limit of a root.
TEST_F(DeliveryTest, WhatALimitDropsInACycleDoesNotDependOnTheMemoryAllowed) {
  std::vector<std::string> expected;
  for (const std::size_t held :
       {100'000'000, 1, 500, 1'300, 6'000, 8'000, 10'000, 12'000, 15'000, 20'000, 30'000}) {
    processor = Processor({.max_depth = 5,
                           .max_composites = 60,
                           .max_held_bytes = held,
                           .threads = 2,
                           .job_terminators = 4});
    deploy(
        "event A(n: int); event C(n: int);"
        "rule r: define C0(n: int) from C0() as s and each C() as c within 4 ms from s"
        "  and each A(n = 2) as a within 8 ms from s and each A() as b within 10 ms from s"
        "  where n = Count(A().n within 1 ms from c);"
        "rule s: define C2(n: int) from C0() as s where n = s.n;"
        "rule t: define C0(n: int) from A(n = 2) as s and not C2() within 1 ms from s where n = "
        "s.n;");
    for (const int t : {0, 0, 0, 1, 2, 4, 5, 7}) append(counted("A", t, 2));
    append(counted("C", 7, 0));
    append(counted("C0", 7, 0));
    append(counted("A", 9, 2));
    append(counted("C0", 10, 0));
    const auto lines = process();
    if (expected.empty()) expected = lines;
    EXPECT_EQ(lines, expected) << held;
    EXPECT_GT(processor.counters().dropped_composites, 0u);
  }
}

/// A step of the cycle of C and D brings so many C that threads share what is to be done for them.
TEST_F(DeliveryTest, ALargeStepOfACycleIsFoundByLaterOnes) {
  constexpr int kMany = 400;
  processor = Processor({.engine = "column", .threads = 4});
  deploy(
      "event A(n: int); event B(n: int);"
      "rule r: define C(n: int) from B() and each A() within 1 min from B where n = A.n;"
      "rule s: define D(n: int) from C(n = 1) as c and each C() as e within 1 min from c"
      "  where n = e.n;"
      "rule t: define C(n: int) from D(n < 0) where n = D.n;");
  for (int i = 1; i <= kMany; ++i) append(counted("A", i, i));
  append(counted("B", kMany + 1, 0));
  append(counted("B", kMany + 2, 0));
  const auto lines = process();
  EXPECT_EQ(std::ranges::count_if(
                lines, [](const std::string& line) { return line.find(" D ") != line.npos; }),
            kMany);
}

TEST_F(DeliveryTest, StopGivesUpTheBatch) {
  deploy(kFire);
  append(temp(1, "A", 50));
  processor.request_stop();
  EXPECT_THAT(process(), IsEmpty());
  EXPECT_EQ(processor.pending(), 0u);
}

}  // namespace
}  // namespace gorgo
