#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/command_queue.hpp"
#include "server/delivery.hpp"
#include "server/device_watch.hpp"
#include "server/outbox.hpp"
#include "server/producers.hpp"

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

Command request(std::size_t bytes) {
  return {Command::Kind::request, nullptr, protocol::Bytes(bytes)};
}

TEST(CommandQueue, BoundsBytesAndTellsWhenThereIsRoom) {
  int room = 0;
  CommandQueue queue({.queue_bytes = 100}, [&] { ++room; });
  Command first = request(80), second = request(30), third = request(5);
  EXPECT_EQ(queue.push(first), CommandQueue::Push::queued);
  EXPECT_EQ(queue.push(second), CommandQueue::Push::full);
  EXPECT_EQ(second.frame.size(), 30u);  // still the caller's
  std::vector<Command> taken;
  EXPECT_TRUE(queue.take(taken));
  EXPECT_EQ(taken.size(), 1u);
  EXPECT_EQ(room, 1);
  EXPECT_EQ(queue.push(second), CommandQueue::Push::queued);
  EXPECT_EQ(queue.push(third), CommandQueue::Push::queued);
  taken.clear();
  EXPECT_TRUE(queue.take(taken));
  EXPECT_EQ(taken.size(), 2u);
  EXPECT_EQ(room, 1);
}

TEST(CommandQueue, AFrameAboveTheBoundPassesAlone) {
  CommandQueue queue({.queue_bytes = 10}, [] {});
  Command large = request(100);
  EXPECT_EQ(queue.push(large), CommandQueue::Push::queued);
}

TEST(CommandQueue, ClosedItHandsOutTheRest) {
  CommandQueue queue({}, [] {});
  Command first = request(1), late = request(1);
  EXPECT_EQ(queue.push(first), CommandQueue::Push::queued);
  queue.close();
  EXPECT_EQ(queue.push(late), CommandQueue::Push::closed);
  std::vector<Command> taken;
  EXPECT_TRUE(queue.take(taken));
  taken.clear();
  EXPECT_FALSE(queue.take(taken));
}

protocol::Bytes reply_of(std::size_t size) {
  wire::ErrorT error;
  error.message = std::string(size, 'x');
  return protocol::encode(1, error);
}

TEST(Outbox, KeepsOrderAndWakesOncePerLook) {
  int woken = 0;
  Outbox outbox(1, "peer", {}, [&] { ++woken; });
  outbox.reply(reply_of(1));
  outbox.reply(reply_of(2));
  EXPECT_EQ(woken, 1);
  const auto frames = outbox.take();
  ASSERT_EQ(frames.size(), 2u);
  EXPECT_EQ(frames[0], reply_of(1));
  outbox.reply(reply_of(3));
  EXPECT_EQ(woken, 2);
}

TEST(Outbox, BytesBeingWrittenStillCount) {
  Outbox outbox(1, "peer", {.outbound_bytes = 1000}, [] {});
  EXPECT_EQ(outbox.reply(reply_of(600)), Outbox::Outcome::queued);
  const auto frames = outbox.take();
  EXPECT_EQ(outbox.reply(reply_of(600)), Outbox::Outcome::overflowed);
  EXPECT_TRUE(outbox.closed());
  const auto last = outbox.take();
  ASSERT_EQ(last.size(), 1u);
  EXPECT_EQ((*protocol::open_frame(last[0]))->body_as_Error()->code(), wire::ErrorCode::Overloaded);
  EXPECT_EQ(outbox.reply(reply_of(1)), Outbox::Outcome::closed);
}

TEST(Delivery, RowsTooLargeForAFrameAreCountedAndOthersKept) {
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
  std::uint64_t oversize = 0;
  const auto frames = encode_delivery(batch, rows, 1, 400'000, oversize);
  EXPECT_EQ(oversize, 1u);
  ASSERT_EQ(frames.size(), 2u);
  protocol::Bytes frame = frames[1].bytes;
  const std::uint32_t id = 77;
  address_to(frame, std::span(&id, 1));
  set_lost(frame, 5);
  const auto message = protocol::open_frame(frame);
  ASSERT_TRUE(message);
  const auto* deliver = (*message)->body_as_Deliver();
  EXPECT_EQ(deliver->subscriptions()->Get(0), 77u);
  EXPECT_EQ(deliver->lost(), 5u);
  EXPECT_EQ(deliver->roots()->Get(0), 3u);
}

}  // namespace
}  // namespace gorgo::server
