#include "codec/nesting.hpp"

#include <gtest/gtest.h>

#include <string>

namespace gorgo::codec {
namespace {

std::string times(std::size_t count, const std::string& text) {
  std::string all;
  for (std::size_t i = 0; i < count; ++i) all += text;
  return all;
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

}  // namespace
}  // namespace gorgo::codec
