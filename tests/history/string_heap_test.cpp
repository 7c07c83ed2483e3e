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
  EXPECT_EQ(heap.bytes(), 0u);
}

}  // namespace
}  // namespace gorgo::history
