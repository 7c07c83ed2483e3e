// What is written of each kind is read again, and bytes of another kind are refused.

#include "journal/records.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "text.hpp"

namespace gorgo::journal {
namespace {

using testing::HasSubstr;

template <class Table>
void expect_same(const typename Table::NativeTableType& value) {
  const auto bytes = encode<Table>(value);
  const auto again = decode<Table>(bytes);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(encode<Table>(*again), bytes);
  // A part of it is no record.
  EXPECT_FALSE(decode<Table>(Bytes(bytes).first(bytes.size() / 2)));
  EXPECT_FALSE(decode<Table>({}));
}

TEST(Records, AreReadAsTheyWereWritten) {
  stored::ClockMoveT clock;
  clock.clock = -5;
  clock.next_root = 7;
  clock.given = true;
  expect_same<stored::ClockMove>(clock);
  stored::RuleChangeT change;
  change.change = stored::Change::Remove;
  change.name = "fire";
  change.text = "define";
  change.replace = change.with_history = true;
  change.who = "ada";
  change.clock = 9;
  expect_same<stored::RuleChange>(change);
  stored::PinT pin;
  pin.rule = "fire";
  pin.engine = "column";
  expect_same<stored::Pin>(pin);
  stored::SuspensionT suspension;
  suspension.rule = "fire";
  suspension.suspended = true;
  expect_same<stored::Suspension>(suspension);
  stored::StarvationT starvation;
  starvation.rule = "fire";
  starvation.root = 7;
  starvation.terminators = 3;
  expect_same<stored::Starvation>(starvation);
  stored::ProducersT producers;
  producers.producers = {{1, 100}, {2, UINT64_MAX}};
  expect_same<stored::Producers>(producers);
  stored::SubscriptionT subscription;
  subscription.name = "billing";
  subscription.text = "Fire(area = 'kitchen')";
  expect_same<stored::Subscription>(subscription);
  stored::CursorT cursor;
  cursor.name = "billing";
  cursor.root = 12;
  cursor.ordinal = 3;
  expect_same<stored::Cursor>(cursor);
  stored::DoorChangeT door;
  door.name = "plant";
  door.text = "kind = 'file'";
  door.forget = true;
  expect_same<stored::DoorChange>(door);
  EXPECT_THAT(*to_json(28, encode<stored::DoorChange>(door)), HasSubstr("kind = 'file'"));
  stored::ResultsT results;
  results.hash = UINT64_MAX;
  expect_same<stored::Results>(results);
}

TEST(Records, KeepEachField) {
  stored::CursorT cursor;
  cursor.name = "billing";
  cursor.root = 12;
  cursor.ordinal = 3;
  const auto again = decode<stored::Cursor>(encode<stored::Cursor>(cursor));
  EXPECT_EQ(again->name, "billing");
  EXPECT_EQ(again->root, 12u);
  EXPECT_EQ(again->ordinal, 3u);
}

TEST(Records, AFrameStandsBehindItsAcceptance) {
  const stored::Acceptance acceptance(123, 456, 7, 8);
  std::string payload = text_of(bytes_of(acceptance)) + "the frame";
  const auto frame = decode_frame(bytes_of(std::string_view(payload)));
  ASSERT_TRUE(frame);
  EXPECT_EQ(text_of(bytes_of(frame->acceptance)), text_of(bytes_of(acceptance)));
  EXPECT_EQ(text_of(frame->frame), "the frame");
  EXPECT_FALSE(decode_frame(bytes_of(std::string_view("short"))));
}

TEST(Records, HaveNamesAndJson) {
  EXPECT_EQ(name_of(23), "Cursor");
  EXPECT_EQ(name_of(9999), "");
  stored::RuleChangeT change;
  change.name = "a \"quoted\" name";
  const auto json = to_json(18, encode<stored::RuleChange>(change));
  EXPECT_THAT(json.value(), HasSubstr(R"("name": "a \"quoted\" name")"));
  EXPECT_EQ(to_json(9999, {}).value(), "null");
  EXPECT_FALSE(to_json(18, bytes_of(std::string_view("no table"))));
}

}  // namespace
}  // namespace gorgo::journal
