#include "cluster/parcels.hpp"

#include <gtest/gtest.h>

#include "cluster/partition_of.hpp"

namespace gorgo::cluster {
namespace {

Routing routing(bool needs_clock) {
  Deployment deployment;
  deployment.partitions = 4;
  Family area{.name = "area", .keys = {{"Temp", "area"}}, .rules = {"r"}, .takes = {"Temp"}};
  area.needs_clock = needs_clock;
  deployment.plan.families = {area, {.name = "whole", .rules = {"w"}, .takes = {"Temp", "Smoke"}}};
  return Routing(deployment);
}

doors::Departing::Row row(std::uint64_t root, const std::string& area, Timestamp time) {
  return {{root, 0}, {"Temp", time, {{"area", area}}}};
}

std::string subject_of(const std::string& area) {
  return "gorgo.plant.in.area." + std::to_string(partition_of(area, 4));
}

/// The header of the only message to a subject in a round; "-": there is none such.
std::string header(const Parcels::Round& round, const std::string& subject, const char* name) {
  for (const StreamMessage& message : round) {
    if (message.subject != subject) continue;
    for (const auto& [known, value] : message.headers) {
      if (known == name) return value;
    }
  }
  return "-";
}

TEST(Parcels, EventsGoToTheirPartitionsInEachFamily) {
  Parcels parcels("plant", "north-1");
  parcels.follow(routing(false));
  const auto rounds = parcels.pack({{row(5, "A", 10), row(6, "B", 11), row(9, "A", 12)}});
  ASSERT_EQ(rounds.size(), 1u);
  EXPECT_EQ(header(rounds[0], subject_of("A"), kPlaceHeader), "5-0/9-0");
  EXPECT_EQ(header(rounds[0], subject_of("B"), kPlaceHeader), "6-0/6-0");
  EXPECT_EQ(header(rounds[0], "gorgo.plant.in.whole.0", kPlaceHeader), "5-0/9-0");
  EXPECT_EQ(header(rounds[0], subject_of("A"), kFromHeader), "north-1");
  EXPECT_EQ(header(rounds[0], subject_of("A"), kClockHeader), "-");
}

TEST(Parcels, WhatNoRuleReadsIsNotSent) {
  Parcels parcels("plant", "north-1");
  parcels.follow(routing(false));
  EXPECT_TRUE(parcels.pack({{{{1, 0}, {"Fire", 5, {}}}}}).empty());
}

TEST(Parcels, ALateEventComesBehindTheClock) {
  Parcels parcels("plant", "north-1");
  parcels.follow(routing(true));
  const auto rounds =
      parcels.pack({{row(1, "A", 10), row(2, "B", 100), row(3, "A", 50), row(4, "A", 101)}});
  ASSERT_EQ(rounds.size(), 2u);
  EXPECT_EQ(header(rounds[0], subject_of("A"), kPlaceHeader), "1-0/1-0");
  EXPECT_EQ(header(rounds[1], subject_of("A"), kPlaceHeader), "3-0/4-0");
  EXPECT_EQ(header(rounds[1], subject_of("A"), kClockHeader), "100");
}

TEST(Parcels, EventsThatAreSentAgainArePackedAsBefore) {
  Parcels parcels("plant", "north-1");
  parcels.follow(routing(true));
  const doors::Departing events{{row(1, "A", 10), row(2, "B", 100), row(3, "A", 50)}};
  const auto first = parcels.pack(events), again = parcels.pack(events);
  ASSERT_EQ(first.size(), again.size());
  for (std::size_t i = 0; i < first.size(); ++i) {
    ASSERT_EQ(first[i].size(), again[i].size());
    for (std::size_t j = 0; j < first[i].size(); ++j) {
      EXPECT_EQ(first[i][j].headers, again[i][j].headers);
      EXPECT_EQ(first[i][j].payload, again[i][j].payload);
    }
  }
}

TEST(Parcels, PartitionsThatWaitForTheClockAreToldOnce) {
  Parcels parcels("plant", "north-1");
  parcels.follow(routing(true));
  EXPECT_TRUE(parcels.tell_clock().empty());
  static_cast<void>(parcels.pack({{row(1, "A", 10)}}));
  parcels.confirm();
  const auto told = parcels.tell_clock();
  EXPECT_EQ(told.size(), 3u);  // that of A knows
  EXPECT_EQ(header(told, subject_of("A"), kClockHeader), "-");
  parcels.confirm();
  EXPECT_TRUE(parcels.tell_clock().empty());
}

}  // namespace
}  // namespace gorgo::cluster
