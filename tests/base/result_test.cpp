#include "gorgo/result.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <string>

namespace gorgo {
namespace {

Result<std::unique_ptr<int>> make(bool works) {
  if (!works) return Error{"no number", "ask for one"};
  return {std::in_place, std::make_unique<int>(7)};
}

TEST(Result, HoldsItsValueOrTheErrorInItsPlace) {
  auto seven = make(true);
  ASSERT_TRUE(seven);
  EXPECT_EQ(**seven, 7);
  EXPECT_EQ(seven.error().to_string(), "");
  const std::unique_ptr<int> taken = *std::move(seven);
  EXPECT_EQ(*taken, 7);

  const auto nothing = make(false);
  EXPECT_FALSE(nothing);
  EXPECT_TRUE(nothing.has_error());
  EXPECT_EQ(nothing.error().to_string(), "no number (ask for one)");
}

TEST(Result, ThrowsWhenTheValueOfAnErrorIsTaken) {
  EXPECT_THROW((void)make(false).value(), std::logic_error);
  EXPECT_THROW(Result<void>(Error{"no", ""}).value(), std::logic_error);
  EXPECT_NO_THROW(Result<void>().value());
}

TEST(Result, TakesWhatConvertsToItsValue) {
  const Result<std::string> text = "literal";
  ASSERT_TRUE(text);
  EXPECT_EQ(*text, "literal");
  EXPECT_EQ(text->size(), 7U);
}

}  // namespace
}  // namespace gorgo
