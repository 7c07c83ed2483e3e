#include "dispatch/placement/attempt.hpp"

#include "trial_fixture.hpp"

namespace gorgo {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::Gt;
using ::testing::Lt;

/// Whatever it costs, the rule goes to a device, and is then tried with both.
class SharingTest : public TrialTest {
 protected:
  SharingTest()
      : TrialTest("column", {.gain = 1e12, .choices = {"column", "cuda-host"}, .threads = 4}) {
    // This opens the device.
    EXPECT_EQ(engine::find_engine("cuda-host")->declined(*rule().plan), "");
    begin_trial();
    for (int i = 0; i < 100 && placer_.is_tried(0); ++i) go_on(outcome(), 1e6);
    begin_attempt();
  }

  /// Batches of so many terminators that any gain is much, which take so many milliseconds in all
  /// on one engine, and so many on both, until the attempt is over.
  void attempt(double alone, double shared) {
    for (int i = 0; i < 1000 && placer_.is_attempting(); ++i) {
      rule().state.terminators += 1'000'000'000;
      placer_.add_time((placement().share() > 0 ? shared : alone) * 1e6);
    }
    ASSERT_FALSE(placer_.is_attempting());
  }
};

TEST_F(SharingTest, ADeviceAndTheThreadsShareARuleWhenThatIsFaster) {
  ASSERT_EQ(placement().engine().name(), "cuda-host");
  ASSERT_TRUE(placer_.is_attempting());
  EXPECT_EQ(placement().share(), 0);
  attempt(4, 2);
  EXPECT_GT(placement().share(), 0);
  EXPECT_EQ(placement().home().to_string(), "cuda-host and column");
  EXPECT_THAT(placement().reason(), EndsWith("under cuda-host and column"));
  const auto places = placer_.place(0, 1000);
  EXPECT_EQ(places.post->engine->name(), "cuda-host");
  ASSERT_NE(places.reserve, nullptr);
  EXPECT_EQ(places.reserve->engine->name(), "column");
  EXPECT_THAT(places.own, AllOf(Gt(0u), Lt(1000u)));
  EXPECT_FALSE(places.reserve->evaluators.empty());
}

/// The threads evaluate the rule in no time and keep it, but any gain is worth an attempt with
/// both.
class SharedAttemptTest : public TrialTest {
 protected:
  SharedAttemptTest()
      : TrialTest("column", {.gain = 1, .choices = {"column", "cuda-host"}, .threads = 4}) {
    EXPECT_EQ(engine::find_engine("cuda-host")->declined(*rule().plan), "");
    begin_trial();
    const auto in_no_time = static_cast<double>(terminators_.size());
    for (int i = 0; i < 100 && placer_.is_tried(0); ++i) go_on(outcome(), in_no_time);
    EXPECT_EQ(placement().engine().name(), "column");
    begin_attempt();
    EXPECT_TRUE(placer_.is_attempting());
  }

  /// A batch takes so many milliseconds in all, for each arrangement.
  void step(double column, double device, double both) {
    rule().state.terminators += 4'000'000'000'000;
    const bool on_device = placement().engine().name() == "cuda-host";
    placer_.add_time((placement().share() > 0 ? both : on_device ? device : column) * 1e6);
  }
};

TEST_F(SharedAttemptTest, BothHaveWhatTheThreadsHeldWhereThatIsFasterThanTheDeviceAlone) {
  for (int i = 0; i < 1000 && placer_.is_attempting(); ++i) step(4, 3.9, 2);
  EXPECT_FALSE(placer_.is_attempting());
  EXPECT_EQ(placement().home().to_string(), "cuda-host and column");
}

TEST_F(SharedAttemptTest, TheDeviceAloneIsTriedBesideWhatIsShared) {
  for (int i = 0; i < 1000 && placement().home().reserve == nullptr; ++i) step(4, 4, 2.5);
  ASSERT_EQ(placement().home().to_string(), "cuda-host and column");
  for (int i = 0; i < 1000 && placer_.is_attempting(); ++i) step(4, 1.5, 2.5);
  EXPECT_EQ(placement().home().to_string(), "cuda-host");
  EXPECT_THAT(placement().reason(), EndsWith("under cuda-host"));
}

TEST_F(SharingTest, SharingEndsWhenItIsNotFaster) {
  attempt(4, 3.95);
  EXPECT_EQ(placement().share(), 0);
  EXPECT_EQ(placement().engine().name(), "cuda-host");
}

TEST_F(SharingTest, WhatIsAttemptedIsNoMove) {
  const std::uint64_t moves = placement().moves();
  for (int i = 0; i < 1000 && placement().share() == 0; ++i) {
    rule().state.terminators += 1'000'000'000;
    placer_.add_time(4e6);
  }
  EXPECT_GT(placement().share(), 0);
  EXPECT_EQ(placement().home().to_string(), "cuda-host");
  EXPECT_EQ(placement().moves(), moves);
}

TEST_F(SharingTest, SharesFollowTheSpeeds) {
  attempt(4, 2);
  for (int i = 0; i < 100; ++i) placer_.balance(0, 3, 1);
  EXPECT_NEAR(placement().share(), 0.25, 1e-6);
  for (int i = 0; i < 100; ++i) placer_.balance(0, 3, 9);
  EXPECT_NEAR(placement().share(), 0.75, 1e-6);
}

TEST_F(SharingTest, SharingEndsWhenOneOfTheEnginesBecomesSlow) {
  attempt(4, 2);
  ASSERT_GT(placement().share(), 0);
  for (int i = 0; i < 100; ++i) placer_.balance(0, 100, 1);
  placer_.observe(0, placement().post(), 1000, 10e6);
  settle(1e9, 1'000'000);
  EXPECT_EQ(placement().share(), 0);
  EXPECT_EQ(placement().engine().name(), "cuda-host");
}

TEST_F(SharingTest, BetweenTurnsADeviceStaysPreparedAndAnIndexDoesNot) {
  attempt(4, 3.95);
  const auto evaluators = [&](const char* engine) {
    return placement().at(*engine::find_engine(engine)).evaluators.size();
  };
  // Trials of the way back, until one is followed by an attempt.
  for (int i = 0; i < 100 && !placer_.is_attempting(); ++i) {
    begin_trial();
    while (placer_.is_tried(0)) go_on(outcome(), 1e9);
    begin_attempt();
  }
  ASSERT_TRUE(placer_.is_attempting());
  EXPECT_EQ(evaluators("column"), 0u);
  const auto turn_to = [&](const char* engine) {
    for (int i = 0; i < 100 && placement().engine().name() != engine; ++i) {
      ++rule().state.terminators;
      placer_.add_time(10e6);
    }
    EXPECT_EQ(placement().engine().name(), engine);
  };
  turn_to("column");
  EXPECT_GT(evaluators("cuda-host"), 0u);
  EXPECT_EQ(placement().home().to_string(), "cuda-host");
  turn_to("cuda-host");
  EXPECT_EQ(evaluators("column"), 0u);
}

/// Two rules that the threads evaluate in no time, and that stay by themselves.
class TogetherTest : public TrialTest {
 protected:
  TogetherTest() : TrialTest("column", {.choices = {"column", "cuda-host"}, .threads = 4}) {
    EXPECT_EQ(engine::find_engine("cuda-host")->declined(*rule().plan), "");
    begin_trial();
    const auto in_no_time = static_cast<double>(terminators_.size());
    for (int i = 0; i < 1000 && !placer_.is_attempting(); ++i) {
      for (std::uint32_t r = 0; r < 2; ++r) {
        placer_.place(r, terminators_.size());
        if (!placer_.is_tried(r)) continue;
        evaluate(r);
        placer_.try_elsewhere(r, all(), outcome(), in_no_time);
      }
      settle(1e6, 20'000 + i);
    }
  }

  /// A batch takes so many milliseconds in all, on one engine and the other.
  void step(double column, double device) {
    for (auto& rule : rules_.rules()) rule.state.terminators += 1000;
    placer_.add_time((engine_of(0) == "cuda-host" ? device : column) * 1e6);
  }
  std::string engine_of(std::uint32_t index) {
    return std::string(rules_.rules()[index].placement.engine().name());
  }
};

TEST_F(TogetherTest, RulesMoveTogetherWhereThatIsFaster) {
  ASSERT_TRUE(placer_.is_attempting());
  for (int i = 0; i < 1000 && placer_.is_attempting(); ++i) {
    step(4, 2);
    EXPECT_EQ(engine_of(0), engine_of(1));
  }
  EXPECT_FALSE(placer_.is_attempting());
  for (auto& rule : rules_.rules()) {
    EXPECT_EQ(rule.placement.home().to_string(), "cuda-host");
    EXPECT_EQ(rule.placement.moves(), 1u);
    EXPECT_EQ(rule.placement.few(), 0u);
    EXPECT_THAT(rule.placement.reason(), EndsWith("under cuda-host"));
  }
}

TEST_F(TogetherTest, RulesGoBackWhereItIsNot) {
  ASSERT_TRUE(placer_.is_attempting());
  bool has_been_away = false;
  for (int i = 0; i < 1000 && placer_.is_attempting(); ++i) {
    step(4, 4);
    has_been_away |= engine_of(1) == "cuda-host";
  }
  EXPECT_TRUE(has_been_away);
  EXPECT_FALSE(placer_.is_attempting());
  for (auto& rule : rules_.rules()) {
    EXPECT_EQ(rule.placement.home().to_string(), "column");
    EXPECT_EQ(rule.placement.engine().name(), "column");
    EXPECT_EQ(rule.placement.moves(), 0u);
  }
}

class QuietTest : public TrialTest {
 protected:
  QuietTest() : TrialTest("column", {.choices = {"column", "cuda-host"}, .threads = 4}) {
    EXPECT_EQ(engine::find_engine("cuda-host")->declined(*rule().plan), "");
  }
};

/// An attempt has engines prepared for the rule and withdrawn again.
TEST_F(QuietTest, NothingIsTriedForARuleThatIsAttempted) {
  begin_trial();
  for (int i = 0; i < 10 && !placer_.is_tried(1); ++i) {
    placer_.place(1, terminators_.size());
    placer_.observe(1, rules_.rules()[1].placement.post(), terminators_.size(), 10e6);
    settle(1e5, 10'000 + i);
  }
  ASSERT_TRUE(placer_.is_tried(1));
  for (int i = 0; i < 100 && placer_.is_tried(0); ++i) go_on(outcome(), 1);
  for (int i = 0; i < 200 && !placer_.is_attempting(); ++i) settle(1e6, 20'000 + i);
  ASSERT_TRUE(placer_.is_attempting());
  EXPECT_FALSE(placer_.is_tried(1));
}

TEST_F(TogetherTest, ARuleThatIsPinnedMeanwhileStays) {
  ASSERT_TRUE(placer_.is_attempting());
  for (int i = 0; i < 1000 && engine_of(0) == "column"; ++i) step(4, 2);
  for (auto& rule : rules_.rules()) ASSERT_EQ(rule.placement.engine().name(), "cuda-host");
  placement().move_to(*engine::find_engine("column"), "by hand");
  placement().set_automatic(false);
  step(4, 2);
  EXPECT_FALSE(placer_.is_attempting());
  EXPECT_EQ(engine_of(0), "column");
  EXPECT_EQ(engine_of(1), "column");
}

class AttemptTest : public ::testing::Test {
 protected:
  using Verdict = dispatch::Attempt::Verdict;
  const engine::Engine& column_ = *engine::find_engine("column");
  const engine::Engine& device_ = *engine::find_engine("cuda-host");

  /// The next verdict but `go_on`, where a terminator takes so many nanoseconds.
  Verdict next(dispatch::Attempt& attempt, double each) {
    Verdict last = Verdict::go_on;
    while (last == Verdict::go_on) last = attempt.add(each * 2000, terminators_ += 2000);
    return last;
  }
  /// The verdict when a terminator takes so long before, and so long in each of the turns after.
  Verdict verdict(double before, const std::vector<double>& after) {
    dispatch::Attempt attempt(0, {&column_}, {&device_}, {1000, 0}, terminators_);
    Verdict last = Verdict::take_turns;
    for (const double each : after) {
      EXPECT_EQ(next(attempt, before), Verdict::take_turns);
      EXPECT_TRUE(attempt.has_begun());
      EXPECT_EQ(attempt.turn().engine, &device_);
      last = next(attempt, each);
      if (last != Verdict::take_turns) break;
      EXPECT_EQ(attempt.turn().engine, &column_);
    }
    return last;
  }

  std::uint64_t terminators_ = 0;
};

TEST_F(AttemptTest, ComparesTheTimeOfEverything) {
  EXPECT_EQ(verdict(1000, {800, 800, 800}), Verdict::keep);
  EXPECT_EQ(verdict(1000, std::vector<double>(24, 980)), Verdict::give_up);
  EXPECT_EQ(verdict(1000, {2000}), Verdict::give_up);
}

TEST_F(AttemptTest, GoesOnUntilTurnsLeaveNoDoubt) {
  EXPECT_EQ(verdict(1000, {850}), Verdict::take_turns);
  EXPECT_EQ(verdict(1000, {850, 850}), Verdict::keep);
  EXPECT_EQ(verdict(1000, {850, 990, 850, 990}), Verdict::take_turns);
  EXPECT_EQ(verdict(1000, {850, 990, 850, 990, 850, 990, 850, 990, 850, 990}), Verdict::keep);
  EXPECT_EQ(verdict(1000, {940, 940}), Verdict::take_turns);
  EXPECT_EQ(verdict(1000, {940, 940, 940, 940, 940, 940, 940}), Verdict::keep);
  EXPECT_EQ(verdict(1000, {950, 1050, 950, 1050, 950, 1050, 950, 1050}), Verdict::give_up);
  EXPECT_EQ(verdict(1000, {850, 9000, 850, 850}), Verdict::take_turns);
}

TEST_F(AttemptTest, OneTurnThatIsMuchBetterIsEnough) {
  EXPECT_EQ(verdict(1000, {700}), Verdict::keep);
}

TEST_F(AttemptTest, ASlowStepDoesNotMatter) {
  dispatch::Attempt attempt(0, {&column_}, {&device_}, {1000, 0}, terminators_);
  ASSERT_EQ(next(attempt, 1000), Verdict::take_turns);
  for (int step = 0; step < 4; ++step) {
    ASSERT_EQ(attempt.add(1e6, terminators_ += 2000), Verdict::go_on);
  }
  ASSERT_EQ(attempt.add(90e6, terminators_ += 2000), Verdict::go_on);
  EXPECT_EQ(next(attempt, 500), Verdict::keep);
}

TEST_F(AttemptTest, ATurnInWhichAnEngineGetsReadyBeginsAnew) {
  dispatch::Attempt attempt(0, {&column_}, {&device_}, {1000, 0}, terminators_);
  ASSERT_EQ(next(attempt, 1000), Verdict::take_turns);
  for (int step = 0; step < 10; ++step) {
    ASSERT_EQ(attempt.add(2e6, terminators_ += 2000), Verdict::go_on);
    attempt.pass(terminators_ += 2000);
  }
  EXPECT_EQ(next(attempt, 500), Verdict::keep);
}

TEST_F(AttemptTest, SaysWhatItHasCost) {
  dispatch::Attempt attempt(0, {&column_}, {&device_}, {1000, 0}, 0);
  ASSERT_EQ(next(attempt, 1000), Verdict::take_turns);
  EXPECT_EQ(attempt.loss(), 0);
  ASSERT_EQ(next(attempt, 2000), Verdict::give_up);
  EXPECT_GT(attempt.loss(), 10e6);
  EXPECT_LT(attempt.loss(), 20e6);
}

TEST_F(AttemptTest, IsNotMadeForLittle) {
  dispatch::Attempt attempt(0, {&column_}, {&device_}, {100, 0}, 0);
  EXPECT_EQ(next(attempt, 1000), Verdict::give_up);
  EXPECT_FALSE(attempt.has_begun());
  EXPECT_EQ(
      attempt.result(),
      "1.00 us a terminator with all that happens under column, of which cuda-host could save "
      "100 ns");
}

TEST_F(AttemptTest, IsNotMadeWhereItCannotBeFaster) {
  dispatch::Attempt attempt(0, {&column_}, {&device_}, {1000, 900}, 0);
  EXPECT_EQ(next(attempt, 1000), Verdict::give_up);
  EXPECT_FALSE(attempt.has_begun());
}

TEST_F(AttemptTest, EndsForAQuietRule) {
  dispatch::Attempt attempt(0, {&column_}, {&device_}, {1000, 0}, 0);
  Verdict last = Verdict::go_on;
  while (last == Verdict::go_on) last = attempt.add(1e6, 0);
  EXPECT_EQ(last, Verdict::give_up);
}

TEST_F(AttemptTest, ADeviceAndThreadsWorkSideBySide) {
  EXPECT_DOUBLE_EQ(dispatch::shared_cost(100, 300), 75);
  const auto& automaton = *engine::find_engine("automaton");
  const auto both = dispatch::side_by_side(column_, device_);
  ASSERT_TRUE(both.has_value());
  EXPECT_EQ(both->engine, &device_);
  EXPECT_EQ(both->reserve, &column_);
  EXPECT_EQ(both->to_string(), "cuda-host and column");
  EXPECT_FALSE(dispatch::side_by_side(automaton, device_).has_value());
  EXPECT_FALSE(dispatch::side_by_side(column_, automaton).has_value());
}

}  // namespace
}  // namespace gorgo
