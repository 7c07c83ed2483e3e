#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "cuda/search.hpp"

namespace gorgo::gpu {
namespace {

constexpr std::uint64_t kBegin = 8;
constexpr unsigned kRow = 4, kRows = 5;

/// Which positions of the tile [kBegin, end) are taken: those of whole rows, then those of the rows
/// in which the range begins and ends.
std::vector<std::uint64_t> taken(std::uint64_t first, std::uint64_t last, std::uint64_t end) {
  const RowsOfRange rows = rows_of(first, last, kBegin, end, kRow);
  std::vector<std::uint64_t> positions;
  const auto take = [&](unsigned row, std::uint64_t from, std::uint64_t to) {
    const std::uint64_t begin = kBegin + row * kRow;
    for (std::uint64_t p = begin; p < std::min(begin + kRow, end); ++p) {
      if (p >= from && p < to) positions.push_back(p);
    }
  };
  for (unsigned row = 0; row < kRows; ++row) {
    if (rows.covers(row)) take(row, 0, end);
  }
  if (!rows.covers(rows.first_row)) take(rows.first_row, rows.first, rows.last);
  if (rows.last_row != rows.first_row && !rows.covers(rows.last_row)) {
    take(rows.last_row, rows.first, rows.last);
  }
  std::ranges::sort(positions);
  return positions;
}

TEST(RowsOfRange, HoldEachPositionOfTheRangeOnce) {
  for (std::uint64_t end = kBegin + 1; end <= kBegin + kRow * kRows; ++end) {
    for (std::uint64_t first = 0; first < end; ++first) {
      for (std::uint64_t last = std::max(first, kBegin) + 1; last < end + 9; ++last) {
        std::vector<std::uint64_t> range;
        for (std::uint64_t p = std::max(first, kBegin); p < std::min(last, end); ++p) {
          range.push_back(p);
        }
        EXPECT_EQ(taken(first, last, end), range) << first << " " << last << " " << end;
      }
    }
  }
}

TEST(RowsOfRange, AreWholeWhereTheRangeCoversThem) {
  const std::uint64_t end = kBegin + kRow * kRows - 1;  // the last row has less
  EXPECT_EQ(rows_of(0, 100, kBegin, end, kRow).whole, 0b11111u);
  EXPECT_EQ(rows_of(kBegin + 1, end, kBegin, end, kRow).whole, 0b11110u);
  EXPECT_EQ(rows_of(kBegin, end - 1, kBegin, end, kRow).whole, 0b01111u);
  EXPECT_EQ(rows_of(kBegin + kRow, kBegin + 2 * kRow, kBegin, end, kRow).whole, 0b00010u);
  EXPECT_EQ(rows_of(kBegin + 1, kBegin + 2, kBegin, end, kRow).whole, 0u);
  EXPECT_EQ(rows_of(0, ~std::uint64_t{0}, 0, 32 * 256, 256).whole, ~0u);
}

}  // namespace
}  // namespace gorgo::gpu
