#include "history/sliding_vector.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <deque>
#include <new>
#include <random>
#include <vector>

namespace gorgo::history {
namespace {

constexpr std::size_t kMiB = 1024 * 1024;

struct Wide {
  std::uint64_t number = 0;
  std::uint64_t more[2] = {};

  Wide() = default;
  explicit Wide(std::uint64_t n) : number(n), more{n + 1, n + 2} {}
  friend bool operator==(const Wide& a, const Wide& b) {
    return a.number == b.number && a.more[0] == b.more[0] && a.more[1] == b.more[1];
  }
};

/// A vector and what should be in it.
template <class T>
struct Checked {
  SlidingVector<T> vector;
  std::deque<T> model;
  std::uint64_t first = 1000;

  Checked() { vector.start_at(first); }

  void push(std::uint64_t number) {
    const T item(static_cast<T>(number));
    vector.push_back(item);
    model.push_back(item);
  }
  void drop(std::size_t count) {
    first += count;
    vector.drop_before(first);
    model.erase(model.begin(), model.begin() + static_cast<std::ptrdiff_t>(count));
  }
  /// Inserts numbers from `number` on before these indices, which ascend.
  void insert(std::vector<std::size_t> indices, std::uint64_t number) {
    std::vector<std::uint64_t> positions;
    for (const std::size_t index : indices) positions.push_back(first + index);
    const auto item = [&](std::size_t i) { return T(static_cast<T>(number + i)); };
    vector.insert(positions, item);
    for (std::size_t i = 0; i < indices.size(); ++i) {
      model.insert(model.begin() + static_cast<std::ptrdiff_t>(indices[i] + i), item(i));
    }
  }
  void verify() const {
    ASSERT_EQ(vector.begin(), first);
    ASSERT_EQ(vector.size(), model.size());
    const T* at = vector.at(vector.begin());
    for (std::size_t i = 0; i < model.size(); ++i) ASSERT_TRUE(at[i] == model[i]) << i;
  }
};

template <class T>
class SlidingVectorTest : public ::testing::Test {};
using Elements = ::testing::Types<std::uint8_t, std::uint64_t, Wide>;
TYPED_TEST_SUITE(SlidingVectorTest, Elements);

TYPED_TEST(SlidingVectorTest, HoldsWhatWasAddedAtAnySize) {
  std::mt19937_64 random(7);
  Checked<TypeParam> checked;
  std::uint64_t number = 0;
  // It fills, slides and empties again, some times; the sizes are those of a few huge pages.
  for (const std::size_t bytes : {kMiB / 8, 5 * kMiB, kMiB, 9 * kMiB}) {
    const std::size_t wanted = bytes / sizeof(TypeParam);
    while (checked.model.size() < wanted) {
      for (std::size_t i = random() % (1 + wanted / 8); i > 0; --i) checked.push(++number);
      if (checked.model.size() <= 10) continue;
      const std::size_t size = checked.model.size();
      checked.insert({size - 5 - random() % 5, size - 5, size - 5, size - random() % 5}, number);
      number += 4;
    }
    checked.verify();
    for (int step = 0; step < 16; ++step) {
      const std::size_t count = 1 + random() % (1 + wanted / 4);
      for (std::size_t i = 0; i < count; ++i) checked.push(++number);
      checked.drop(std::min(count, checked.model.size()));
    }
    checked.verify();
    checked.drop(checked.model.size() - random() % 4);
    checked.verify();
    EXPECT_LE(checked.vector.bytes(), kMiB / 8);
  }
}

TEST(SlidingVector, GivesBackWhatIsDropped) {
  SlidingVector<std::uint64_t> vector;
  constexpr std::size_t kMany = 8 * kMiB;
  for (std::size_t i = 0; i < kMany; ++i) vector.push_back(i);
  EXPECT_GE(vector.bytes(), 64 * kMiB);
  EXPECT_LE(vector.bytes(), 80 * kMiB);
  vector.drop_before(kMany - kMiB / 8);
  EXPECT_LE(vector.bytes(), 10 * kMiB);
  EXPECT_EQ(vector[kMany - 1], kMany - 1);
}

TEST(SlidingVector, KeepsRoomForAsManyAsThereWere) {
  SlidingVector<std::uint64_t> vector;
  const auto fill = [&vector](std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) vector.push_back(i);
  };
  fill(10'000);
  vector.drop_before(vector.end(), Spare::kept);
  const std::size_t kept = vector.bytes();
  EXPECT_GE(kept, 10'000 * sizeof(std::uint64_t));
  fill(10'000);
  EXPECT_EQ(vector.bytes(), kept);
  // It keeps less room where there were much fewer elements.
  vector.drop_before(vector.end(), Spare::kept);
  fill(100);
  vector.drop_before(vector.end(), Spare::kept);
  EXPECT_LT(vector.bytes(), kept / 10);
  fill(10'000);
  vector.drop_before(vector.end() - 5, Spare::kept);
  vector.give_back_spare();
  EXPECT_LT(vector.bytes(), kept / 10);
  EXPECT_EQ(vector.size(), 5u);
  EXPECT_EQ(vector[vector.end() - 1], 9'999u);
}

TEST(SlidingVector, MovesWithItsContent) {
  SlidingVector<std::uint64_t> large;
  for (std::size_t i = 0; i < kMiB; ++i) large.push_back(i);
  SlidingVector<std::uint64_t> other = std::move(large);
  SlidingVector<std::uint64_t> small;
  small.push_back(1);
  small = std::move(other);
  EXPECT_EQ(small.size(), kMiB);
  EXPECT_EQ(small[kMiB - 1], kMiB - 1);
}

/// Lets the process map only so many bytes more, until the end of the scope.
class AddressLimit {
 public:
  explicit AddressLimit(std::size_t more) {
    getrlimit(RLIMIT_AS, &before_);
    std::size_t pages = 0;
    if (std::FILE* const file = std::fopen("/proc/self/statm", "r")) {
      if (std::fscanf(file, "%zu", &pages) != 1) pages = 0;
      std::fclose(file);
    }
    rlimit limit = before_;
    limit.rlim_cur = pages * 4096 + more;
    setrlimit(RLIMIT_AS, &limit);
  }
  ~AddressLimit() { lift(); }
  void lift() const { setrlimit(RLIMIT_AS, &before_); }

 private:
  rlimit before_{};
};

const AddressLimit* limit_to_lift = nullptr;

TEST(SlidingVector, IsAsBeforeWhenThereIsNoMemory) {
  SlidingVector<std::uint64_t> vector;
  for (std::size_t i = 0; i < kMiB; ++i) vector.push_back(i);
  std::size_t count = kMiB;
  {
    const AddressLimit limit(64 * kMiB);
    const auto fill = [&] {
      for (; count < 64 * kMiB; ++count) vector.push_back(count);
    };
    EXPECT_THROW(fill(), std::bad_alloc);
  }
  ASSERT_EQ(vector.size(), count);
  for (std::size_t i = 0; i < count; ++i) ASSERT_EQ(vector[i], i);
  vector.push_back(count);
  EXPECT_EQ(vector.back(), count);
}

TEST(SlidingVector, AsksForMemoryToBeFreedAsOperatorNewDoes) {
  SlidingVector<std::uint64_t> vector;
  for (std::size_t i = 0; i < kMiB; ++i) vector.push_back(i);
  const AddressLimit limit(8 * kMiB);
  limit_to_lift = &limit;
  const auto before = std::set_new_handler([] { limit_to_lift->lift(); });
  for (std::size_t i = kMiB; i < 4 * kMiB; ++i) vector.push_back(i);
  std::set_new_handler(before);
  EXPECT_EQ(vector.size(), 4 * kMiB);
}

}  // namespace
}  // namespace gorgo::history
