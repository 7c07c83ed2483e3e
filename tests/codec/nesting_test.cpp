#include "codec/nesting.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

namespace gorgo::codec {
namespace {

std::string times(std::size_t count, const std::string& text) {
  std::string all;
  for (std::size_t i = 0; i < count; ++i) all += text;
  return all;
}

TEST(Nesting, OfJsonIsCountedOutsideOfStrings) {
  EXPECT_FALSE(is_deep_json(times(kDeepest, "[") + times(kDeepest, "]")));
  EXPECT_TRUE(is_deep_json(times(kDeepest + 1, "[")));
  EXPECT_TRUE(is_deep_json("{\"a\":" + times(kDeepest, "[")));
  EXPECT_FALSE(is_deep_json(times(kDeepest * 3, "[],")));
  EXPECT_FALSE(is_deep_json("[\"" + times(kDeepest * 3, "[\\\"") + "\"]"));
  EXPECT_FALSE(is_deep_json("\"" + times(kDeepest * 3, "[")));
  EXPECT_FALSE(is_deep_json("\"\\"));
}

TEST(Nesting, OfTomlIsCountedInKeys) {
  EXPECT_FALSE(is_deep_toml("a" + times(kDeepest - 1, ".a") + "=1"));
  EXPECT_TRUE(is_deep_toml("a" + times(kDeepest, " . a") + "=1"));
  EXPECT_TRUE(is_deep_toml("x = 1\n[a" + times(kDeepest, ".'b'") + "]"));
  EXPECT_FALSE(is_deep_toml("a = [1.5" + times(kDeepest * 2, ", 1.5") + "]"));
  EXPECT_FALSE(
      is_deep_toml("a = \"" + times(kDeepest * 2, ".") + "\"# " + times(kDeepest * 2, ".")));
  EXPECT_FALSE(is_deep_toml("a = '''" + times(kDeepest * 2, "'.") + "'''"));
  EXPECT_FALSE(is_deep_toml("a = \"\"\"" + times(kDeepest * 2, ".")));
}

TEST(Nesting, WhatIsDeepIsNoJson) {
  using Json = nlohmann::json;
  EXPECT_TRUE(parse_json<Json>(times(300'000, "[") + times(300'000, "]")).is_discarded());
  EXPECT_TRUE(parse_json<Json>("[1").is_discarded());
  EXPECT_EQ(parse_json<Json>("[1]")[0], 1);
}

}  // namespace
}  // namespace gorgo::codec
