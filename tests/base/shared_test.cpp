#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/shared_map.hpp"
#include "base/shared_vector.hpp"
#include "gorgo/shared_list.hpp"

namespace gorgo {
namespace {

TEST(SharedVector, CopiesKeepWhatTheyHadWhenOthersChange) {
  SharedVector<int> vector;
  std::vector<SharedVector<int>> copies;
  for (int i = 0; i < 3000; ++i) {
    copies.push_back(vector);
    vector.push_back(i);
  }
  for (std::size_t i = 0; i < 3000; i += 7) vector.set(i, -1);
  for (std::size_t size = 0; size < copies.size(); ++size) {
    ASSERT_EQ(copies[size].size(), size);
    for (std::size_t i = 0; i < size; i += 13) ASSERT_EQ(copies[size][i], static_cast<int>(i));
  }
  for (std::size_t i = 0; i < 3000; ++i) {
    EXPECT_EQ(vector[i], i % 7 == 0 ? -1 : static_cast<int>(i));
  }
}

TEST(SharedMap, CopiesKeepWhatTheyHadWhenOthersChange) {
  SharedMap<std::string, int> map;
  for (int i = 0; i < 1000; ++i) map.insert(std::to_string(i), i);
  const SharedMap<std::string, int> copy = map;
  for (int i = 0; i < 1000; i += 2) map.erase(std::to_string(i));
  map.insert("new", 7);
  EXPECT_EQ(map.size(), 501u);
  EXPECT_EQ(copy.size(), 1000u);
  EXPECT_EQ(copy.find(std::string("new")), nullptr);
  for (int i = 0; i < 1000; ++i) {
    const std::string key = std::to_string(i);
    ASSERT_NE(copy.find(key), nullptr);
    EXPECT_EQ(*copy.find(key), i);
    EXPECT_EQ(map.find(key) != nullptr, i % 2 == 1);
  }
}

TEST(SharedMap, AnotherThreadReadsACopyWhileTheOriginalChanges) {
  SharedMap<int, int> map;
  for (int i = 0; i < 1000; ++i) map.insert(i, i);
  std::size_t found = 0;
  std::thread reader([&found, copy = map] {
    for (int i = 0; i < 2000; ++i) found += copy.find(i) != nullptr ? 1 : 0;
  });
  for (int i = 0; i < 1000; ++i) {
    map.erase(i);
    map.insert(i + 1000, i);
  }
  reader.join();
  EXPECT_EQ(found, 1000u);
  EXPECT_EQ(map.size(), 1000u);
}

TEST(SharedList, CopiesKeepWhatTheyHadWhenOthersChange) {
  const SharedList<std::string> list{"a long text that is on the heap", "b"};
  SharedList<std::string> copy = list;
  EXPECT_EQ(copy.data(), list.data());
  copy.own()[1] = "c";
  EXPECT_EQ(list[1], "b");
  EXPECT_EQ(copy[1], "c");
  EXPECT_EQ(copy[0], list[0]);
  const std::string* const own = copy.data();
  copy.own()[0] = "d";
  EXPECT_EQ(copy.data(), own);  // it was its own already
}

TEST(SharedList, AnEmptyOneHasNoMemory) {
  SharedList<int> list = std::vector<int>{};
  EXPECT_EQ(list.data(), nullptr);
  EXPECT_TRUE(list.own().empty());
  list = {1, 2};
  const SharedList<int> moved = std::move(list);
  EXPECT_EQ(moved.size(), 2u);
  list = moved;
  const SharedList<int>& itself = list;
  list = itself;
  EXPECT_EQ(list[1], 2);
}

TEST(SharedList, ThreadsLetGoOfCopiesAtTheSameTime) {
  for (int i = 0; i < 100; ++i) {
    SharedList<std::string> list{"a long text that is on the heap"};
    std::thread other([copy = list]() mutable { copy.own()[0] += "!"; });
    list.own()[0] += "?";
    EXPECT_EQ(list[0], "a long text that is on the heap?");
    other.join();
  }
}

}  // namespace
}  // namespace gorgo
