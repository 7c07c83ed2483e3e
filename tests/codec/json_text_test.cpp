#include "codec/json_text.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace gorgo::codec {
namespace {

using OrderedJson = nlohmann::ordered_json;

TEST(JsonText, IsThatOfTheLibrary) {
  const OrderedJson json = {{"b", {1, -2.5, true, nullptr, "\"\n\u00fc"}},
                            {"a\"", OrderedJson::object()},
                            {"", {{"list", OrderedJson::array()}, {"deep", {{{"x", 1}}}}}}};
  EXPECT_EQ(json_text(json), json.dump());
  EXPECT_EQ(json_text(json, 2), json.dump(2));
  EXPECT_EQ(json_text("\xff"), "\"\xEF\xBF\xBD\"");
}

TEST(JsonText, HasEveryNanosecond) {
  const OrderedJson json = {{"ts", exact_milliseconds(1795967299992630466)},
                            {"whole", exact_milliseconds(-1000000)}};
  EXPECT_EQ(json_text(json), R"({"ts":1795967299992.630466,"whole":-1})");
}

}  // namespace
}  // namespace gorgo::codec
