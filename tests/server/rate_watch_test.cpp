#include "server/rate_watch.hpp"

#include <gtest/gtest.h>

namespace gorgo::server {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

class RateWatchTest : public testing::Test {
 protected:
  RateWatch::Time at(int ms) const { return start_ + milliseconds(ms); }

  RateWatch::Time start_ = RateWatch::Time() + seconds(1000);
  RateWatch::Counters counters_ = {{.events = 500, .terminators = 20, .composites = 3}};
  RateWatch watch_{[this] { return counters_; }, start_};
};

TEST_F(RateWatchTest, CountsFromTheBeginningUntilASecondHasPassed) {
  counters_[0] = {.events = 700, .terminators = 70, .composites = 3};
  const auto rates = watch_.rates(at(500));
  ASSERT_EQ(rates.size(), 1u);
  EXPECT_DOUBLE_EQ(rates[0].seconds, 0.5);
  EXPECT_DOUBLE_EQ(rates[0].events, 400);
  EXPECT_DOUBLE_EQ(rates[0].terminators, 100);
  EXPECT_DOUBLE_EQ(rates[0].composites, 0);
}

TEST_F(RateWatchTest, ForgetsWhatIsLongAgo) {
  counters_[0].events += 1'000'000;
  for (int ms = 0; ms <= 5000; ms += 100) watch_.look(at(ms));
  EXPECT_EQ(watch_.rates(at(5000))[0].events, 0);
  counters_[0].events += 30;
  const RuleRates rates = watch_.rates(at(5500))[0];
  EXPECT_DOUBLE_EQ(rates.seconds, 1.5);  // the count a second before the last one
  EXPECT_DOUBLE_EQ(rates.events, 20);
}

TEST_F(RateWatchTest, ReadsTheCountersOnceASecond) {
  EXPECT_EQ(watch_.due_in(at(400)), milliseconds(600));
  EXPECT_EQ(watch_.due_in(at(1400)), seconds(0));
  counters_[0].events += 100;
  watch_.look(at(900));  // too soon: not taken for the beginning of a second
  EXPECT_DOUBLE_EQ(watch_.rates(at(1000))[0].events, 100);
}

TEST_F(RateWatchTest, BeginsAnewWithOtherRules) {
  counters_[0].events += 1000;
  counters_.push_back({.events = 9, .terminators = 9, .composites = 9});
  watch_.restart(at(2000));
  EXPECT_EQ(watch_.rates(at(2000))[1].terminators, 0);  // no time has passed
  counters_[1].terminators += 5;
  const auto rates = watch_.rates(at(2500));
  ASSERT_EQ(rates.size(), 2u);
  EXPECT_DOUBLE_EQ(rates[0].events, 0);
  EXPECT_DOUBLE_EQ(rates[1].terminators, 10);
}

}  // namespace
}  // namespace gorgo::server
