#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "protocol/batch.hpp"
#include "protocol/batch_check.hpp"
#include "protocol/framing.hpp"

namespace gorgo {

bool operator==(const Attribute& a, const Attribute& b) {
  return a.name == b.name && a.value == b.value;
}
bool operator==(const Event& a, const Event& b) {
  return a.type == b.type && a.timestamp == b.timestamp && a.attributes == b.attributes;
}

namespace protocol {
namespace {

std::vector<Event> events_of(const EventBatch& batch) {
  std::vector<Event> events;
  for (BatchCursor event(batch); !event.done(); event.advance()) events.push_back(event.to_event());
  return events;
}

/// A batch that is added as a whole comes behind what is there, whatever it consists of.
void expect_that_it_can_be_added(const EventBatch& batch) {
  const std::vector<Event> events = events_of(batch);
  BatchBuilder twice;
  twice.add(batch);
  twice.add(batch);
  flatbuffers::FlatBufferBuilder builder;
  builder.Finish(pack(builder, twice.batch()));
  EXPECT_LE(builder.GetSize(), twice.bytes() + 256);
  const std::vector<Event> all = events_of(twice.batch());
  ASSERT_EQ(all.size(), 2 * events.size());
  EXPECT_TRUE(std::equal(events.begin(), events.end(), all.begin()));
  EXPECT_TRUE(std::equal(events.begin(), events.end(), all.begin() + events.size()));
}

std::vector<Event> through_the_wire(const std::vector<Event>& events) {
  BatchBuilder collected;
  for (const Event& event : events) collected.add(event);
  flatbuffers::FlatBufferBuilder builder;
  builder.Finish(pack(builder, collected.batch()));
  EXPECT_LE(builder.GetSize(), collected.bytes() + 256);
  const auto* batch = flatbuffers::GetRoot<wire::Batch>(builder.GetBufferPointer());
  EXPECT_TRUE(check_batch(*batch, builder.GetSize(), kDefaultMaxRows));
  EXPECT_EQ(row_count(*batch), events.size());
  expect_that_it_can_be_added(view_of(*batch));
  return events_of(view_of(*batch));
}

TEST(Batch, EventsOfOneTypeComeBackInOrder) {
  const std::vector<Event> events = {{"Temp", 10, {{"area", "A1"}, {"value", 1.5}}},
                                     {"Temp", 20, {{"area", std::string()}, {"value", -0.25}}},
                                     {"Temp", 20, {{"area", "gr\xc3\xbcn"}, {"value", 3.0}}}};
  EXPECT_EQ(through_the_wire(events), events);
}

TEST(Batch, TypesInterleave) {
  std::vector<Event> events;
  for (std::int64_t i = 0; i < 100; ++i) {
    events.push_back({i % 3 == 0 ? "Temp" : "Smoke", i, {{"n", i}}});
  }
  EXPECT_EQ(through_the_wire(events), events);
}

TEST(Batch, MissingAttributesStayMissing) {
  std::vector<Event> events;
  for (std::int64_t i = 0; i < 40; ++i) {
    Event event{"Temp", std::nullopt, {}};
    if (i % 2 == 0) event.attributes.push_back({"a", i});
    if (i % 5 == 4) event.attributes.push_back({"b", std::string("text")});
    if (i > 30) event.attributes.push_back({"c", true});
    events.push_back(event);
  }
  EXPECT_EQ(through_the_wire(events), events);
}

TEST(Batch, StampedAndUnstampedEventsOfAType) {
  const std::vector<Event> events = {
      {"T", std::nullopt, {}}, {"T", 5, {}}, {"T", std::nullopt, {}}};
  EXPECT_EQ(through_the_wire(events), events);
}

TEST(Batch, AnAttributeMayChangeItsTypeFromRowToRow) {
  const std::vector<Event> events = {{"T", 1, {{"v", std::int64_t{1}}}},
                                     {"T", 2, {{"v", 1.0}}},
                                     {"T", 3, {{"v", std::string("1")}}},
                                     {"T", 4, {{"v", false}}}};
  EXPECT_EQ(through_the_wire(events), events);
}

TEST(Batch, AnAttributeThatIsGivenTwiceComesTwice) {
  const std::vector<Event> events = {{"T", 1, {{"v", std::int64_t{1}}, {"v", std::int64_t{2}}}},
                                     {"T", 2, {{"v", std::int64_t{3}}}}};
  EXPECT_EQ(through_the_wire(events), events);
}

TEST(Batch, TablesOfOneTypeKeepTheirOrder) {
  const std::vector<Event> events = {{"T", 1, {{"v", std::int64_t{1}}}},
                                     {"T", 2, {{"v", std::int64_t{2}}}}};
  BatchBuilder first, second;
  first.add(events[0]);
  second.add(events[1]);
  EventBatch both = first.batch();
  both.tables.push_back(second.batch().tables.front());
  EXPECT_EQ(events_of(both), events);
  expect_that_it_can_be_added(both);
  const std::vector<std::uint16_t> order = {1, 0};
  both.order = order;
  EXPECT_EQ(events_of(both), std::vector<Event>({events[1], events[0]}));
  expect_that_it_can_be_added(both);
}

TEST(Batch, ExtremeValuesAreExact) {
  const std::vector<Event> events = {{"T",
                                      std::numeric_limits<Timestamp>::min(),
                                      {{"v", std::numeric_limits<std::int64_t>::min()}}},
                                     {"T",
                                      std::numeric_limits<Timestamp>::max(),
                                      {{"v", std::numeric_limits<std::int64_t>::max()}}},
                                     {"T", 0, {{"f", std::numeric_limits<double>::denorm_min()}}},
                                     {"T", 0, {{"f", -std::numeric_limits<double>::infinity()}}}};
  EXPECT_EQ(through_the_wire(events), events);
}

TEST(Batch, TheEstimateOfItsBytesIsAboveTheTrueSize) {
  BatchBuilder sparse, dense;
  for (int i = 0; i < 200; ++i) {
    sparse.add({"T", 1, {{"a" + std::to_string(i), std::int64_t{i}}}});
    dense.add({"T", 1, {{"a", 1.5}, {"b", std::string(100, 'x')}}});
  }
  for (BatchBuilder* collected : {&sparse, &dense}) {
    flatbuffers::FlatBufferBuilder builder;
    builder.Finish(pack(builder, collected->batch()));
    EXPECT_LE(builder.GetSize(), collected->bytes() + 256);
  }
}

TEST(Batch, NoEvents) { EXPECT_TRUE(through_the_wire({}).empty()); }

}  // namespace
}  // namespace protocol
}  // namespace gorgo
