#include "gorgo/diagnostics.hpp"

#include <gtest/gtest.h>

namespace gorgo {
namespace {

TEST(Diagnostics, RenderPointsAtThePlaceAndHints) {
  const Diagnostic d{.severity = Severity::error,
                     .file = "rules/fire.tesla",
                     .at = {.line = 3, .column = 6, .length = 4},
                     .message = "unknown type 'Tmep'",
                     .hint = "did you mean 'Temp'?",
                     .source_line = "\tand Tmep()"};
  EXPECT_EQ(render(d),
            "rules/fire.tesla:3:6: error: unknown type 'Tmep'\n"
            "  \tand Tmep()\n"
            "  \t    ^~~~\n"
            "  hint: did you mean 'Temp'?\n");
}

TEST(Diagnostics, OnlyErrorsFail) {
  Diagnostics d;
  d.list.push_back({.severity = Severity::warning, .message = "a cycle"});
  EXPECT_FALSE(d.failed());
  d.list.push_back({.severity = Severity::error, .message = "no"});
  EXPECT_TRUE(d.failed());
}

TEST(ClosestName, FindsSlipsAndLeavesStrangersAlone) {
  const std::vector<std::string> names = {"Smoke", "Temp", "Rain"};
  EXPECT_EQ(closest_name("Tmep", names), "Temp");
  EXPECT_EQ(closest_name("Tem", names), "Temp");
  EXPECT_EQ(closest_name("smoke", names), "Smoke");
  EXPECT_EQ(closest_name("Humidity", names), "");
}

}  // namespace
}  // namespace gorgo
