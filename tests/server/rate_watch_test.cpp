#include "server/engine/rate_watch.hpp"

#include <gtest/gtest.h>

namespace gorgo::server {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

class RateWatchTest : public testing::Test {
 protected:
  RateWatch::Time at(int ms) const { return start_ + milliseconds(ms); }

  RateWatch::Time start_ = RateWatch::Time() + seconds(1000);
  RateWatch::Counters counters_ = {
      {.serial = 7, .events = 500, .terminators = 20, .composites = 3}};
  RateWatch watch_{[this] { return counters_; }, start_};
};

TEST_F(RateWatchTest, CountsFromTheBeginningUntilASecondHasPassed) {
  counters_[0] = {.serial = 7, .events = 700, .terminators = 70, .composites = 3};
  const RuleRates rates = watch_.rates(counters_[0], at(500));
  EXPECT_DOUBLE_EQ(rates.seconds, 0.5);
  EXPECT_DOUBLE_EQ(rates.events, 400);
  EXPECT_DOUBLE_EQ(rates.terminators, 100);
  EXPECT_DOUBLE_EQ(rates.composites, 0);
}

TEST_F(RateWatchTest, ForgetsWhatIsLongAgo) {
  counters_[0].events += 1'000'000;
  for (int ms = 0; ms <= 5000; ms += 100) watch_.look(at(ms));
  EXPECT_EQ(watch_.rates(counters_[0], at(5000)).events, 0);
  counters_[0].events += 30;
  const RuleRates rates = watch_.rates(counters_[0], at(5500));
  EXPECT_DOUBLE_EQ(rates.seconds, 1.5);  // the count a second before the last one
  EXPECT_DOUBLE_EQ(rates.events, 20);
}

TEST_F(RateWatchTest, ReadsTheCountersOnceASecond) {
  EXPECT_EQ(watch_.due_in(at(400)), milliseconds(600));
  EXPECT_EQ(watch_.due_in(at(1400)), seconds(0));
  counters_[0].events += 100;
  watch_.look(at(900));  // too soon: not taken for the beginning of a second
  EXPECT_DOUBLE_EQ(watch_.rates(counters_[0], at(1000)).events, 100);
}

TEST_F(RateWatchTest, ARuleThatComesLaterIsCountedFromThen) {
  counters_.insert(counters_.begin(),
                   {.serial = 9, .events = 0, .terminators = 0, .composites = 0});
  EXPECT_EQ(watch_.rates(counters_[0], at(500)).seconds, 0);
  watch_.rules_came(at(500));
  counters_[0].terminators += 5;
  EXPECT_DOUBLE_EQ(watch_.rates(counters_[0], at(1000)).terminators, 10);
  watch_.look(at(1000));
  counters_[0].terminators += 3;
  counters_[1].terminators += 3;
  EXPECT_DOUBLE_EQ(watch_.rates(counters_[0], at(1500)).terminators, 6);
  EXPECT_DOUBLE_EQ(watch_.rates(counters_[1], at(1500)).terminators, 2);
}

TEST_F(RateWatchTest, ARuleInThePlaceOfAnotherHasRatesOfItsOwn) {
  counters_[0] = {.serial = 8, .events = 0, .terminators = 0, .composites = 0};
  watch_.look(at(1000));
  counters_[0].events = 50;
  EXPECT_DOUBLE_EQ(watch_.rates(counters_[0], at(1500)).events, 100);
}

}  // namespace
}  // namespace gorgo::server
