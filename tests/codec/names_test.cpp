#include "codec/names.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace gorgo::codec {
namespace {

using ::testing::HasSubstr;

TEST(Names, WordsOfLettersDigitsAndUnderscoresAreNames) {
  for (const char* name : {"a", "_", "Temp2", "measured_temp", "last", "event", "rule"}) {
    EXPECT_FALSE(problem_of_name(name, "a type")) << name;
    EXPECT_FALSE(problem_of_attribute_name(name)) << name;
  }
}

TEST(Names, NothingElseIsAName) {
  for (const char* name : {"", "2a", "a b", "a-b", "a.b", "gr\xc3\xbcn", "*", "$a", "a\n"}) {
    ASSERT_TRUE(problem_of_name(name, "a type")) << name;
    EXPECT_THAT(problem_of_name(name, "a type")->to_string(), HasSubstr("letters, digits"));
    EXPECT_TRUE(problem_of_attribute_name(name)) << name;
  }
}

TEST(Names, WordsOfTheLanguageAreNoneInAnyCase) {
  for (const char* name : {"and", "OR", "Not", "true", "FALSE"}) {
    EXPECT_TRUE(problem_of_name(name, "an alias")) << name;
    EXPECT_TRUE(problem_of_attribute_name(name)) << name;
  }
  EXPECT_TRUE(problem_of_name("Within", "a rule"));
  EXPECT_FALSE(problem_of_attribute_name("Within"));
  EXPECT_TRUE(problem_of_attribute_name("timestamp"));
  EXPECT_FALSE(problem_of_name("timestamp", "a type"));
}

TEST(Names, LongNamesAreRefusedAndShownInPart) {
  EXPECT_FALSE(problem_of_name(std::string(kLongestName, 'x'), "a type"));
  const auto problem = problem_of_name(std::string(kLongestName + 1, 'x'), "a type");
  ASSERT_TRUE(problem);
  EXPECT_THAT(problem->to_string(), HasSubstr("at most 1024 bytes"));
  EXPECT_LT(problem->to_string().size(), 200u);
}

TEST(Names, EventsOfUndeclaredTypesMayHaveOtherNames) {
  EXPECT_TRUE(is_event_name("air temperature [K]"));
  EXPECT_TRUE(is_event_name("gr\xc3\xbcn"));
  EXPECT_FALSE(is_event_name(""));
  EXPECT_FALSE(is_event_name("\xc3"));
  EXPECT_FALSE(is_event_name(std::string(kLongestName + 1, 'x')));
}

}  // namespace
}  // namespace gorgo::codec
