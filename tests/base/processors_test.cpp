#include "base/processors.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>

#include <thread>

namespace gorgo {
namespace {

using testing::Eq;
using testing::Optional;

TEST(Processors, AreThoseThatTheProcessMayUse) {
  unsigned seen = 0;
  std::thread([&] {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(sched_getcpu(), &one);
    ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
    seen = available_processors();
  }).join();
  EXPECT_EQ(seen, 1U);
}

TEST(Processors, OfAGroupAreItsShareOfTimeRoundedUp) {
  EXPECT_THAT(processors_in("200000 100000\n"), Optional(2U));
  EXPECT_THAT(processors_in("150000 100000"), Optional(2U));
  EXPECT_THAT(processors_in("1000 100000"), Optional(1U));
}

TEST(Processors, OfAGroupAreUnboundedOrNotUnderstood) {
  for (const char* text :
       {"max 100000", "", "100000", "100000 0", "0 100000", "-1 100000", "1 x"}) {
    EXPECT_THAT(processors_in(text), Eq(std::nullopt)) << text;
  }
}

}  // namespace
}  // namespace gorgo
