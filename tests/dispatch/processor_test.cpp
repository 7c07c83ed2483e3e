#include "gorgo/processor.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>

namespace gorgo {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

constexpr Timestamp kMillisecond = 1'000'000;

constexpr const char* kFire = R"(
event Temp(area: string, value: float);
event Smoke(area: string);
rule fire:
define Fire(area: string, value: float)
from Smoke(area = $a) and last Temp(area = $a, value > 45) within 5 min from Smoke
where area = Smoke.area, value = Temp.value;
)";

Event temp(Timestamp ms, const char* area, double value) {
  return {.type = "Temp",
          .timestamp = ms * kMillisecond,
          .attributes = {{"area", std::string(area)}, {"value", value}}};
}

Event smoke(Timestamp ms, const char* area) {
  return {
      .type = "Smoke", .timestamp = ms * kMillisecond, .attributes = {{"area", std::string(area)}}};
}

/// `A@1` with one int attribute `n`.
Event counted(const char* type, Timestamp ms, std::int64_t n) {
  return {.type = type, .timestamp = ms * kMillisecond, .attributes = {{"n", n}}};
}

class ProcessorTest : public ::testing::Test {
 protected:
  void deploy(const std::string& text, bool replace = false) {
    const Diagnostics diagnostics =
        processor.deploy("rules/test.tesla", text, {.replace = replace});
    ASSERT_FALSE(diagnostics.failed()) << diagnostics.render();
  }

  std::string refusal(const std::string& text, bool replace = false) {
    return processor.deploy("rules/test.tesla", text, {.replace = replace}).render();
  }

  void append(const Event& event) {
    const auto accepted = processor.append(event);
    ASSERT_FALSE(accepted.has_error()) << accepted.error().to_string();
  }

  std::string refused(const Event& event) {
    const auto accepted = processor.append(event);
    return accepted.has_error() ? accepted.error().to_string() : "";
  }

  /// "root.ordinal Type(values)" of everything that comes out.
  std::vector<std::string> process() {
    std::vector<std::string> lines;
    processor.process([&](const OutputBatch& batch) {
      ++batches;
      for (const auto& row : batch.rows) {
        std::string line = std::to_string(row.place.root) + "." +
                           std::to_string(row.place.ordinal) + " " +
                           std::string(batch.type_name(row));
        batch.for_each_attribute(row, [&](std::string_view name, const Datum& value) {
          line += " " + std::string(name) + "=";
          line += value.tag == Datum::Tag::string    ? std::string(value.text())
                  : value.tag == Datum::Tag::integer ? std::to_string(value.integer)
                                                     : std::to_string(value.floating);
        });
        lines.push_back(line);
      }
    });
    return lines;
  }

  Processor processor;
  int batches = 0;
};

TEST_F(ProcessorTest, CompositesStandDirectlyBehindTheirRoot) {
  deploy(kFire);
  append(temp(1, "A", 50));
  append(smoke(2, "A"));
  append(smoke(3, "B"));
  EXPECT_THAT(process(), ElementsAre("1.0 Temp area=A value=50.000000", "2.0 Smoke area=A",
                                     "2.1 Fire area=A value=50.000000", "3.0 Smoke area=B"));
}

TEST_F(ProcessorTest, PublishedCompositesAndProducedOnesShareAHistory) {
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

TEST_F(ProcessorTest, EventsThatDoNotFitAreRefusedByName) {
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

TEST_F(ProcessorTest, IntIsAcceptedWhereFloatIsDeclared) {
  deploy(kFire);
  append({.type = "Temp",
          .timestamp = 1,
          .attributes = {{"area", std::string("A")}, {"value", std::int64_t{50}}}});
  EXPECT_THAT(process(), ElementsAre("1.0 Temp area=A value=50.000000"));
}

TEST_F(ProcessorTest, TypesThatNobodyKnowsPassThroughAsTheyAre) {
  append({.type = "Anything",
          .timestamp = 1,
          .attributes = {{"b", std::int64_t{2}}, {"a", std::string("x")}}});
  EXPECT_THAT(process(), ElementsAre("1.0 Anything b=2 a=x"));
}

TEST_F(ProcessorTest, InferredTypesMayLackAttributesAndCarryOthers) {
  deploy("define Hot(v: float) from Reading([float]v > 1.0) where v = Reading.v;");
  append({.type = "Reading", .timestamp = 1, .attributes = {{"unit", std::string("C")}}});
  append({.type = "Reading", .timestamp = 2, .attributes = {{"v", 2.0}, {"u", std::int64_t{1}}}});
  EXPECT_THAT(process(), ElementsAre("1.0 Reading unit=C", "2.0 Reading v=2.000000 u=1",
                                     "2.1 Hot v=2.000000"));
  EXPECT_THAT(refused({.type = "Reading", .attributes = {{"v", std::string("hot")}}}),
              HasSubstr("`v` is string, expected float"));
}

TEST_F(ProcessorTest, ANaNThatLeavesHasOneBitPattern) {
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

TEST_F(ProcessorTest, LateEventsAreAcceptedUntilMaxLate) {
  processor = Processor({.max_late = 10 * kMillisecond});
  append(counted("A", 50, 1));
  append(counted("A", 50, 2));
  append(counted("A", 40, 3));
  EXPECT_THAT(refused(counted("A", 39, 4)),
              HasSubstr("39 ms is more than 10 ms behind the clock, 50 ms"));
  EXPECT_EQ(processor.counters().late, 1u);
}

TEST_F(ProcessorTest, ALateEventIsSeenByLaterTerminatorsOnly) {
  deploy(
      "event A(n: int); event B(n: int);"
      "rule r: define O(n: int) from B() and last A() within 1 min from B where n = A.n;");
  append(counted("A", 10, 1));
  append(counted("B", 30, 0));
  append(counted("A", 20, 2));  // late: B@30 is over
  append(counted("B", 15, 0));  // late: sees what lies before 15
  append(counted("B", 40, 0));
  EXPECT_THAT(process(), ElementsAre("1.0 A n=1", "2.0 B n=0", "2.1 O n=1", "3.0 A n=2",
                                     "4.0 B n=0", "4.1 O n=1", "5.0 B n=0", "5.1 O n=2"));
}

TEST_F(ProcessorTest, LatenessPutsEventsInOrder) {
  processor = Processor({.lateness = 10 * kMillisecond});
  append(counted("A", 20, 1));
  append(counted("A", 15, 2));
  append(counted("A", 15, 3));
  EXPECT_EQ(processor.held(), 3u);
  append(counted("A", 26, 4));
  EXPECT_THAT(process(), ElementsAre("1.0 A n=2", "2.0 A n=3"));
  ASSERT_FALSE(processor.tick(22 * kMillisecond).has_error());
  EXPECT_THAT(process(), ElementsAre("3.0 A n=1"));
  processor.finish([](const OutputBatch&) {});
  EXPECT_EQ(processor.held(), 0u);
  EXPECT_EQ(processor.counters().late, 0u);
}

TEST_F(ProcessorTest, FlushReleasesWhatIsHeldAndLeavesDeadlinesPending) {
  processor = Processor({.lateness = 10 * kMillisecond});
  deploy(
      "event A(n: int); rule r: define Miss(n: int) from A() and not A() within 30 ms after A "
      "where n = A.n;");
  append(counted("A", 5, 2));
  append(counted("A", 1, 1));
  std::size_t rows = 0;
  processor.flush([&](const OutputBatch& batch) { rows += batch.rows.size(); });
  EXPECT_EQ(rows, 2u);
  EXPECT_EQ(processor.rules()[0].pending, 2u);
}

TEST_F(ProcessorTest, AHeldEventThatNoLongerFitsItsTypeIsStillDelivered) {
  processor = Processor({.lateness = 10});
  append({.type = "T", .timestamp = 1, .attributes = {{"a", std::string("x")}}});
  ASSERT_FALSE(processor.declare("T", {{"a", ValueType::integer}}).has_error());
  append(counted("A", 1, 1));
  ASSERT_FALSE(processor.tick(100).has_error());
  EXPECT_THAT(process(), ElementsAre("1.0 T a=x"));
}

constexpr const char* kAbsence =
    "event A(n: int); event B(n: int); rule r: define Miss(n: int) "
    "from A(n = $n) and not B(n = $n) within 30 ms after A "
    "where n = A.n;";

TEST_F(ProcessorTest, AbsenceFiresDirectlyBeforeTheEventThatReachesTheDeadline) {
  deploy(std::string(kAbsence) +
         "rule s: define Seen(n: int) from C() and each Miss() within 1 min from C "
         "where n = Miss.n; event C();");
  append(counted("A", 0, 1));
  append(counted("A", 0, 2));
  append(counted("B", 29, 2));
  append({.type = "C", .timestamp = 31 * kMillisecond});
  EXPECT_THAT(process(), ElementsAre("1.0 A n=1", "2.0 A n=2", "3.0 B n=2", "4.1 Miss n=1", "5.0 C",
                                     "5.1 Seen n=1"));
}

TEST_F(ProcessorTest, AnEventAtTheDeadlineComesTooLateToPreventIt) {
  deploy(kAbsence);
  append(counted("A", 0, 1));
  append(counted("B", 30, 1));
  EXPECT_THAT(process(), ElementsAre("1.0 A n=1", "2.1 Miss n=1", "3.0 B n=1"));
}

TEST_F(ProcessorTest, ALateTerminatorWithItsDeadlineOverIsDecidedAtOnce) {
  deploy(kAbsence);
  append(counted("B", 20, 2));
  append(counted("C", 50, 0));
  append(counted("A", 10, 1));  // nothing in (10, 40)
  append(counted("A", 10, 2));  // B@20
  append(counted("A", 30, 3));  // until 60, not over
  EXPECT_THAT(process(), ElementsAre("1.0 B n=2", "2.0 C n=0", "3.0 A n=1", "3.1 Miss n=1",
                                     "4.0 A n=2", "5.0 A n=3"));
  ASSERT_FALSE(processor.tick(60 * kMillisecond).has_error());
  EXPECT_THAT(process(), ElementsAre("6.1 Miss n=3"));
}

TEST_F(ProcessorTest, TheEndOfTheInputLetsDeadlinesPass) {
  deploy(kAbsence);
  append(counted("A", 0, 1));
  EXPECT_THAT(process(), ElementsAre("1.0 A n=1"));
  std::size_t fired = 0;
  processor.finish([&](const OutputBatch& batch) { fired += batch.rows.size(); });
  EXPECT_EQ(fired, 1u);
}

TEST_F(ProcessorTest, RulesThatFeedEachOtherThroughDeadlinesAreBounded) {
  deploy(
      "event A(n: int); "
      "@limit(max_sequences = 50) rule again: define A(n: int) from A() as T and each A() as E "
      "within 1 min from T and not B() within 10 ms after T where n = E.n;"
      "event B();");
  append(counted("A", 0, 1));
  append(counted("A", 1, 2));
  append(counted("A", 2, 3));
  std::size_t rows = process().size();
  processor.finish([&](const OutputBatch& batch) { rows += batch.rows.size(); });
  EXPECT_GT(processor.rules()[0].overflows, 0u);
  EXPECT_LE(rows, 17u * 50u);  // a generation of at most 50 for each depth
}

TEST_F(ProcessorTest, RemovingARuleDiscardsItsDeadlines) {
  deploy(kAbsence);
  append(counted("A", 0, 1));
  process();
  ASSERT_FALSE(processor.remove("r").has_error());
  ASSERT_FALSE(processor.tick(kMillisecond * 100).has_error());
  EXPECT_THAT(process(), IsEmpty());
}

TEST_F(ProcessorTest, TimersFireAtMultiplesOfTheirPeriodBeforeTheEventThatPassesThem) {
  deploy(
      "event A(n: int); rule t: define T(n: int, at: int) from Timer(every = 10 ms) where "
      "n = Count(A() within 20 ms from Timer), at = Timer.timestamp / 1000000;");
  append(counted("A", 10, 1));  // the first event: nothing before it, nor at it
  append(counted("A", 20, 1));
  append(counted("A", 45, 1));
  EXPECT_THAT(process(), ElementsAre("1.0 A n=1", "2.1 T n=1 at=20", "3.0 A n=1", "4.1 T n=1 at=30",
                                     "5.1 T n=0 at=40", "6.0 A n=1"));
}

TEST_F(ProcessorTest, OfALongGapOnlyTheLatestInstantsFire) {
  deploy(
      "event A(n: int); rule t: define T(at: int) from Timer(every = 1 ms) where "
      "at = Timer.timestamp / 1000000;");
  append(counted("A", 0, 1));
  append(counted("A", 5000, 1));
  const auto lines = process();
  ASSERT_EQ(lines.size(), 2u + 1000u);
  EXPECT_EQ(lines[1], "2.1 T at=4001");
  EXPECT_EQ(lines[1000], "1001.1 T at=5000");
}

TEST_F(ProcessorTest, RecursionIsIterationUntilMaxDepth) {
  deploy("event A(n: int); rule loop: define A(n: int) from A(n = $n, n > 0) where n = $n - 1;");
  append(counted("A", 1, 3));
  append(counted("A", 2, 1));
  EXPECT_THAT(process(), ElementsAre("1.0 A n=3", "1.1 A n=2", "1.2 A n=1", "1.3 A n=0",
                                     "2.0 A n=1", "2.1 A n=0"));
  append(counted("A", 3, 100));
  EXPECT_EQ(process().size(), 17u);  // depth 16 is stored and evaluated no more
  EXPECT_EQ(processor.counters().dropped_depth, 1u);
}

TEST_F(ProcessorTest, ACountOverOwnResultsIsRecursion) {
  deploy(
      "event A(n: int); rule r: define Total(n: int) from A(n = $n) and last Total() within "
      "1 h from A where n = Total.n + $n; ");
  append({.type = "Total", .timestamp = 0, .attributes = {{"n", std::int64_t{0}}}});
  for (int i = 1; i <= 4; ++i) append(counted("A", i, i));
  const auto lines = process();
  EXPECT_EQ(lines.back(), "5.1 Total n=10");
}

TEST_F(ProcessorTest, ARunawayCycleIsBoundedByItsRoot) {
  processor = Processor({.max_composites = 50});
  deploy(
      "event A(n: int); rule a: define A(n: int) from A(n = $n) where n = $n + 1;"
      "rule b: define A(n: int) from A(n = $n) where n = $n + 2;");
  append(counted("A", 1, 0));
  append(counted("A", 2, 0));
  EXPECT_EQ(process().size(), 2u * 51u);
}

TEST_F(ProcessorTest, ARuleMayLookAtTheHistoryThatIsThere) {
  deploy(
      "event A(n: int); event B(n: int);"
      "rule first: define F(n: int) from B() and each A() within 10 from B where n = A.n;");
  append(counted("A", 1, 1));
  append(counted("A", 2, 2));
  process();
  const Diagnostics diagnostics = processor.deploy(
      "second.tesla",
      "rule second: define S(n: int) from B() and each A() within 5 from B where n = A.n;",
      {.with_history = true});
  ASSERT_FALSE(diagnostics.failed()) << diagnostics.render();
  append(counted("B", 6, 0));
  EXPECT_THAT(process(), ElementsAre("3.0 B n=0", "3.1 F n=1", "3.2 F n=2", "3.3 S n=2"));
}

TEST_F(ProcessorTest, EventsWithoutATimestampAreStampedInOrder) {
  processor = Processor({.max_ahead = 10, .clock = [] { return Timestamp{1000}; }});
  append({.type = "A"});
  append({.type = "A"});
  EXPECT_THAT(refused({.type = "A", .timestamp = 1011}), HasSubstr("ahead of the clock"));
  std::vector<Timestamp> stamps;
  processor.process([&](const OutputBatch& batch) {
    for (const auto& row : batch.rows) stamps.push_back(row.timestamp);
  });
  EXPECT_THAT(stamps, ElementsAre(1000, 1001));
}

TEST_F(ProcessorTest, ARuleSeesOnlyWhatIsLaterThanItsDeployment) {
  deploy(
      "event A(n: int); event B(n: int);"
      "rule first: define F(n: int) from B() and each A() within 1 min from B where n = A.n;");
  append(counted("A", 1, 1));
  append(counted("A", 2, 2));
  process();
  deploy("rule second: define S(n: int) from B() and each A() within 1 min from B where n = A.n;");
  append(counted("B", 2, 0));  // as old as the deployment
  append(counted("A", 3, 3));
  append(counted("B", 4, 0));
  EXPECT_THAT(process(), ElementsAre("3.0 B n=0", "3.1 F n=1", "4.0 A n=3", "5.0 B n=0",
                                     "5.1 F n=1", "5.2 F n=2", "5.3 F n=3", "5.4 S n=3"));
}

TEST_F(ProcessorTest, AFileIsDeployedAsAWholeOrNotAtAll) {
  EXPECT_THAT(refusal(std::string(kFire) + "define Bad(a: int) from Nowhere(x = $y)"
                                           " where a = $z;"),
              HasSubstr("rules/test.tesla:8:"));
  EXPECT_THAT(processor.rules(), IsEmpty());
  EXPECT_EQ(processor.schema().find("Fire"), nullptr);
}

TEST_F(ProcessorTest, RulesAreReplacedInPlaceAndRemovedByName) {
  const std::string one = "rule one: define O(n: int) from A(n = $n) where n = ";
  const std::string two = "rule two: define T(n: int) from A(n = $n) where n = 2;";
  deploy("event A(n: int);" + one + "1;" + two);
  EXPECT_THAT(refusal(one + "3;"), HasSubstr("a rule `one` is deployed already"));
  deploy(one + "3;", true);
  append(counted("A", 1, 0));
  EXPECT_THAT(process(), ElementsAre("1.0 A n=0", "1.1 O n=3", "1.2 T n=2"));

  const auto missing = processor.remove("onee");
  EXPECT_THAT(missing.error().to_string(), HasSubstr("did you mean `one`?"));
  EXPECT_FALSE(processor.remove("one").has_error());
  append(counted("A", 2, 0));
  EXPECT_THAT(process(), ElementsAre("2.0 A n=0", "2.1 T n=2"));
}

TEST_F(ProcessorTest, AReplacementMayChangeTheCompositeType) {
  deploy("event A(n: int); rule one: define O(n: int) from A() where n = 1;");
  deploy("rule one: define O(text: string) from A() where text = 'x';", true);
  append(counted("A", 1, 0));
  EXPECT_THAT(process(), ElementsAre("1.0 A n=0", "1.1 O text=x"));
}

TEST_F(ProcessorTest, AReplacedRuleStartsWithNothingConsumed) {
  const std::string rule =
      "rule r: define O(n: int) from B() and last A() within 1 min from B where n = A.n "
      "consuming A;";
  deploy("event A(n: int); event B(n: int);" + rule);
  append(counted("A", 1, 7));
  append(counted("B", 2, 0));
  append(counted("B", 3, 0));
  EXPECT_THAT(process(), ElementsAre("1.0 A n=7", "2.0 B n=0", "2.1 O n=7", "3.0 B n=0"));
  EXPECT_EQ(processor.rules()[0].composites, 1u);
  deploy(rule, true);
  EXPECT_EQ(processor.rules()[0].composites, 0u);
}

TEST_F(ProcessorTest, MemoryIsAccountedAndFlatOverADayOfEvents) {
  processor = Processor({.max_late = 0});
  deploy(
      "event A(n: int); event B(n: int); rule r: define O(n: int) "
      "from B(n = $n) and each A(n = $n) within 10 s from B and not B(n = $n) within 1 s after B "
      "where n = A.n consuming A;");
  const auto bytes = [&] {
    std::size_t total = processor.rules()[0].bytes;
    for (const auto& type : processor.types()) total += type.bytes;
    return total;
  };
  std::size_t after_an_hour = 0;
  constexpr int kDay = 24 * 3600;
  for (int second = 0; second < kDay; ++second) {
    append(counted(second % 3 == 0 ? "B" : "A", second * 1000, second % 7));
    if (second % 100 == 0) process();
    if (second == kDay / 24) after_an_hour = bytes();
  }
  process();
  EXPECT_GT(processor.rules()[0].composites, 1000u);
  EXPECT_LE(bytes(), 2 * after_an_hour);
  ASSERT_EQ(processor.types().size(), 2u);
  EXPECT_EQ(processor.types()[0].reach, 11'000 * kMillisecond);
  EXPECT_LE(processor.types()[0].events, 12u);
}

TEST_F(ProcessorTest, UnknownEnginesAreRefusedByName) {
  EXPECT_THAT(refusal("@engine(warp) define O(n: int) from A([int]n = 1) where n = 1;"),
              HasSubstr("there is no engine `warp`"));
}

TEST_F(ProcessorTest, TooManySequencesYieldNothingAndAreCounted) {
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

TEST_F(ProcessorTest, CompositesOfARootAreLimitedInPlaceOrder) {
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

TEST_F(ProcessorTest, ABatchThatCausesTooMuchIsDeliveredInParts) {
  processor = Processor({.max_held_composites = 10});
  deploy(
      "event A(n: int); event B(n: int);"
      "rule r: define O(n: int) from B() and each A() within 1 min from B where n = A.n;");
  for (int i = 1; i <= 5; ++i) append(counted("A", i, i));
  for (int i = 1; i <= 20; ++i) append(counted("B", 10 + i, i));
  EXPECT_EQ(process().size(), 25u + 20u * 5u);
  EXPECT_GE(batches, 5);
}

TEST_F(ProcessorTest, StopGivesUpTheBatch) {
  deploy(kFire);
  append(temp(1, "A", 50));
  processor.request_stop();
  EXPECT_THAT(process(), IsEmpty());
  EXPECT_EQ(processor.pending(), 0u);
}

TEST_F(ProcessorTest, DeclaringATypeTwiceMustAgree) {
  EXPECT_FALSE(processor.declare("T", {{"a", ValueType::integer}}).has_error());
  EXPECT_FALSE(processor.declare("T", {{"a", ValueType::integer}}).has_error());
  const auto differs = processor.declare("T", {{"a", ValueType::floating}});
  EXPECT_THAT(differs.error().to_string(), HasSubstr("event T(a: int);"));
  EXPECT_THAT(refused({.type = "T"}), HasSubstr("`a` is missing"));
}

}  // namespace
}  // namespace gorgo
