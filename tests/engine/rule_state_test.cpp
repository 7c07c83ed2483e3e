#include "engine/rule_state.hpp"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace gorgo::engine
