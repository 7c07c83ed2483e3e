#include "dispatch/rules/placement.hpp"

#include "dispatch/rules/throttle.hpp"
#include "processor_fixture.hpp"
#include "trial_fixture.hpp"

namespace gorgo {
namespace {

constexpr const char* kConsuming =
    "event A(n: int); event B(n: int); "
    "rule r: define C(n: int, m: int) from B(n = $n) and each A(n > $n - 2, n < $n + 2) "
    "within 4 s from B where n = B.n, m = A.n consuming A;";

/// Events of `A` and `B`, a millisecond apart.
Event event(int i) { return counted(i % 4 == 0 ? "B" : "A", i, (i * 7) % 1000); }

class PlacementTest : public ProcessorTest {};

TEST_F(PlacementTest, ARuleThatIsSetFreeMovesToWhatCostsLess) {
  Processor expected({.engine = "column"});
  ASSERT_FALSE(expected.deploy("t.tesla", kConsuming).failed());
  deploy(kConsuming);
  ASSERT_FALSE(processor.pin("r", "reference").has_error());
  const auto engine = [&] { return processor.rules()[0].engine; };
  std::vector<std::string> wanted, found;
  const auto run = [](Processor& p, const Event& e, std::vector<std::string>& lines) {
    ASSERT_FALSE(p.append(e).has_error());
    if (p.pending() < 64) return;
    p.process([&](const OutputBatch& batch) {
      for (const auto& row : batch.rows) {
        lines.push_back(std::to_string(row.place.root) + "." + std::to_string(row.place.ordinal) +
                        " " + std::to_string(batch.cells[row.first_cell].integer));
      }
    });
  };
  for (int i = 0; i < 40'000; ++i) {
    run(processor, event(i), found);
    run(expected, event(i), wanted);
    if (i == 6399) {
      EXPECT_EQ(engine(), "reference");
      ASSERT_FALSE(processor.pin("r", "auto").has_error());
    }
    if (i > 8000 && engine() != "reference" && found.size() > 10'000) break;
  }
  EXPECT_NE(engine(), "reference");
  EXPECT_GT(processor.rules()[0].moves, 1u);
  EXPECT_TRUE(processor.rules()[0].automatic);
  EXPECT_NE(processor.rules()[0].placed_because, "pinned");
  EXPECT_EQ(processor.rules()[0].alarm, "");
  EXPECT_EQ(found, wanted);
}

TEST_F(PlacementTest, APinnedRuleStaysAndKeepsWhatItHasConsumed) {
  deploy(
      "event A(n: int); event B(n: int); rule r: define C(n: int) from B() and each A() within 5 s "
      "from B where n = A.n consuming A;");
  EXPECT_EQ(processor.rules()[0].engine, "column");
  append(counted("A", 1, 1));
  append(counted("B", 2, 0));
  EXPECT_THAT(process(), ElementsAre("1.0 A n=1", "2.0 B n=0", "2.1 C n=1"));
  ASSERT_FALSE(processor.pin("r", "automaton").has_error());
  EXPECT_EQ(processor.rules()[0].engine, "automaton");
  EXPECT_FALSE(processor.rules()[0].automatic);
  append(counted("A", 3, 2));
  append(counted("B", 4, 0));
  EXPECT_THAT(process(), ElementsAre("3.0 A n=2", "4.0 B n=0", "4.1 C n=2"));
}

TEST_F(PlacementTest, ARuleThatItsEngineDeclinesSaysSo) {
  deploy(
      "event A(n: int); @engine(cuda-host) rule one: define One(n: int) from A() where n = A.n;");
  EXPECT_EQ(processor.rules()[0].placed_because,
            "cuda-host declines, column evaluates: it has nothing to search");
  append(counted("A", 1, 7));
  EXPECT_THAT(process(), ElementsAre("1.0 A n=7", "1.1 One n=7"));
}

TEST_F(PlacementTest, PinningSaysWhatIsWrong) {
  deploy(kFire);
  EXPECT_THAT(processor.pin("fire", "warp").error().to_string(), HasSubstr("the engines are"));
  EXPECT_THAT(processor.pin("fir", "column").error().to_string(), HasSubstr("did you mean"));
  deploy("rule one: define One(area: string) from Smoke() where area = Smoke.area;");
  EXPECT_THAT(processor.pin("one", "cuda-host").error().to_string(),
              HasSubstr("it has nothing to search"));
}

TEST(LatencyTarget, CutsBatches) {
  const auto batches = [](Duration target) {
    Processor processor({.latency_target = target});
    EXPECT_FALSE(processor.deploy("t.tesla", kConsuming).failed());
    for (int i = 0; i < 64; ++i) EXPECT_FALSE(processor.append(event(i)).has_error());
    int count = 0;
    processor.process([&](const OutputBatch&) { ++count; });
    for (int i = 64; i < 128; ++i) EXPECT_FALSE(processor.append(event(i)).has_error());
    processor.process([&](const OutputBatch&) { ++count; });
    return count;
  };
  EXPECT_EQ(batches(0), 2);
  // What the first one took is above any such target: the second has one root.
  EXPECT_GT(batches(1), 2);
}

TEST(LatencyTarget, DoesNotHoldForARuleThatIsPinnedToADevice) {
  Processor processor({.engine = "cuda-host"});
  const auto deployed = processor.deploy(
      "t.tesla",
      "event A(n: int); event B(n: int); rule r: define C(n: int) from B(n = $n) and "
      "each A(n > $n) within 1 h from B where n = A.n;");
  ASSERT_FALSE(deployed.failed());
  const auto batches = [&](const char* type, int events) {
    for (int i = 0; i < events; ++i)
      EXPECT_FALSE(processor.append(counted(type, 1, 1)).has_error());
    int count = 0;
    processor.process([&](const OutputBatch&) { ++count; });
    return count;
  };
  EXPECT_EQ(batches("A", 4032), 6);  // 64, 128, ... 2048
  EXPECT_EQ(batches("B", 4096), 1);
  // Those were 16 million pairs, so much that batches would be cut if anything was undecided.
  EXPECT_EQ(batches("B", 4096), 1);
}

TEST(Throttle, SuspendsForTheRestOfASecond) {
  dispatch::Throttle throttle;
  const dispatch::Throttle::Clock::time_point start{std::chrono::hours(1)};
  const auto at = [&](int ms) { return start + std::chrono::milliseconds(ms); };
  throttle.spend(60e6, 100'000'000, at(0));
  EXPECT_FALSE(throttle.is_used_up(at(1)));
  throttle.spend(60e6, 100'000'000, at(500));
  EXPECT_TRUE(throttle.is_used_up(at(501)));
  EXPECT_TRUE(throttle.is_used_up(at(999)));
  EXPECT_FALSE(throttle.is_used_up(at(1000)));
  throttle.spend(60e6, 100'000'000, at(1000));
  EXPECT_FALSE(throttle.is_used_up(at(1001)));
}

TEST(RuleTime, SuspendsARuleAndLeavesTheOthersAlone) {
  Processor processor({.max_rule_time = 1});
  // The second rule has no terminator but the last event.
  ASSERT_FALSE(processor
                   .deploy("t.tesla", std::string(kConsuming) +
                                          "rule s: define D(n: int) from E([int]n = 1) and "
                                          "each A() within 1 h from E where n = A.n;")
                   .failed());
  const auto ignore = [](const OutputBatch&) {};
  for (int i = 0; i < 100; ++i) {
    ASSERT_FALSE(processor.append(event(i)).has_error());
    processor.process(ignore);
  }
  EXPECT_TRUE(processor.rules()[0].suspended);
  EXPECT_GT(processor.rules()[0].passed_over, 0u);
  EXPECT_EQ(processor.rules()[0].terminators + processor.rules()[0].passed_over, 25u);
  ASSERT_FALSE(processor.append(counted("E", 100, 1)).has_error());
  processor.process(ignore);
  EXPECT_EQ(processor.rules()[1].composites, 75u);
  EXPECT_EQ(processor.rules()[1].passed_over, 0u);
  EXPECT_EQ(processor.counters().passed_over, processor.rules()[0].passed_over);
  EXPECT_EQ(processor.last_passed_over(), processor.rules()[0].name);
}

TEST(Placement, LeavesFewTerminatorsToAnotherEngine) {
  const auto& column = *engine::find_engine("column");
  const auto& scan = *engine::find_engine("column-scan");
  dispatch::Placement placement(&column, true);
  placement.at(scan);
  placement.move_to(scan, "for a test");
  EXPECT_EQ(placement.route(1).entry->engine, &scan);
  placement.leave_few_to(column, 10);
  EXPECT_EQ(placement.route(9).entry->engine, &column);
  EXPECT_EQ(placement.route(10).entry->engine, &scan);
  EXPECT_TRUE(placement.serves(column));
  placement.leave_none();
  EXPECT_EQ(placement.route(1).entry->engine, &scan);
  EXPECT_FALSE(placement.serves(column));
}

TEST(Placement, KnowsHowManyTerminatorsComeAtATime) {
  dispatch::Placement placement(engine::find_engine("column"), true);
  const auto some = [&](int one_in, std::size_t few, std::size_t many) {
    for (int i = 0; i < 4000; ++i) placement.route(i % one_in == 0 ? few : many);
  };
  some(100, 1, 1000);
  EXPECT_GT(placement.batch(), 500);
  EXPECT_GT(placement.small_batch(), 100);
  some(10, 1, 1000);
  EXPECT_GT(placement.batch(), 500);
  EXPECT_LT(placement.small_batch(), 10);
}

TEST(Placement, CountsMoves) {
  const auto& column = *engine::find_engine("column");
  const auto& scan = *engine::find_engine("column-scan");
  dispatch::Placement placement(&column, true);
  placement.move_to(column, "it was there");
  EXPECT_EQ(placement.moves(), 0u);
  placement.move_to(scan, "for good");
  EXPECT_EQ(placement.arrangement().engine, &scan);
  EXPECT_EQ(placement.moves(), 1u);
  EXPECT_EQ(placement.reason(), "for good");
}

TEST_F(TrialTest, ARuleStaysWhereItCostsLess) {
  try_out(1);
  EXPECT_EQ(placement().engine().name(), "reference");
  EXPECT_EQ(placement().moves(), 0u);
  EXPECT_NE(placement().reason(), "");
  EXPECT_THAT(alarms_, IsEmpty());
}

TEST_F(TrialTest, ARuleMovesToWhatCostsLess) {
  try_out(1e12);
  EXPECT_EQ(placement().engine().name(), "column");
  EXPECT_EQ(placement().moves(), 1u);
  EXPECT_TRUE(is_on_proof(0));
  EXPECT_THAT(alarms_, IsEmpty());
}

TEST_F(TrialTest, ARuleStaysWhereItCostsNoMoreThanBefore) {
  try_out(100e6);  // a million nanoseconds a terminator
  ASSERT_TRUE(is_on_proof(0));
  run(60, 1000);
  EXPECT_FALSE(is_on_proof(0));
  EXPECT_EQ(placement().engine().name(), "column");
}

TEST_F(TrialTest, ARuleGoesBackWhereItCostsMoreThanBefore) {
  try_out(100e6);
  ASSERT_TRUE(is_on_proof(0));
  run(60, 2e6);
  EXPECT_FALSE(is_on_proof(0));
  EXPECT_EQ(placement().engine().name(), "reference");
  EXPECT_THAT(placement().reason(), HasSubstr("before"));
  EXPECT_EQ(placement().moves(), 2u);
}

TEST_F(TrialTest, SeveralRulesAreTriedAtATime) {
  begin_trial();
  for (int i = 0; i < 100 && !placer_.is_tried(1); ++i) {
    observe_other();
    settle(1e6);
  }
  EXPECT_TRUE(placer_.is_tried(1));
  EXPECT_TRUE(placer_.is_tried(0));
  go_on(evaluated(1e12));
  settle(1e6);
  EXPECT_EQ(placement().engine().name(), "column");
  EXPECT_EQ(rules_.rule(1).placement.engine().name(), "reference");
  EXPECT_TRUE(placer_.is_tried(1));
}

class RoundTest : public TrialTest {
 protected:
  RoundTest()
      : TrialTest("column", {.choices = {"column", "automaton", "cuda-host"}, .threads = 4}) {
    EXPECT_EQ(engine::find_engine("cuda-host")->reason_to_decline(*rule().plan), "");
  }
};

TEST_F(RoundTest, AllEnginesAreTriedBeforeTheRuleIsLeftAlone) {
  const auto is_measured = [&](const char* engine) {
    return placement().at(*engine::find_engine(engine)).estimate.has_value();
  };
  settle(500e6);  // in which only devices are tried
  for (int trial = 0; trial < 2; ++trial) {
    EXPECT_FALSE(is_measured("automaton") && is_measured("cuda-host"));
    try_out(1);
  }
  EXPECT_TRUE(is_measured("automaton") && is_measured("cuda-host"));
  EXPECT_EQ(placement().engine().name(), "column");
}

TEST_F(RoundTest, WhatADeviceHasEvaluatedCountsHoweverLongItTook) {
  for (const char* name : {"cuda-host", "automaton"}) {
    const engine::Engine& engine = *engine::find_engine(name);
    dispatch::EngineEntry& entry = placement().at(engine);
    entry.evaluators.push_back(engine.prepare(rule().plan, history_));
    dispatch::TrialEvaluation trial;
    ASSERT_TRUE(trial.remember(rule()));
    trial.evaluate(rule(), entry, all(), {}, 1);
    EXPECT_EQ(trial.done(), engine.is_device() ? terminators_.size() : 1) << name;
  }
}

class LateTest : public TrialTest {
 protected:
  explicit LateTest(const std::string& engine = "automaton")
      : TrialTest(engine, {.choices = {"column", "automaton"}}) {
    settle(500e6);  // in which only devices are tried
  }

  /// The rule takes much time, and meanwhile so many of 100 events are late.
  void run_late(int late) {
    for (int i = 0; i < 100; ++i) append(i < late ? 1 : now_++);
    for (int i = 0; i < 10; ++i) {
      placer_.place(number_, terminators_.size());
      rules_.state(number_).terminators += terminators_.size();
      placer_.observe(number_, placement().entry(), terminators_.size(), 10e6);
      settle(100e6);
    }
  }

 private:
  Timestamp now_ = 1000;

  void append(Timestamp timestamp) {
    const Datum cell = Datum::of(std::int64_t{1});
    history_.append(rules_.schema().find("A")->id, timestamp, 1000, {&cell, 1});
    history_.settle();
  }
};

TEST_F(LateTest, ARuleLeavesAnEngineThatDoesNotBearThem) {
  run_late(0);
  EXPECT_EQ(placement().engine().name(), "automaton");
  run_late(20);
  EXPECT_EQ(placement().engine().name(), "column");
  EXPECT_THAT(placement().reason(), HasSubstr("late"));
  run(100, 1e9);  // it costs more there, and stays
  EXPECT_EQ(placement().engine().name(), "column");
}

class LateColumnTest : public LateTest {
 protected:
  LateColumnTest() : LateTest("column") {}
};

TEST_F(LateColumnTest, AnEngineThatDoesNotBearThemIsNotTried) {
  for (int i = 0; i < 20; ++i) run_late(20);
  EXPECT_FALSE(placer_.is_tried(number_));
  for (int i = 0; i < 20 && !placer_.is_tried(number_); ++i) run_late(0);
  EXPECT_TRUE(placer_.is_tried(number_));
  run_late(20);
  EXPECT_FALSE(placer_.is_tried(number_));
}

TEST_F(TrialTest, ARuleThatIsPinnedIsNotTriedHoweverLongItTakes) {
  set_automatic(false);
  for (int i = 0; i < 100; ++i) {
    placer_.place(0, terminators_.size());
    placer_.observe(0, placement().entry(), terminators_.size(), 10e6);
    settle(1e6);
  }
  EXPECT_FALSE(placer_.is_trying());
  placement().set_automatic(true);
  begin_trial();
  EXPECT_TRUE(placer_.is_trying());
}

/// An evaluator of which only the upkeep is asked.
struct Kept final : engine::Evaluator {
  explicit Kept(const double& so_far) : so_far_(so_far) {}

  bool is_absent(std::uint32_t, std::span<const history::EventRef>,
                 const engine::RuleState&) override {
    return false;
  }
  std::size_t bytes() const override { return 0; }
  double upkeep() override { return so_far_; }

 private:
  const double& so_far_;
};

TEST(EngineEntry, WhatWasKeptBeforeCountsNotForFurtherEvaluators) {
  double so_far = 1e9;
  dispatch::EngineEntry entry(engine::find_engine("column"));
  entry.evaluators.push_back(std::make_unique<Kept>(so_far));
  entry.note_upkeep(0);
  so_far += 100;
  entry.note_upkeep(10);
  EXPECT_EQ(entry.upkeep.per_terminator(), 10);
  entry.evaluators.push_back(std::make_unique<Kept>(so_far));
  so_far += 100;
  entry.note_upkeep(30);
  EXPECT_EQ(entry.upkeep.per_terminator(), 10);
}

TEST_F(TrialTest, AnEngineThatTakesInTooLongGivesUpAndBeginsAnew) {
  const engine::Engine& automaton = *engine::find_engine("automaton");
  const auto evaluator = automaton.prepare(rule().plan, history_);
  engine::CompositeSink sink;
  engine::Request request{.evaluator = evaluator.get(),
                          .rule = &rule().rule(),
                          .state = &rules_.state(0),
                          .terminators = all(),
                          .sink = &sink};
  const auto over = std::chrono::steady_clock::now() - std::chrono::seconds(1);
  request.terminators.slots = std::span(terminators_).last(1);
  automaton.evaluate({&request, 1}, {.until = over});
  EXPECT_EQ(request.done, 0u);
  sink.clear();
  request.terminators = all();
  automaton.evaluate({&request, 1}, {});
  EXPECT_EQ(request.done, terminators_.size());
  EXPECT_EQ(sink.size(), sink_.size());
}

TEST_F(TrialTest, ATrialOfAQuietRuleIsGivenUp) {
  begin_trial();
  settle(1e9);
  EXPECT_TRUE(placer_.is_tried(0));
  settle(2e9);
  EXPECT_FALSE(placer_.is_tried(0));
  EXPECT_EQ(placement().engine().name(), "reference");
}

TEST_F(TrialTest, AMissingCompositeRaisesTheAlarm) {
  disagree();
  ASSERT_EQ(alarms_.size(), 1u);
  const EngineAlarm& alarm = alarms_[0];
  EXPECT_EQ(alarm.rule, "r");
  EXPECT_THAT(alarm.difference,
              HasSubstr("reference and column disagree: of the terminator at 5 ns"));
  EXPECT_THAT(alarm.difference, HasSubstr("@0.000005 C(n=2) against @0.000005 C(n=0)"));
  EXPECT_EQ(placement().engine().name(), "column");
  EXPECT_FALSE(placement().is_automatic());
  EXPECT_FALSE(placer_.is_tried(0));
  EXPECT_EQ(placement().alarm(), alarm.difference);
}

TEST_F(TrialTest, TheReportOfAnAlarmIsARuleTest) {
  disagree();
  ASSERT_EQ(alarms_.size(), 1u);
  std::istringstream report(alarms_[0].report);
  std::vector<std::string> lines;
  for (std::string line; std::getline(report, line);) lines.push_back(line);
  EXPECT_THAT(lines, ::testing::IsSupersetOf(std::vector<std::string>{
                         "rules:", "  event A(n: int);", "  event B(n: int);", "events:",
                         "  @0 A(n=0)", "  @0.000001 B(n=1)", "  @0.000005 B(n=0)", "expect:"}));
  EXPECT_THAT(alarms_[0].report, HasSubstr("define C(n: int) from B(n = $n)"));
  EXPECT_EQ(std::ranges::count_if(lines, [](const auto& line) { return line.starts_with("  @"); }),
            6);
}

}  // namespace
}  // namespace gorgo
