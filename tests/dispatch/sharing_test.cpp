#include "dispatch/sharing.hpp"

#include "trial_fixture.hpp"

namespace gorgo {
namespace {

using ::testing::AllOf;
using ::testing::Gt;
using ::testing::Lt;
using ::testing::StartsWith;

/// Whatever it costs, the rule goes to a device, and is then tried with both.
class SharingTest : public TrialTest {
 protected:
  SharingTest()
      : TrialTest("column", {.gain = 1e12, .choices = {"column", "cuda-host"}, .threads = 4}) {
    // Opens it.
    EXPECT_EQ(engine::find_engine("cuda-host")->declined(*rule().plan), "");
    begin_trial();
    for (int i = 0; i < 100 && placer_.is_tried(0); ++i) go_on(outcome(), 1e6);
  }

  /// Batches that take so many milliseconds in all, of so many terminators that any gain is much.
  void work(double each, int batches) {
    for (int i = 0; i < batches && placer_.wants_time(); ++i) {
      rule().state.terminators += 1'000'000'000;
      placer_.add_time(each * 1e6);
    }
  }
};

TEST_F(SharingTest, ADeviceAndTheThreadsShareARuleWhenThatIsFaster) {
  ASSERT_EQ(placement().engine().name(), "cuda-host");
  ASSERT_TRUE(placer_.wants_time());
  EXPECT_EQ(placement().share(), 0);
  work(2, 8);
  EXPECT_GT(placement().share(), 0);
  work(1, 100);
  EXPECT_FALSE(placer_.wants_time());
  EXPECT_THAT(placement().reason(), StartsWith("shared by cuda-host and column"));
  const auto places = placer_.place(0, 1000);
  EXPECT_EQ(places.post->engine->name(), "cuda-host");
  ASSERT_NE(places.reserve, nullptr);
  EXPECT_EQ(places.reserve->engine->name(), "column");
  EXPECT_THAT(places.own, AllOf(Gt(0u), Lt(1000u)));
  EXPECT_FALSE(places.reserve->evaluators.empty());
}

TEST_F(SharingTest, SharingEndsWhenItIsNotFaster) {
  work(2, 8);
  EXPECT_GT(placement().share(), 0);
  work(1.95, 100);
  EXPECT_FALSE(placer_.wants_time());
  EXPECT_EQ(placement().share(), 0);
  EXPECT_EQ(placement().engine().name(), "cuda-host");
  EXPECT_THAT(placement().reason(), StartsWith("not shared by cuda-host and column"));
}

TEST_F(SharingTest, SharingEndsWhenOneOfTheEnginesBecomesSlow) {
  work(2, 8);
  work(1, 100);
  ASSERT_GT(placement().share(), 0);
  placement().at(*engine::find_engine("column")).cost.add(1, 1e12);
  placer_.place(0, 1000);
  placer_.observe(0, placement().post(), 1000, 10e6);
  placer_.settle(1e9, 1'000'000);
  EXPECT_EQ(placement().share(), 0);
  EXPECT_EQ(placement().engine().name(), "cuda-host");
}

TEST(Sharing, IsNotAttemptedForLittle) {
  const dispatch::Pair pair{engine::find_engine("cuda-host"), engine::find_engine("column")};
  using Verdict = dispatch::SharingAttempt::Verdict;
  const auto verdict = [&](double gain) {
    dispatch::SharingAttempt attempt(0, pair, *pair.device, gain, 0);
    std::uint64_t terminators = 0;
    Verdict last = Verdict::go_on;
    while (last == Verdict::go_on) last = attempt.add(2e6, terminators += 2000);
    return last;
  };
  EXPECT_EQ(verdict(100), Verdict::give_up);
  EXPECT_EQ(verdict(200), Verdict::begin);
}

TEST(Sharing, GivesEachAsMuchAsItIsFast) {
  EXPECT_DOUBLE_EQ(dispatch::shared_cost(100, 300, 3), 50);
  EXPECT_DOUBLE_EQ(dispatch::share_of_threads(100, 300, 3), 0.5);
  EXPECT_DOUBLE_EQ(dispatch::share_of_threads(100, 900, 3), 0.25);
  const auto& column = *engine::find_engine("column");
  const auto& device = *engine::find_engine("cuda-host");
  const auto& automaton = *engine::find_engine("automaton");
  EXPECT_EQ(dispatch::pair_of(column, device)->threads, &column);
  EXPECT_FALSE(dispatch::pair_of(automaton, device).has_value());
  EXPECT_FALSE(dispatch::pair_of(column, automaton).has_value());
}

}  // namespace
}  // namespace gorgo
