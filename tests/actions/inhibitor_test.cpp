#include "actions/inhibitor.hpp"

#include <gtest/gtest.h>

namespace gorgo::actions {
namespace {

constexpr Timestamp kSecond = 1'000'000'000;

doors::Departing::Row event(const std::string& type, const std::string& area, Timestamp seconds) {
  Event event{.type = type, .timestamp = seconds * kSecond, .attributes = {}};
  if (!area.empty()) event.attributes.push_back({"area", area});
  return {{7, 1}, std::move(event)};
}

Inhibition fire_over_smoke() {
  return {.source = {"type=Fire"}, .target = {"type=Smoke"}, .equal = {"area"}, .for_ms = 10'000};
}

TEST(Inhibitor, ASourceInhibitsWhatAgreesWithItForAWhile) {
  Inhibitor inhibitor({{"fire", fire_over_smoke()}});
  EXPECT_FALSE(inhibitor.takes(event("Smoke", "A", 1)));
  EXPECT_FALSE(inhibitor.takes(event("Fire", "A", 2)));
  EXPECT_TRUE(inhibitor.takes(event("Smoke", "A", 2)));
  EXPECT_FALSE(inhibitor.takes(event("Smoke", "B", 3))) << "another area";
  EXPECT_FALSE(inhibitor.takes(event("Flood", "A", 3))) << "no target";
  EXPECT_TRUE(inhibitor.takes(event("Smoke", "A", 12)));
  EXPECT_FALSE(inhibitor.takes(event("Smoke", "A", 13))) << "it is over";
}

TEST(Inhibitor, TheLastSourceCounts) {
  Inhibitor inhibitor({{"fire", fire_over_smoke()}});
  inhibitor.takes(event("Fire", "A", 1));
  inhibitor.takes(event("Fire", "A", 9));
  EXPECT_TRUE(inhibitor.takes(event("Smoke", "A", 19)));
  EXPECT_FALSE(inhibitor.takes(event("Smoke", "A", 20)));
}

TEST(Inhibitor, AnEventDoesNotInhibitItself) {
  Inhibition hot = fire_over_smoke();
  hot.target = {"area=A"};
  Inhibitor inhibitor({{"hot", hot}});
  EXPECT_FALSE(inhibitor.takes(event("Fire", "A", 1)));
  EXPECT_FALSE(inhibitor.takes(event("Fire", "A", 2))) << "nor others that could inhibit it";
  EXPECT_TRUE(inhibitor.takes(event("Smoke", "A", 2)));
}

TEST(Inhibitor, WhatBothLackIsEqual) {
  Inhibitor inhibitor({{"fire", fire_over_smoke()}});
  inhibitor.takes(event("Fire", "", 1));
  EXPECT_TRUE(inhibitor.takes(event("Smoke", "", 1)));
  EXPECT_FALSE(inhibitor.takes(event("Smoke", "A", 1)));
}

TEST(Inhibitor, ForgetsTheOldestOfTooMany) {
  Inhibitor inhibitor({{"fire", fire_over_smoke()}});
  inhibitor.takes(event("Fire", "first", 1));
  for (int i = 0; i < 10'000; ++i) inhibitor.takes(event("Fire", std::to_string(i), 2));
  EXPECT_FALSE(inhibitor.takes(event("Smoke", "first", 2)));
  EXPECT_TRUE(inhibitor.takes(event("Smoke", "9999", 2)));
}

TEST(Inhibitor, KnowsAgainWhatItHasSaved) {
  Inhibitor inhibitor({{"fire", fire_over_smoke()}});
  inhibitor.takes(event("Fire", "A", 2));
  Inhibitor again({{"fire", fire_over_smoke()}}), other({{"fire", [] {
                                                            Inhibition longer = fire_over_smoke();
                                                            longer.for_ms = 20'000;
                                                            return longer;
                                                          }()}});
  again.restore(inhibitor.saved());
  other.restore(inhibitor.saved());
  EXPECT_TRUE(again.takes(event("Smoke", "A", 12)));
  EXPECT_FALSE(again.takes(event("Smoke", "A", 13))) << "it is over";
  EXPECT_FALSE(other.takes(event("Smoke", "A", 3))) << "the table is another one";
}

TEST(Inhibitor, SaysWhichTypesItIsAbout) {
  const Inhibitor inhibitor({{"fire", fire_over_smoke()}});
  EXPECT_TRUE(inhibitor.is_about("Fire"));
  EXPECT_TRUE(inhibitor.is_about("Smoke"));
  EXPECT_FALSE(inhibitor.is_about("Flood"));
  Inhibition any = fire_over_smoke();
  any.source = {"area=A"};
  EXPECT_TRUE(Inhibitor({{"any", any}}).is_about("Flood"));
}

}  // namespace
}  // namespace gorgo::actions
