#include "history/string_heap.hpp"

#include <gtest/gtest.h>

#include <string>

namespace gorgo::history {
namespace {

TEST(StringHeap, KeepsWhatIsAddedBetweenRowsAsLongAsTheLastOfThem) {
  StringHeap heap;
  const std::string_view kept = heap.add(std::string(100, 'a'), 5);
  heap.add("b", 2);  // another attribute of an earlier event
  heap.drop_before(4);
  EXPECT_GT(heap.bytes(), 0u);
  EXPECT_EQ(kept, std::string(100, 'a'));
  heap.drop_before(6);
  heap.give_back_spare();
  EXPECT_EQ(heap.bytes(), 0u);
}

TEST(StringHeap, KeepsAChunkForTheNextStrings) {
  StringHeap heap;
  const auto fill = [&heap](std::uint64_t row) {
    for (int i = 0; i < 1000; ++i) heap.add(std::string(40, 'a'), row);
  };
  fill(1);
  heap.drop_before(2);
  const std::size_t kept = heap.bytes();
  EXPECT_GT(kept, 0u);
  EXPECT_LE(kept, 64u * 1024);
  const std::string_view first = heap.add("abc", 3);
  EXPECT_EQ(heap.bytes(), kept);
  EXPECT_EQ(first, "abc");
}

TEST(StringHeap, KeepsNoChunkOfALargeString) {
  StringHeap heap;
  heap.add(std::string(std::size_t{2} << 20, 'a'), 1);
  heap.drop_before(2);
  EXPECT_EQ(heap.bytes(), 0u);
}

}  // namespace
}  // namespace gorgo::history
