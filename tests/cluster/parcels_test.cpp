#include "cluster/parcels.hpp"

#include <gtest/gtest.h>

#include "cluster/partition_of.hpp"
#include "cluster/wire.hpp"
#include "codec/event_notation.hpp"
#include "columns.hpp"

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

std::vector<Parcels::Round> pack(Parcels& parcels, const std::vector<doors::Departing::Row>& rows) {
  Columns columns(rows);
  const auto view = columns.view();
  return parcels.pack(std::span(&view, 1));
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
  const auto rounds = pack(parcels, {row(5, "A", 10), row(6, "B", 11), row(9, "A", 12)});
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
  EXPECT_TRUE(pack(parcels, {{{1, 0}, {"Fire", 5, {}}}}).empty());
}

TEST(Parcels, ALateEventComesBehindTheClock) {
  Parcels parcels("plant", "north-1");
  parcels.follow(routing(true));
  const auto rounds =
      pack(parcels, {row(1, "A", 10), row(2, "B", 100), row(3, "A", 50), row(4, "A", 101)});
  ASSERT_EQ(rounds.size(), 2u);
  EXPECT_EQ(header(rounds[0], subject_of("A"), kPlaceHeader), "1-0/1-0");
  EXPECT_EQ(header(rounds[1], subject_of("A"), kPlaceHeader), "3-0/4-0");
  EXPECT_EQ(header(rounds[1], subject_of("A"), kClockHeader), "100");
}

TEST(Parcels, EventsThatAreSentAgainArePackedAsBefore) {
  Parcels parcels("plant", "north-1");
  parcels.follow(routing(true));
  const std::vector events{row(1, "A", 10), row(2, "B", 100), row(3, "A", 50)};
  const auto first = pack(parcels, events);
  parcels.sent();
  static_cast<void>(pack(parcels, {row(4, "A", 70)}));
  parcels.take_back();
  const auto again = pack(parcels, events);
  ASSERT_EQ(first.size(), again.size());
  for (std::size_t i = 0; i < first.size(); ++i) {
    ASSERT_EQ(first[i].size(), again[i].size());
    for (std::size_t j = 0; j < first[i].size(); ++j) {
      EXPECT_EQ(first[i][j].headers, again[i][j].headers);
      EXPECT_EQ(first[i][j].payload, again[i][j].payload);
    }
  }
}

TEST(Parcels, EventsAreLateBehindWhatIsUnderWay) {
  Parcels parcels("plant", "north-1");
  parcels.follow(routing(true));
  static_cast<void>(pack(parcels, {row(1, "A", 10), row(2, "B", 100)}));
  parcels.sent();
  const auto rounds = pack(parcels, {row(3, "A", 50)});
  parcels.confirm();
  ASSERT_EQ(rounds.size(), 1u);
  EXPECT_EQ(header(rounds[0], subject_of("A"), kClockHeader), "100");
  parcels.sent();
  const auto next = pack(parcels, {row(4, "A", 60)});
  ASSERT_EQ(next.size(), 1u);
  EXPECT_EQ(header(next[0], subject_of("A"), kClockHeader), "-");  // it knows
}

/// What a partition gets in all rounds, as rows.
std::vector<doors::Departing::Row> rows_to(const std::string& subject,
                                           const std::vector<Parcels::Round>& rounds) {
  std::vector<doors::Departing::Row> rows;
  for (const Parcels::Round& round : rounds) {
    for (const StreamMessage& message : round) {
      if (message.subject != subject) continue;
      const auto events = ReceivedEvents::decode(
          {reinterpret_cast<const char*>(message.payload.data()), message.payload.size()});
      for (BatchCursor next(events.value().batch()); !next.done(); next.advance()) {
        rows.push_back({events->places()[next.position()], next.to_event()});
      }
    }
  }
  return rows;
}

/// Events of two types, some of which lack attributes or have some of another type.
std::vector<doors::Departing::Row> mixed_rows(std::uint64_t first, std::uint64_t count) {
  std::vector<doors::Departing::Row> rows;
  for (std::uint64_t i = first; i < first + count; ++i) {
    Event event{i % 5 == 0 ? "Smoke" : "Temp", static_cast<Timestamp>(i), {}};
    if (i % 3 != 0) event.attributes.push_back({"area", "area " + std::to_string(i % 7)});
    if (i % 4 == 0) event.attributes.push_back({"value", static_cast<double>(i)});
    if (i % 4 == 1) event.attributes.push_back({"value", static_cast<std::int64_t>(i)});
    if (i % 4 == 2) event.attributes.push_back({"value", i % 8 == 2});
    if (i >= first + count / 2) event.attributes.push_back({"note", std::string(i % 90, 'n')});
    rows.push_back({{i, static_cast<std::uint32_t>(i % 2)}, std::move(event)});
  }
  return rows;
}

TEST(Parcels, EveryEventArrivesWithItsValuesAndItsPlace) {
  Parcels parcels("plant", "north-1");
  parcels.follow(routing(false));
  const auto one = mixed_rows(1, 999), other = mixed_rows(1000, 9000);
  Columns first(one), second(other);
  const std::vector parts{first.view(40), second.view()};
  const auto rounds = parcels.pack(parts);
  EXPECT_GT(rounds.size(), 1u);  // a message is full
  std::map<std::string, std::vector<doors::Departing::Row>> expected;
  for (const auto& row : doors::rows_of(parts).rows) {
    expected["gorgo.plant.in.whole.0"].push_back(row);
    if (row.event.type == "Smoke") continue;
    const bool has_area =
        !row.event.attributes.empty() && row.event.attributes.front().name == "area";
    const auto key = has_area ? key_text(to_datum(row.event.attributes.front().value)) : "";
    expected[subject_of(key)].push_back(row);
  }
  EXPECT_EQ(expected["gorgo.plant.in.whole.0"].size(), 9959u);
  for (const auto& [subject, wanted] : expected) {
    const auto got = rows_to(subject, rounds);
    ASSERT_EQ(got.size(), wanted.size()) << subject;
    for (std::size_t i = 0; i < got.size(); ++i) {
      ASSERT_EQ(got[i].place, wanted[i].place) << subject;
      ASSERT_EQ(codec::notation_of(got[i].event), codec::notation_of(wanted[i].event)) << subject;
    }
  }
}

TEST(Parcels, PartitionsThatWaitForTheClockAreToldOnce) {
  Parcels parcels("plant", "north-1");
  parcels.follow(routing(true));
  EXPECT_TRUE(parcels.tell_clock().empty());
  static_cast<void>(pack(parcels, {row(1, "A", 10)}));
  parcels.sent();
  parcels.confirm();
  const auto told = parcels.tell_clock();
  EXPECT_EQ(told.size(), 3u);  // that of A knows
  EXPECT_EQ(header(told, subject_of("A"), kClockHeader), "-");
  parcels.sent();
  parcels.confirm();
  EXPECT_TRUE(parcels.tell_clock().empty());
}

}  // namespace
}  // namespace gorgo::cluster
