#include "codec/parse_json.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

namespace gorgo::codec {
namespace {

using Json = nlohmann::json;
using OrderedJson = nlohmann::ordered_json;

std::string copies(std::size_t count, const std::string& text) {
  std::string all;
  for (std::size_t i = 0; i < count; ++i) all += text;
  return all;
}

bool is_read(const std::string& text) { return !parse_json<Json>(text).is_discarded(); }

TEST(ParseJson, ReadsWhatTheLibraryReads) {
  for (const char* const text :
       {"null", "true", "-7", "18446744073709551615", "1e3", "\"a\\u00e9\"", "[]", "{}",
        R"({"z":[1,{"y":null},[]],"a":{"b":[[2.5]],"c":"x"},"d":false})", "", "[1", "1e999",
        "{\"a\":}", "[1] 2", "\"\xff\"", "nan"}) {
    EXPECT_EQ(is_read(text), Json::accept(text)) << text;
    if (!is_read(text)) continue;
    EXPECT_EQ(parse_json<Json>(text), Json::parse(text)) << text;
    EXPECT_EQ(parse_json<OrderedJson>(text).dump(), OrderedJson::parse(text).dump()) << text;
  }
}

TEST(ParseJson, WhatIsDeepIsNoJson) {
  EXPECT_TRUE(is_read(copies(kDeepest, "[") + copies(kDeepest, "]")));
  EXPECT_FALSE(is_read(copies(kDeepest + 1, "[") + copies(kDeepest + 1, "]")));
  EXPECT_FALSE(is_read("{\"a\":" + copies(kDeepest, "[") + copies(kDeepest, "]") + "}"));
  EXPECT_TRUE(is_read("[" + copies(kDeepest * 3, "[],") + "{}]"));
  EXPECT_TRUE(is_read("[\"" + copies(kDeepest * 3, "[\\\"") + "\"]"));
  EXPECT_FALSE(is_read(copies(300'000, "[") + copies(300'000, "]")));
}

TEST(ParseJson, AMemberIsRepeatedHoweverItsNameIsWritten) {
  const auto none = read_json<Json>(R"({"a":{"b":1,"c":":\":"},"b":[{"a":1},{"a":1}]})");
  EXPECT_FALSE(none.repeated);
  const auto read = read_json<Json>(R"({"a":1,"b":2,"\u0061":3,"b":4})");
  ASSERT_TRUE(read.repeated);
  EXPECT_EQ(read.repeated->name, "a");
  EXPECT_EQ(read.repeated->depth, 1u);
  EXPECT_EQ(read.value, Json::parse(R"({"a":3,"b":4})"));
}

TEST(ParseJson, TheOutermostMemberThatIsRepeatedIsTold) {
  const auto inner = read_json<OrderedJson>(R"([{"a":{"x":1,"y":2,"x":[3]}},{"b":1}])");
  ASSERT_TRUE(inner.repeated);
  EXPECT_EQ(inner.repeated->name, "x");
  EXPECT_EQ(inner.repeated->depth, 3u);
  const auto outer = read_json<OrderedJson>(R"({"a":{"x":1,"x":2},"a":3})");
  ASSERT_TRUE(outer.repeated);
  EXPECT_EQ(outer.repeated->name, "a");
}

/// With a look-up for each member it would take minutes.
TEST(ParseJson, ObjectsMayHaveManyMembers) {
  std::string text;
  for (int i = 0; i < 100'000; ++i) text += "\"" + std::to_string(i) + "\":1,";
  EXPECT_EQ(parse_json<OrderedJson>("{" + text + "\"last\":1}").size(), 100'001u);
  const auto read = read_json<OrderedJson>("{" + text + "\"7\":1}");
  ASSERT_TRUE(read.repeated);
  EXPECT_EQ(read.repeated->name, "7");
}

}  // namespace
}  // namespace gorgo::codec
