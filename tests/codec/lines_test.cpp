#include "codec/lines.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>

namespace gorgo::codec {
namespace {

/// The lines of a text that arrives in pieces.
std::vector<std::string> cut(const std::vector<std::string>& pieces) {
  LineCutter cutter;
  std::vector<std::string> lines;
  for (const auto& piece : pieces) {
    const auto space = cutter.space();
    EXPECT_GE(space.size, piece.size());
    std::memcpy(space.data, piece.data(), piece.size());
    cutter.fill(piece.size());
    while (const auto line = cutter.next()) lines.emplace_back(*line);
  }
  const std::size_t open = cutter.open();
  const auto rest = cutter.rest();
  EXPECT_EQ(rest ? rest->size() : 0, open);
  if (rest) lines.push_back("rest:" + std::string(*rest));
  return lines;
}

TEST(LineCutter, CutsWhereverThePiecesEnd) {
  const std::vector<std::string> expected = {"ab", "", "cd", "rest:e"};
  EXPECT_EQ(cut({"ab\n\ncd\ne"}), expected);
  EXPECT_EQ(cut({"a", "b", "\n", "\nc", "d\ne"}), expected);
  EXPECT_EQ(cut({"ab\n"}), std::vector<std::string>{"ab"});
  EXPECT_TRUE(cut({}).empty());
}

TEST(LineCutter, GrowsWithALongLine) {
  const std::string piece(60'000, 'x');
  std::string whole;
  std::vector<std::string> pieces;
  for (int i = 0; i < 20; ++i) {
    whole += piece;
    pieces.push_back(piece);
  }
  pieces.push_back("\ny\n");
  EXPECT_EQ(cut(pieces), (std::vector<std::string>{whole, "y"}));
}

}  // namespace
}  // namespace gorgo::codec
