#include "codec/json_parts.hpp"

#include <gtest/gtest.h>

namespace gorgo::codec {
namespace {

using Parts = std::vector<std::string>;

TEST(JsonParts, AreAsTheyAreWritten) {
  EXPECT_EQ(json_parts(R"([{"ts":1795967299992.630466,"a":1e0}, 7 ,"x\ny"])"),
            (Parts{R"({"ts":1795967299992.630466,"a":1e0})", "7", R"("x\ny")"}));
  EXPECT_EQ(json_parts("[]"), Parts{});
}

TEST(JsonParts, StandOnOneLine) {
  EXPECT_EQ(json_parts("[{\n\"a\":\r\n1}]"), (Parts{"{ \"a\":  1}"}));
  EXPECT_EQ(json_parts("{\"a\":\n[1, 2]}"), (Parts{"{\"a\": [1, 2]}"}));
}

TEST(JsonParts, AreThoseOfTheLastMemberOfTheName) {
  EXPECT_EQ(json_parts(R"({"request":[1],"publish":[{"a":1},{"publish":2}]})", "publish"),
            (Parts{R"({"a":1})", R"({"publish":2})"}));
  EXPECT_EQ(json_parts(R"({"publish":1,"pu\u0062lish":{"a":2}})", "publish"),
            (Parts{R"({"a":2})"}));
  EXPECT_EQ(json_parts(R"({"request":7})", "publish"), Parts{});
}

}  // namespace
}  // namespace gorgo::codec
