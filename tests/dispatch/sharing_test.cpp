#include "trial_fixture.hpp"

namespace gorgo {
namespace {

using ::testing::AllOf;
using ::testing::Gt;
using ::testing::Lt;

class DeviceTest : public TrialTest {
 protected:
  DeviceTest() : TrialTest("column", {.choices = {"column", "cuda-host"}, .threads = 4}) {
    // This opens the device.
    EXPECT_EQ(engine::find_engine("cuda-host")->reason_to_decline(*rule().plan), "");
  }

  std::string engine_of(std::uint32_t index) {
    return rules_.rule(index).placement.arrangement().to_string();
  }
};

/// What the device takes in a trial is measured, so the threads take so long that the device is the
/// faster one even on a busy machine. It proves to be, but not by much, so the threads are to share
/// the rule.
class SharingTest : public DeviceTest {
 protected:
  SharingTest() {
    try_out(1e9);
    EXPECT_EQ(engine_of(0), "cuda-host");
    for (int i = 0; i < 40 && engine_of(0) == "cuda-host"; ++i) run(2, kOnTheDevice);
    for (int i = 0; i < 100; ++i) placer_.balance(0, 1, 1);
  }

  static constexpr double kOnTheDevice =
      20e3;  // nanoseconds a terminator, where the threads take 25
};

TEST_F(SharingTest, ADeviceAndTheThreadsShareARuleOfWhichNeitherIsMuchTheFaster) {
  ASSERT_EQ(engine_of(0), "cuda-host and column");
  EXPECT_TRUE(is_on_proof(0));
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
  EXPECT_FALSE(is_on_proof(0));
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
  ASSERT_FALSE(is_on_proof(0));
  ASSERT_EQ(engine_of(0), "cuda-host and column");
  for (int i = 0; i < 100; ++i) placer_.balance(0, 100, 1);
  run(10, 1);
  EXPECT_EQ(engine_of(0), "cuda-host");
}

}  // namespace
}  // namespace gorgo
