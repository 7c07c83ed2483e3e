#include <gtest/gtest.h>

#include <string>
#include <thread>

#include "base/shared_map.hpp"
#include "base/shared_vector.hpp"

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

}  // namespace
}  // namespace gorgo
