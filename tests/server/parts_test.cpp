#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include "codec/event_line.hpp"
#include "gorgo/processor.hpp"
#include "protocol/batch.hpp"
#include "server/engine/device_watch.hpp"
#include "server/engine/drop_watch.hpp"
#include "server/engine/producers.hpp"
#include "server/rules/rule_history.hpp"
#include "server/subscriptions/delivery.hpp"

namespace gorgo::server {
namespace {

TEST(Producers, OnlyRisingSequenceNumbersAdvance) {
  Producers producers(10);
  EXPECT_TRUE(producers.advance(1, 5));
  EXPECT_FALSE(producers.advance(1, 5));
  EXPECT_FALSE(producers.advance(1, 4));
  EXPECT_TRUE(producers.advance(1, 6));
  EXPECT_TRUE(producers.advance(2, 1));
}

TEST(Producers, TheLongestSilentIsForgotten) {
  Producers producers(2);
  EXPECT_TRUE(producers.advance(1, 5));
  EXPECT_TRUE(producers.advance(2, 5));
  EXPECT_FALSE(producers.advance(1, 5));  // seen again, so 2 is the silent one
  EXPECT_TRUE(producers.advance(3, 5));
  EXPECT_FALSE(producers.advance(1, 5));
  EXPECT_TRUE(producers.advance(2, 5));
}

TEST(Producers, WhatIsTakenBackIsFreeUnlessMoreHasCome) {
  Producers producers(2);
  EXPECT_TRUE(producers.advance(1, 5));
  EXPECT_TRUE(producers.advance(1, 6));
  producers.retract(1, 6, 5);
  EXPECT_TRUE(producers.advance(1, 6));
  EXPECT_TRUE(producers.advance(1, 7));
  producers.retract(1, 6, 5);
  EXPECT_FALSE(producers.advance(1, 7));
  EXPECT_TRUE(producers.advance(2, 1));
  producers.retract(2, 1, std::nullopt);
  EXPECT_EQ(producers.last(2), std::nullopt);
}

RuleHistory::Entry change(const std::string& who, std::size_t bytes = 1) {
  return {.who = who, .name = "plant", .text = std::string(bytes, 'x')};
}

std::size_t changes_of(const RuleHistory& history, const std::string& who) {
  return static_cast<std::size_t>(
      std::ranges::count(history.entries(), who, &RuleHistory::Entry::who));
}

TEST(RuleHistory, NobodyHasTheChangesOfOthersForgotten) {
  RuleHistory history;
  history.note(change("ada"));
  for (std::size_t i = 0; i < 2 * RuleHistory::kMostEntries; ++i) history.note(change("bob"));
  EXPECT_EQ(history.entries().size(), RuleHistory::kMostEntries);
  EXPECT_EQ(changes_of(history, "ada"), 1u);
  EXPECT_EQ(history.entries().front().number, 1u);
  EXPECT_EQ(history.entries().back().number, 2 * RuleHistory::kMostEntries + 1);
  for (int i = 0; i < 10; ++i) history.note(change("bob", RuleHistory::kLongest));
  EXPECT_EQ(changes_of(history, "ada"), 1u);
  for (std::size_t i = 0; i < 2 * RuleHistory::kMostEntries; ++i) history.note(change("ada"));
  EXPECT_GT(changes_of(history, "bob"), 0u);
  EXPECT_LE(changes_of(history, "ada"), RuleHistory::kMostEntries);
}

/// What the watch writes to the log.
std::string told(DeviceWatch& watch, const std::vector<DeviceInfo>& devices,
                 DeviceWatch::Time now) {
  ::testing::internal::CaptureStderr();
  watch.look(devices, now);
  return ::testing::internal::GetCapturedStderr();
}

TEST(DeviceWatch, TellsOfFailuresNowAndThenAndOfTheEndAtOnce) {
  using ::testing::AllOf, ::testing::HasSubstr, ::testing::IsEmpty;
  Log log(LogFormat::text, LogLevel::warning);
  DeviceWatch watch(log);
  const auto start = DeviceWatch::Time() + std::chrono::hours(1);
  std::vector<DeviceInfo> devices = {{.engine = "cuda", .number = 1}};
  EXPECT_THAT(told(watch, devices, start), IsEmpty());
  devices[0].failures = 2;
  devices[0].failure = "out of memory";
  devices[0].failed_on = "9 terminators of 'fire'";
  EXPECT_THAT(told(watch, devices, start),
              AllOf(HasSubstr("warning device failed, the CPU takes over"),
                    HasSubstr("engine=cuda device=1 reason=\"out of memory\""),
                    HasSubstr("evaluating=\"9 terminators of 'fire'\" failures=2")));
  EXPECT_THAT(told(watch, devices, start + DeviceWatch::kPause), IsEmpty());
  devices[0].failures = 5;
  EXPECT_THAT(told(watch, devices, start + DeviceWatch::kPause / 2), IsEmpty());
  EXPECT_THAT(told(watch, devices, start + DeviceWatch::kPause), HasSubstr("failures=3"));
  devices[0].failures = 6;
  devices[0].problem = "it is gone";
  EXPECT_THAT(told(watch, devices, start + DeviceWatch::kPause),
              AllOf(HasSubstr("device out of use"), HasSubstr("reason=\"it is gone\"")));
  EXPECT_THAT(told(watch, devices, start + 9 * DeviceWatch::kPause), IsEmpty());
}

TEST(DropWatch, TellsHowManyCompositesWereDroppedNowAndThen) {
  using ::testing::AllOf, ::testing::HasSubstr, ::testing::IsEmpty;
  Log log(LogFormat::text, LogLevel::warning);
  DropWatch watch(log);
  const auto start = DropWatch::Time() + std::chrono::hours(1);
  ProcessorCounters counters;
  const DroppedComposite last{.rule = "r.fire", .event = "Smoke"};
  const auto told = [&](DropWatch::Time now) {
    ::testing::internal::CaptureStderr();
    watch.look_at_composites(counters, last, now);
    return ::testing::internal::GetCapturedStderr();
  };
  EXPECT_THAT(told(start), IsEmpty());
  counters.dropped_composites = 7;
  EXPECT_THAT(told(start), AllOf(HasSubstr("warning composites dropped"), HasSubstr("composites=7"),
                                 HasSubstr("too_many_so_far=7"), HasSubstr("too_deep_so_far=0"),
                                 HasSubstr("last_rule=r.fire"), HasSubstr("last_event=Smoke")));
  counters.dropped_composites = 9;
  counters.dropped_depth = 1;
  EXPECT_THAT(told(start + LogLimit::kPause / 2), IsEmpty());
  EXPECT_THAT(told(start + LogLimit::kPause),
              AllOf(HasSubstr("composites=3"), HasSubstr("too_many_so_far=9"),
                    HasSubstr("too_deep_so_far=1")));
  EXPECT_THAT(told(start + 3 * LogLimit::kPause), IsEmpty());
}

TEST(DropWatch, TellsHowManyTerminatorsWerePassedOverNowAndThen) {
  using ::testing::AllOf, ::testing::HasSubstr, ::testing::IsEmpty;
  Log log(LogFormat::text, LogLevel::warning);
  DropWatch watch(log);
  const auto start = DropWatch::Time() + std::chrono::hours(1);
  ProcessorCounters counters;
  const auto told = [&](DropWatch::Time now) {
    ::testing::internal::CaptureStderr();
    watch.look_at_terminators(counters, "r.fire", now);
    return ::testing::internal::GetCapturedStderr();
  };
  EXPECT_THAT(told(start), IsEmpty());
  counters.passed_over = 7;
  EXPECT_THAT(told(start),
              AllOf(HasSubstr("warning terminators passed over"), HasSubstr("max_rule_time_ms"),
                    HasSubstr("terminators=7"), HasSubstr("last_rule=r.fire")));
  counters.passed_over = 9;
  EXPECT_THAT(told(start + LogLimit::kPause / 2), IsEmpty());
  EXPECT_THAT(told(start + LogLimit::kPause), HasSubstr("terminators=2"));
  EXPECT_THAT(told(start + 3 * LogLimit::kPause), IsEmpty());
}

TEST(DropWatch, TellsWhichDurableSubscriptionHasLostEvents) {
  using ::testing::AllOf, ::testing::HasSubstr, ::testing::IsEmpty;
  Log log(LogFormat::text, LogLevel::warning);
  DropWatch watch(log);
  const auto start = DropWatch::Time() + std::chrono::hours(1);
  const auto told = [&](std::uint64_t dropped, DropWatch::Time now) {
    ::testing::internal::CaptureStderr();
    watch.look_at_durables(dropped, "door out", now);
    return ::testing::internal::GetCapturedStderr();
  };
  EXPECT_THAT(told(0, start), IsEmpty());
  EXPECT_THAT(told(7, start),
              AllOf(HasSubstr("warning events are lost"), HasSubstr("journal.backlog_bytes"),
                    HasSubstr("events=7"), HasSubstr("last_subscription=\"door out\"")));
  EXPECT_THAT(told(9, start + LogLimit::kPause / 2), IsEmpty());
  EXPECT_THAT(told(9, start + LogLimit::kPause), HasSubstr("events=2"));
}

std::vector<EncodedDelivery> frames_of(const OutputBatch& batch, std::span<const DeliveredRow> rows,
                                       std::size_t subscriptions, std::size_t max_frame) {
  std::vector<EncodedDelivery> frames;
  encode_delivery(batch, rows, subscriptions, max_frame,
                  [&](EncodedDelivery encoded) { frames.push_back(std::move(encoded)); });
  return frames;
}

TEST(Delivery, RowsTooLargeForAFrameAreMarkedAndOthersKept) {
  Schema schema;
  OutputBatch batch;
  batch.schema = &schema;
  const auto extras = std::make_shared<const Extras>(Extras{"T", {"s"}});
  batch.extras = {&extras, 1};
  const std::string small = "small";
  const std::string large(500'000, 'x');
  for (std::uint32_t i = 0; i < 3; ++i) {
    const auto first = static_cast<std::uint32_t>(batch.cells.size());
    batch.cells.push_back(Datum::of(std::string_view(i == 1 ? large : small)));
    batch.rows.push_back({{i + 1, 0}, i, kNoType, first, 0, OutputBatch::kPrimitive});
  }
  const std::vector<DeliveredRow> rows = {{0, 0}, {1, 0}, {2, 0}};
  auto frames = frames_of(batch, rows, 1, 400'000);
  ASSERT_EQ(frames.size(), 3u);
  EXPECT_FALSE(frames[0].bytes.empty());
  EXPECT_TRUE(frames[1].bytes.empty());
  EXPECT_EQ(frames[1].rows.rows, 1u);
  EXPECT_EQ(frames[1].rows.first, (Place{2, 0}));
  ClientTotals totals{.memory = {std::size_t{1} << 30, [] {}}};
  auto delivery = ClientDelivery::of(
      std::make_shared<const SharedDelivery>(std::move(frames[2]), 1, totals.memory),
      std::make_shared<const std::vector<std::uint32_t>>(1, 77), SlowConsumer::drop);
  delivery.lost = {5, {1, 1}, {2, 3}};
  auto [frame, rest] = frame_of(delivery);
  EXPECT_GT(rest.size(), frame.size());
  frame.insert(frame.end(), rest.begin(), rest.end());
  const auto message = protocol::open_frame(frame);
  ASSERT_TRUE(message);
  const auto* deliver = (*message)->body_as_Deliver();
  EXPECT_EQ(deliver->subscriptions()->Get(0), 77u);
  EXPECT_EQ(deliver->lost(), 5u);
  EXPECT_EQ(deliver->first_lost_ordinal(), 1u);
  EXPECT_EQ(deliver->last_lost_ordinal(), 3u);
  EXPECT_EQ(deliver->roots()->Get(0), 3u);
}

TEST(Delivery, ManyRowsKeepWithinASmallFrame) {
  Schema schema;
  OutputBatch batch;
  batch.schema = &schema;
  const auto extras = std::make_shared<const Extras>(Extras{"T", {"s"}});
  batch.extras = {&extras, 1};
  std::vector<DeliveredRow> rows;
  const std::string text(900, 'x');
  for (std::uint32_t i = 0; i < 500; ++i) {
    const auto first = static_cast<std::uint32_t>(batch.cells.size());
    batch.cells.push_back(Datum::of(std::string_view(text)));
    batch.rows.push_back({{i + 1, 0}, i, kNoType, first, 0, OutputBatch::kPrimitive});
    rows.push_back({i, 0});
  }
  std::size_t whole = 0;
  for (const auto& frame : frames_of(batch, rows, 1, 65'536)) {
    EXPECT_FALSE(frame.bytes.empty());
    EXPECT_LE(frame.bytes.size(), 65'536u);
    whole += frame.rows.rows;
  }
  EXPECT_EQ(whole, rows.size());
}

/// With the attributes in the order of their names, because events of one table share an order.
std::string line_of(Event event) {
  std::ranges::sort(event.attributes, {}, &Attribute::name);
  std::string line;
  codec::append_event_line(line, event);
  return line;
}

/// With the subscription that it came through.
std::vector<std::string> lines_of(const std::vector<EncodedDelivery>& frames) {
  std::vector<std::string> lines;
  for (const EncodedDelivery& frame : frames) {
    const auto* deliver = protocol::open_frame(frame.bytes).value()->body_as_Deliver();
    for (BatchCursor event(protocol::view_of(*deliver->batch())); !event.done(); event.advance()) {
      const auto from = deliver->from() == nullptr ? 0 : deliver->from()->Get(event.position());
      lines.push_back(std::to_string(from) + " " + line_of(event.to_event()));
    }
  }
  return lines;
}

/// Events of four types; every tenth of them is late, and so comes as a row of cells. Which
/// attributes events have, and of which types, is a matter of the `step` and of chance.
BatchBuilder events_of_all_kinds(std::uint32_t count, std::uint32_t step) {
  BatchBuilder collected;
  for (std::uint32_t i = 0; i < count; ++i) {
    const Timestamp at = step * count + (i % 10 == 9 ? i - 5 : i);
    if (i % 3 == 0) {
      const std::string text(i % 7, 'x');
      collected.add({"A", at, {{"n", std::int64_t{i}}, {"s", text}}});
    } else if (i % 3 == 1) {
      collected.add({"B", at, {{"x", 0.5 * i}, {"ok", i % 2 == 0}}});
    } else {
      Event event{i % 2 == 0 ? "Undeclared" : "Inferred", at, {{"n", std::int64_t{i}}}};
      const Value x = i % 4 == 0 ? Value(std::int64_t{i}) : Value(0.25 * i);
      if (step % 2 == 0 && i % 7 > 0) event.attributes.push_back({"s", std::string(i % 5, 'y')});
      if (step % 6 == 0) event.attributes.push_back({"x", x});
      collected.add(event);
    }
  }
  return collected;
}

TEST(Delivery, RowsInColumnsAreDeliveredLikeRowsInCells) {
  Processor processor;
  ASSERT_TRUE(processor.declare("A", {{"n", ValueType::integer}, {"s", ValueType::string}}));
  ASSERT_TRUE(processor.declare("B", {{"x", ValueType::floating}, {"ok", ValueType::boolean}}));
  ASSERT_FALSE(processor.deploy("r", "define Out() from Inferred(n < 0);").failed());
  for (std::uint32_t step = 0; step < 20; ++step) {
    BatchBuilder collected = events_of_all_kinds(500, step);
    IncomingBatch incoming(collected.batch());
    processor.append(incoming, [](const BatchCursor&, const Error& why) { FAIL() << why.message; });
  }
  std::size_t all = 0, in_columns = 0;
  processor.process([&](const OutputBatch& batch) {
    all += batch.rows.size();
    for (const auto& row : batch.rows) in_columns += row.event != OutputBatch::kInCells ? 1 : 0;
    for (const std::uint32_t step : {1, 2, 3, 7}) {
      std::vector<DeliveredRow> rows;
      std::vector<std::string> expected;
      for (std::uint32_t i = 0; i < batch.rows.size(); i += step) {
        for (std::uint16_t from = 0; from < (i % 5 == 0 ? 2 : 1); ++from) {
          rows.push_back({i, from});
          expected.push_back(std::to_string(from) + " " + line_of(batch.to_event(batch.rows[i])));
        }
      }
      EXPECT_EQ(lines_of(frames_of(batch, rows, 2, 1 << 20)), expected);
      EXPECT_EQ(lines_of(frames_of(batch, rows, 2, 1 << 14)), expected);
    }
  });
  EXPECT_EQ(all, 10'000u);
  EXPECT_GT(in_columns, 5'000u);
}

/// Frames have one column for values of one name and type.
TEST(Delivery, TwoColumnsOfOneNameAndTypeAreDeliveredAsOne) {
  Processor processor;
  ColumnBuilder even(ValueType::integer), odd(ValueType::integer);
  std::vector<std::string> expected;
  for (std::int64_t i = 0; i < 20; ++i) {
    even.push(i % 2 == 0 ? Datum::of(i) : Datum::none());
    odd.push(i % 2 == 1 ? Datum::of(i) : Datum::none());
    expected.push_back("0 " + line_of({"Undeclared", i, {{"n", i}}}));
  }
  std::vector<Timestamp> timestamps(20);
  std::iota(timestamps.begin(), timestamps.end(), 0);
  const EventTable table{.type = "Undeclared",
                         .events = 20,
                         .timestamps = timestamps,
                         .columns = {even.view("n"), odd.view("n")}};
  IncomingBatch incoming({.tables = {table}, .order = {}});
  processor.append(incoming, [](const BatchCursor&, const Error& why) { FAIL() << why.message; });
  processor.process([&](const OutputBatch& batch) {
    std::vector<DeliveredRow> rows(batch.rows.size());
    for (std::uint32_t i = 0; i < rows.size(); ++i) rows[i].row = i;
    EXPECT_EQ(lines_of(frames_of(batch, rows, 1, 1 << 20)), expected);
  });
}

TEST(Delivery, TheBoundOfAnEventIsAboveItsFrame) {
  Schema schema;
  OutputBatch batch;
  batch.schema = &schema;
  const std::string large(100'000, 'x');
  const std::vector<Datum> cells = {Datum::of(std::string_view(large)), Datum::of(std::int64_t{1})};
  const auto extras = std::make_shared<const Extras>(Extras{"T", {"s", "i"}});
  batch.extras = {&extras, 1};
  batch.cells = cells;
  batch.rows.push_back({{1, 0}, 1, kNoType, 0, 0, OutputBatch::kPrimitive});
  const Limits limits{.max_subscriptions = 20};
  const std::vector<DeliveredRow> rows = {{0, 0}};
  const auto frames = frames_of(batch, rows, 20, limits.max_frame);
  ASSERT_EQ(frames.size(), 1u);
  BatchBuilder collected;
  collected.add({"T", 1, {{"s", large}, {"i", std::int64_t{1}}}});
  const auto bound = delivery_bytes(BatchCursor(collected.batch()), limits);
  EXPECT_LE(frames[0].bytes.size(), bound);
  EXPECT_GE(frames[0].bytes.size() + 2000, bound);
}

}  // namespace
}  // namespace gorgo::server
