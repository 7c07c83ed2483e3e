#include "tools/listing.hpp"

#include <gtest/gtest.h>

namespace gorgo::tools {
namespace {

TEST(Shown, LeavesNoOrderForATerminal) {
  EXPECT_EQ(shown("Temp\x1b]0;owned\x07\x1b[2J"), "Temp?]0;owned??[2J");
  EXPECT_EQ(shown("a\nb\x7f"), "a?b?");
  EXPECT_EQ(shown("a\xc2\x9bz \xe2\x80\xae \xe2\x81\xa6"), "a?z ? ?");
}

TEST(Shown, LeavesOtherTextAlone) {
  EXPECT_EQ(shown(""), "");
  EXPECT_EQ(shown("T\xc3\xa4st \xe2\x82\xac \xc2\xa0"), "T\xc3\xa4st \xe2\x82\xac \xc2\xa0");
  EXPECT_EQ(shown("\xc2"), "\xc2");
}

}  // namespace
}  // namespace gorgo::tools
