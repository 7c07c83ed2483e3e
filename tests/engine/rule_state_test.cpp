#include "engine/rule_state.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace gorgo::engine {
namespace {

TEST(ConsumedSlots, MemoryFollowsTheEventsThatAreRemembered) {
  ConsumedSlots consumed;
  for (history::Slot slot = 0; slot < 100'000; ++slot) {
    consumed.insert(slot, slot);
    consumed.forget_before(slot < 100 ? 0 : slot - 100);
    EXPECT_TRUE(consumed.contains(slot < 100 ? 0 : slot - 100));
  }
  EXPECT_LE(consumed.size(), 4096u);
}

TEST(ProducedComposites, MemoryFollowsTheKeysThatMayStillCut) {
  const OutputLimit limit{.composites = 2, .per = 100, .by = {0}};
  ProducedComposites produced;
  for (Timestamp now = 0; now < 100'000; ++now) {
    const Datum key = Datum::of(now);
    EXPECT_TRUE(produced.admit(limit, {&key, 1}, now));
    EXPECT_TRUE(produced.admit(limit, {&key, 1}, now));
    produced.forget_until(now - limit.per);
    const Datum oldest = Datum::of(std::max<Timestamp>(now - limit.per + 1, 0));
    EXPECT_FALSE(produced.admit(limit, {&oldest, 1}, now));
  }
  EXPECT_LE(produced.keys(), 4096u);
}

TEST(ProducedComposites, MemoryOfAKeyFollowsTheLimit) {
  const OutputLimit limit{.composites = 3, .per = 10, .by = {}};
  ProducedComposites produced;
  for (Timestamp now = 0; now < 100'000; now += 5) produced.admit(limit, {}, now);
  produced.for_each([](const std::string&, const auto& times) { EXPECT_LE(times.size(), 6u); });
  EXPECT_EQ(produced.keys(), 1u);
}

}  // namespace
}  // namespace gorgo::engine
