#include "cluster/evaluation.hpp"

#include <gtest/gtest.h>

namespace gorgo::cluster {
namespace {

TEST(Evaluation, ACompositeThatIsTooLargeForABrokerIsLeftOutAndCounted) {
  Evaluation evaluation{ProcessorOptions{}};
  const RulesMessage rules{.version = 1,
                           .texts = {{"r",
                                      "event A(text: string);\n"
                                      "rule twice: define Twice(first: string, second: string)\n"
                                      "  from A() where first = A.text, second = A.text;\n"}},
                           .rules = {"twice"}};
  const std::string text = rules.to_json();
  EXPECT_TRUE(evaluation.take({.sequence = 1, .rules = "1", .payload = text}).empty());
  ASSERT_EQ(evaluation.problem(), "");

  BatchBuilder events;
  std::vector<Place> places;
  for (const std::size_t size : {std::size_t{10}, kMostEventBytes / 2, std::size_t{20}}) {
    events.add(Event{"A", 1000, {{"text", std::string(size, 'x')}}});
    places.push_back({places.size() + 1, 0});
  }
  const auto frame = encode_events(events.batch(), places);
  const std::string_view payload(reinterpret_cast<const char*>(frame.data()), frame.size());
  const InputPlaces from_to{places.front(), places.back()};
  const std::string span = from_to.text();
  const auto messages =
      evaluation.take({.sequence = 2, .from = "north-1", .places = span, .payload = payload});
  ASSERT_EQ(messages.size(), 1u);
  EXPECT_EQ(messages[0].composites, 2u);
  EXPECT_LT(messages[0].payload.size(), std::size_t{4096});
  EXPECT_EQ(evaluation.counters().composites, 2u);
  EXPECT_EQ(evaluation.counters().problems, 1u);
  EXPECT_NE(evaluation.problem().find("Twice"), std::string::npos) << evaluation.problem();
}

}  // namespace
}  // namespace gorgo::cluster
