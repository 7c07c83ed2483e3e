#include "trial_fixture.hpp"

namespace gorgo {
namespace {

using ::testing::AllOf;
using ::testing::Gt;
using ::testing::Lt;

class DeviceTest : public TrialTest {
 protected:
  /// `sharing`: see Placer::Options.
  explicit DeviceTest(double sharing)
      : TrialTest("column",
                  {.sharing = sharing, .choices = {"column", "cuda-host"}, .threads = 4}) {
    // This opens the device.
    EXPECT_EQ(engine::find_engine("cuda-host")->declined(*rule().plan), "");
  }

  std::string engine_of(std::uint32_t index) {
    return rules_.rule(index).placement.arrangement().to_string();
  }
};

/// What the device takes in a trial is measured, so the threads take so long that the device is the
/// faster one even on a busy machine. It proves to be, and then the threads are to
/// share the rule, whatever that promises.
class SharingTest : public DeviceTest {
 protected:
  SharingTest() : DeviceTest(1e12) {
    try_out(1e9);
    EXPECT_EQ(engine_of(0), "cuda-host");
    for (int i = 0; i < 40 && engine_of(0) == "cuda-host"; ++i) run(2, kOnTheDevice);
    for (int i = 0; i < 100; ++i) placer_.balance(0, 1, 1);
  }

  static constexpr double kOnTheDevice = 100;  // nanoseconds a terminator
};

TEST_F(SharingTest, ADeviceAndTheThreadsShareARuleOfWhichNeitherIsMuchTheFaster) {
  ASSERT_EQ(engine_of(0), "cuda-host and column");
  EXPECT_TRUE(placer_.is_on_probation(0));
  EXPECT_THAT(placement().share(), AllOf(Gt(0), Lt(1)));
  const auto routing = placer_.place(0, 1000);
  EXPECT_EQ(routing.entry->engine->name(), "cuda-host");
  ASSERT_NE(routing.reserve, nullptr);
  EXPECT_EQ(routing.reserve->engine->name(), "column");
  EXPECT_THAT(routing.own, AllOf(Gt(0u), Lt(1000u)));
  EXPECT_FALSE(routing.reserve->evaluators.empty());
}

TEST_F(SharingTest, SharingEndsWhereItCostsMoreThanTheDeviceAlone) {
  ASSERT_EQ(engine_of(0), "cuda-host and column");
  run(80, 4 * kOnTheDevice);  // of each side, and less than on the threads
  EXPECT_EQ(engine_of(0), "cuda-host");
  EXPECT_FALSE(placer_.is_on_probation(0));
}

/// The threads are the faster ones.
class FastThreadsTest : public DeviceTest {
 protected:
  FastThreadsTest() : DeviceTest(1e12) { try_out(1); }
};

TEST_F(FastThreadsTest, SharingEndsWhereItCostsMoreThanTheThreadsAlone) {
  ASSERT_EQ(engine_of(0), "cuda-host and column");
  run(80, 1e6);
  EXPECT_EQ(engine_of(0), "column");
  EXPECT_FALSE(placer_.is_on_probation(0));
}

TEST_F(SharingTest, SharesFollowTheSpeeds) {
  ASSERT_EQ(engine_of(0), "cuda-host and column");
  for (int i = 0; i < 100; ++i) placer_.balance(0, 3, 1);
  EXPECT_NEAR(placement().share(), 0.25, 1e-6);
  for (int i = 0; i < 100; ++i) placer_.balance(0, 3, 9);
  EXPECT_NEAR(placement().share(), 0.75, 1e-6);
}

TEST_F(SharingTest, SharingEndsWhenOneOfTheEnginesBecomesSlow) {
  ASSERT_EQ(engine_of(0), "cuda-host and column");
  run(80, 1);  // it stays
  ASSERT_FALSE(placer_.is_on_probation(0));
  ASSERT_EQ(engine_of(0), "cuda-host and column");
  for (int i = 0; i < 100; ++i) placer_.balance(0, 100, 1);
  run(10, 1);
  EXPECT_EQ(engine_of(0), "cuda-host");
}

/// Two rules that stay where they are by themselves.
class TogetherTest : public DeviceTest {
 protected:
  TogetherTest() : DeviceTest(0) {}

  /// Terminators take no time while a rule is tried alone, and so many nanoseconds while both are
  /// tried together.
  void run_both(double took) {
    for (int i = 0; i < 20'000 && engine_of(0) == "column"; ++i) {
      std::vector<dispatch::Evaluated> both;
      for (std::uint32_t r = 0; r < 2; ++r) {
        rules_.state(r).terminators += terminators_.size();
        placer_.place(r, terminators_.size());
        evaluate(r);
        sinks_[r] = sink_;
        both.push_back(evaluated(placer_.is_tried_together(r) ? took : 1, r));
        both.back().outcome.parts[0].sink = &sinks_[r];
        placer_.observe(r, rules_.placement(r).entry(), terminators_.size(), 1e6);
      }
      placer_.try_elsewhere(both);
      settle(1e6, 1000 * i);
    }
  }

  engine::CompositeSink sinks_[2];
};

TEST_F(TogetherTest, RulesMoveTogetherWhereThatCostsLess) {
  run_both(1e12);
  for (std::uint32_t r = 0; r < 2; ++r) {
    EXPECT_EQ(engine_of(r), "cuda-host");
    EXPECT_TRUE(placer_.is_on_probation(r));
    EXPECT_EQ(rules_.rule(r).placement.moves(), 1u);
  }
}

TEST_F(TogetherTest, RulesThatMovedTogetherGoBackTogether) {
  run_both(1e9);
  ASSERT_EQ(engine_of(0), "cuda-host");
  ASSERT_EQ(engine_of(1), "cuda-host");
  run(80, 1e6);
  EXPECT_EQ(engine_of(0), "column");
  EXPECT_EQ(engine_of(1), "column");
  EXPECT_FALSE(placer_.is_on_probation(1));
}

}  // namespace
}  // namespace gorgo
