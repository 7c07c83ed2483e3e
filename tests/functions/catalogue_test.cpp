#include "functions/catalogue.hpp"

#include <gtest/gtest.h>

#include <set>

namespace gorgo::functions {
namespace {

TEST(Catalogue, ListsEveryFunctionOnce) {
  std::set<Function> listed;
  std::set<std::string_view> names;
  for (const Signature& signature : catalogue()) {
    EXPECT_TRUE(listed.insert(signature.function).second) << signature.name;
    EXPECT_TRUE(names.insert(signature.name).second) << signature.name;
    EXPECT_FALSE(signature.parameters.empty()) << signature.name;
    EXPECT_NE(signature.usage.find(signature.name), signature.usage.npos) << signature.name;
  }
  EXPECT_EQ(listed.size(), static_cast<std::size_t>(Function::time) + 1);
}

TEST(Catalogue, FindsNamesInAnyCase) {
  ASSERT_NE(find("Geo_Distance"), nullptr);
  EXPECT_EQ(find("Geo_Distance")->function, Function::geo_distance);
  EXPECT_EQ(find("IF")->function, Function::choose);
  EXPECT_EQ(find(""), nullptr);
  EXPECT_EQ(find("sqroot"), nullptr);
}

}  // namespace
}  // namespace gorgo::functions
