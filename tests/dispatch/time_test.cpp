#include "processor_fixture.hpp"

namespace gorgo {
namespace {

class TimeTest : public ProcessorTest {};

TEST_F(TimeTest, LateEventsAreAcceptedUntilMaxLate) {
  processor = Processor({.max_late = 10 * kMillisecond});
  append(counted("A", 50, 1));
  append(counted("A", 50, 2));
  append(counted("A", 40, 3));
  EXPECT_THAT(refused(counted("A", 39, 4)),
              HasSubstr("39 ms is more than 10 ms behind the clock, 50 ms"));
  EXPECT_EQ(processor.counters().late, 1u);
}

TEST_F(TimeTest, ALateEventIsSeenByLaterTerminatorsOnly) {
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

TEST_F(TimeTest, LatenessPutsEventsInOrder) {
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

TEST_F(TimeTest, FlushReleasesWhatIsHeldAndLeavesDeadlinesPending) {
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

TEST_F(TimeTest, AHeldEventThatNoLongerFitsItsTypeIsStillDelivered) {
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

TEST_F(TimeTest, AbsenceFiresDirectlyBeforeTheEventThatReachesTheDeadline) {
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

TEST_F(TimeTest, AnEventAtTheDeadlineComesTooLateToPreventIt) {
  deploy(kAbsence);
  append(counted("A", 0, 1));
  append(counted("B", 30, 1));
  EXPECT_THAT(process(), ElementsAre("1.0 A n=1", "2.1 Miss n=1", "3.0 B n=1"));
}

TEST_F(TimeTest, ALateTerminatorWithItsDeadlineOverIsDecidedAtOnce) {
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

TEST_F(TimeTest, ALateTerminatorIsDecidedBeforeTheLateEventsBehindIt) {
  deploy(
      "event A(n: int); event B(n: int); event X(n: int);"
      "rule r: define O(n: int) from A() and not B() within 5 ms after A where n = A.n;");
  append(counted("X", 100, 0));
  append(counted("B", 41, 0));
  append(counted("A", 10, 1));
  append(counted("B", 12, 0));
  append(counted("A", 11, 2));
  append(counted("A", 40, 3));
  EXPECT_THAT(process(), ElementsAre("1.0 X n=0", "2.0 B n=0", "3.0 A n=1", "3.1 O n=1",
                                     "4.0 B n=0", "5.0 A n=2", "6.0 A n=3"));
}

TEST_F(TimeTest, ALateTerminatorThatAnotherRuleMakesIsDecidedBeforeTheEventsBehindIt) {
  deploy(
      "event A(n: int); event B(n: int); event C(n: int); event X(n: int);"
      "rule made: define M(n: int) from A or C() as T where n = T.n;"
      "rule again: define N(n: int) from M() where n = M.n;"
      "rule r: define O(n: int) from N() and not B() within 5 ms after N where n = N.n;");
  append(counted("X", 100, 0));
  append(counted("A", 10, 1));
  append(counted("B", 12, 0));
  append(counted("C", 20, 2));
  append(counted("B", 21, 0));
  EXPECT_THAT(process(), ElementsAre("1.0 X n=0", "2.0 A n=1", "2.1 M n=1", "2.2 N n=1",
                                     "2.3 O n=1", "3.0 B n=0", "4.0 C n=2", "4.1 M n=2",
                                     "4.2 N n=2", "4.3 O n=2", "5.0 B n=0"));
}

TEST_F(TimeTest, TheEndOfTheInputLetsDeadlinesPass) {
  deploy(kAbsence);
  append(counted("A", 0, 1));
  EXPECT_THAT(process(), ElementsAre("1.0 A n=1"));
  std::size_t fired = 0;
  processor.finish([&](const OutputBatch& batch) { fired += batch.rows.size(); });
  EXPECT_EQ(fired, 1u);
}

TEST_F(TimeTest, RulesThatFeedEachOtherThroughDeadlinesAreBounded) {
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

TEST_F(TimeTest, RemovingARuleDiscardsItsDeadlines) {
  deploy(kAbsence);
  append(counted("A", 0, 1));
  process();
  ASSERT_FALSE(processor.remove("r").has_error());
  ASSERT_FALSE(processor.tick(kMillisecond * 100).has_error());
  EXPECT_THAT(process(), IsEmpty());
}

TEST_F(TimeTest, TimersFireAtMultiplesOfTheirPeriodBeforeTheEventThatPassesThem) {
  deploy(
      "event A(n: int); rule t: define T(n: int, at: int) from Timer(every = 10 ms) where "
      "n = Count(A() within 20 ms from Timer), at = Timer.timestamp / 1000000;");
  append(counted("A", 10, 1));  // the first event: nothing before it, nor at it
  append(counted("A", 20, 1));
  append(counted("A", 45, 1));
  EXPECT_THAT(process(), ElementsAre("1.0 A n=1", "2.1 T n=1 at=20", "3.0 A n=1", "4.1 T n=1 at=30",
                                     "5.1 T n=0 at=40", "6.0 A n=1"));
}

TEST_F(TimeTest, OfALongGapOnlyTheLatestInstantsFire) {
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

TEST_F(TimeTest, EventsWithoutATimestampAreStampedInOrder) {
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

}  // namespace
}  // namespace gorgo
