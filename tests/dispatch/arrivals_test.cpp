#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "dispatch/order/arrivals.hpp"
#include "gorgo/processor.hpp"

// What comes and nobody reads, and what is read and never comes.
namespace gorgo {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

TypeInfo type_of(const Processor& processor, const std::string& name) {
  const auto types = processor.types();
  const auto found = std::ranges::find(types, name, &TypeInfo::name);
  EXPECT_NE(found, types.end()) << name;
  return found == types.end() ? TypeInfo() : *found;
}

Processor with_rule(const std::string& rule) {
  Processor processor;
  const auto diagnostics = processor.deploy("test", rule);
  EXPECT_FALSE(diagnostics.failed()) << diagnostics.render();
  return processor;
}

constexpr const char* kHotRule =
    "define Hot(area: string) from Temp(value > 45 and room = 1) where area = Temp.area;";

TEST(Arrivals, ATypeThatNoRuleReadsIsListedWithItsAttributes) {
  Processor processor = with_rule(kHotRule);
  ASSERT_TRUE(processor.append({"Tmep", 1, {{"value", 50.0}, {"area", "A1"}}}));
  ASSERT_TRUE(processor.append({"Tmep", 2, {{"value", 50.0}}}));
  const TypeInfo unread = type_of(processor, "Tmep");
  EXPECT_TRUE(unread.is_unread);
  EXPECT_EQ(unread.accepted, 2u);
  EXPECT_THAT(unread.unread_attributes, ElementsAre("area", "value"));
  EXPECT_FALSE(type_of(processor, "Temp").is_unread);
  EXPECT_EQ(processor.types().size(), processor.type_count());
}

TEST(Arrivals, CompositesThatAreReadAmongSeveralTypesHaveCome) {
  Processor processor = with_rule(
      "event Temp(value: float); event Smoke(); define Hot() from Temp(value > 45);"
      "define Alarm() from Smoke or Hot();");
  for (Timestamp ts = 1; ts <= 3; ++ts) {
    ASSERT_TRUE(processor.append({"Temp", ts, {{"value", ts == 2 ? 1.0 : 50.0}}}));
  }
  processor.process([](const OutputBatch&) {});
  EXPECT_EQ(type_of(processor, "Hot").seen, 2u);
  EXPECT_EQ(type_of(processor, "Smoke").seen, 0u);
  EXPECT_EQ(type_of(processor, "Hot or Smoke").seen, 2u);
}

TEST(Arrivals, PagesOfTypesHaveEachTypeOnce) {
  Processor processor = with_rule(kHotRule);
  for (const char* name : {"A", "B", "Temp"}) {
    ASSERT_TRUE(processor.append({name, 1, {{"value", 1.0}}}));
  }
  std::vector<std::string> names;
  for (std::size_t first = 0; first < processor.type_count(); ++first) {
    for (const TypeInfo& type : processor.types(first, 1)) names.push_back(type.name);
  }
  EXPECT_THAT(names, ElementsAre("Temp", "A", "B"));
}

TEST(Arrivals, AttributesThatNobodyReadsAndThatNeverComeAreNamed) {
  Processor processor = with_rule(kHotRule);
  EXPECT_THAT(type_of(processor, "Temp").missing_attributes, IsEmpty()) << "nothing has come";
  ASSERT_TRUE(processor.append({"Temp", 1, {{"value", 50.0}, {"area", "A1"}, {"colour", "red"}}}));
  const TypeInfo temp = type_of(processor, "Temp");
  EXPECT_THAT(temp.missing_attributes, ElementsAre("room"));
  EXPECT_THAT(temp.unread_attributes, ElementsAre("colour"));
  EXPECT_EQ(temp.no_value, 1u);
}

TEST(Arrivals, AnAttributeOfADeclaredTypeIsReadAsLongAsARuleReadsIt) {
  Processor processor = with_rule(
      "event Temp(area: string, value: float);"
      "rule one: define Hot(v: float) from Temp(value > 45) where v = Temp.value;");
  ASSERT_TRUE(processor.append({"Temp", 1, {{"area", "A1"}, {"value", 1.0}}}));
  processor.process([](const OutputBatch&) {});
  EXPECT_THAT(type_of(processor, "Temp").unread_attributes, ElementsAre("area"));
  ASSERT_FALSE(
      processor.deploy("two", "rule two: define In(a: string) from Temp() where a = Temp.area;")
          .failed());
  EXPECT_THAT(type_of(processor, "Temp").unread_attributes, IsEmpty());
  ASSERT_TRUE(processor.remove("two"));
  EXPECT_THAT(type_of(processor, "Temp").unread_attributes, ElementsAre("area"));
}

TEST(Arrivals, PublishersCannotMakeItGrowWithoutBound) {
  dispatch::Arrivals arrivals;
  const std::vector<std::string_view> none;
  for (std::size_t i = 0; i < dispatch::Arrivals::kMostTypes + 10; ++i) {
    ++arrivals.note("T" + std::to_string(i), none).accepted;
  }
  arrivals.note(std::string(10'000, 'x'), none);
  EXPECT_THAT(arrivals.types(), SizeIs(dispatch::Arrivals::kMostTypes));
  for (int i = 0; i < 1000; ++i) {
    const std::string name = "a" + std::to_string(i);
    arrivals.note("T1", std::vector<std::string_view>{name});
  }
  EXPECT_THAT(arrivals.types().at("T1").attributes, SizeIs(dispatch::Arrivals::kMostAttributes));
}

}  // namespace
}  // namespace gorgo
