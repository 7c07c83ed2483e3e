#include "engine/automaton/partial_sequences.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gorgo::engine {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<history::Slot> found(const PartialSequences& sequences, std::uint64_t hash,
                                 Interval interval) {
  std::vector<history::Slot> first;
  sequences.newest_first(hash, interval, [&](std::uint64_t position) {
    first.push_back(sequences.events(position).front());
    return true;
  });
  return first;
}

TEST(PartialSequences, AreFoundByHashFromTheNewestOn) {
  PartialSequences sequences(2);
  for (history::Slot slot = 0; slot < 1000; ++slot) {
    const history::Slot events[] = {slot, 5000 + slot};
    sequences.add(static_cast<Timestamp>(slot), events, slot % 100);
  }
  EXPECT_THAT(found(sequences, 7, {600, 907}), ElementsAre(807, 707, 607));
  EXPECT_THAT(found(sequences, 7, {607, 908}), ElementsAre(907, 807, 707));
  EXPECT_THAT(found(sequences, 100, {0, 2000}), IsEmpty());
}

TEST(PartialSequences, AreDroppedByTimeAndStayChained) {
  PartialSequences sequences(1);
  for (history::Slot slot = 0; slot < 10'000; ++slot) {
    sequences.drop_until(static_cast<Timestamp>(slot) - 50);
    sequences.add(static_cast<Timestamp>(slot), {&slot, 1}, slot % 7);
    EXPECT_LE(sequences.size(), 51u);
  }
  EXPECT_THAT(found(sequences, 3, {0, 20'000}),
              ElementsAre(9999, 9992, 9985, 9978, 9971, 9964, 9957, 9950));
  sequences.clear();
  EXPECT_EQ(sequences.size(), 0u);
  EXPECT_THAT(found(sequences, 3, {0, 20'000}), IsEmpty());
}

}  // namespace
}  // namespace gorgo::engine
