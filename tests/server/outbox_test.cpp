#include "server/outbox.hpp"

#include <gmock/gmock.h>

#include "server/delivery.hpp"

namespace gorgo::server {
namespace {

using ::testing::HasSubstr;

class OutboxTest : public testing::Test {
 protected:
  ClientTotals totals{.memory = {std::size_t{1} << 40, [this] { ++excesses; }}};
  Limits limits{.outbound_bytes = 1000};
  int woken = 0, excesses = 0;
  std::optional<Outbox> outbox;

  void start(SlowConsumer policy = SlowConsumer::drop) {
    limits.slow_consumer = policy;
    outbox.emplace(1, "peer", limits, totals, [this] { ++woken; });
  }
  static protocol::Bytes reply_of(std::size_t size) {
    wire::ErrorT error;
    error.message = std::string(size, 'x');
    return protocol::encode(1, error);
  }
  /// A Deliver whose rows do not matter, of at least `bytes`.
  static protocol::Bytes delivery(std::size_t bytes) {
    auto frame = loss_notice(1);
    set_lost(frame, 0);
    frame.resize(std::max(frame.size(), bytes));
    return frame;
  }
  static std::uint64_t lost_in(const protocol::Bytes& frame) {
    const auto* message = flatbuffers::GetSizePrefixedRoot<wire::Message>(frame.data());
    return message->body_as_Deliver()->lost();
  }
};

TEST_F(OutboxTest, KeepsOrderAndWakesOncePerLook) {
  start();
  outbox->reply(reply_of(1));
  outbox->reply(reply_of(2));
  EXPECT_EQ(woken, 1);
  const auto frames = outbox->take();
  ASSERT_EQ(frames.size(), 2u);
  EXPECT_EQ(frames[0], reply_of(1));
  outbox->reply(reply_of(3));
  EXPECT_EQ(woken, 2);
}

TEST_F(OutboxTest, BytesBeingWrittenStillCount) {
  start();
  EXPECT_EQ(outbox->reply(reply_of(600)), Outbox::Outcome::queued);
  const auto frames = outbox->take();
  EXPECT_EQ(outbox->reply(reply_of(600)), Outbox::Outcome::overflowed);
  EXPECT_TRUE(outbox->closed());
  const auto last = outbox->take();
  ASSERT_EQ(last.size(), 1u);
  EXPECT_EQ((*protocol::open_frame(last[0]))->body_as_Error()->code(), wire::ErrorCode::Overloaded);
  EXPECT_EQ(outbox->reply(reply_of(1)), Outbox::Outcome::closed);
  EXPECT_TRUE(outbox->report().overflowed);
  EXPECT_FALSE(outbox->report().overflowed);
}

TEST_F(OutboxTest, TheNextDeliveryTellsOfLosses) {
  start();
  EXPECT_EQ(outbox->deliver(delivery(600), 1), Outbox::Outcome::queued);
  EXPECT_EQ(outbox->deliver(delivery(600), 5), Outbox::Outcome::dropped);
  EXPECT_EQ(outbox->deliver(delivery(200), 1), Outbox::Outcome::queued);
  const auto frames = outbox->take();
  ASSERT_EQ(frames.size(), 2u);
  EXPECT_EQ(lost_in(frames[0]), 0u);
  EXPECT_EQ(lost_in(frames[1]), 5u);
  EXPECT_EQ(totals.lost_rows, 5u);
}

TEST_F(OutboxTest, ADrainedQueueTellsOfLossesWithoutAnotherDelivery) {
  start();
  outbox->deliver(delivery(600), 1);
  outbox->deliver(delivery(600), 5);
  outbox->deliver(delivery(600), 2);
  const auto frames = outbox->take();
  ASSERT_EQ(frames.size(), 2u);
  const auto message = protocol::open_frame(frames[1]);
  ASSERT_TRUE(message);
  EXPECT_EQ((*message)->id(), 0u);
  const auto* notice = (*message)->body_as_Deliver();
  EXPECT_EQ(notice->lost(), 7u);
  EXPECT_EQ(notice->roots()->size(), 0u);
  outbox->written();
  EXPECT_TRUE(outbox->take().empty());
  EXPECT_EQ(outbox->bytes(), 0u);
}

TEST_F(OutboxTest, ALossAloneWakesTheWriter) {
  start();
  outbox->lose(3);
  EXPECT_EQ(woken, 1);
  const auto frames = outbox->take();
  ASSERT_EQ(frames.size(), 1u);
  EXPECT_EQ(lost_in(frames[0]), 3u);
}

TEST_F(OutboxTest, TheEndTellsOfLossesBeforeItsLastFrameAlsoWhenFull) {
  start();
  outbox->deliver(delivery(990), 1);
  outbox->deliver(delivery(990), 4);
  outbox->finish(reply_of(5));
  const auto frames = outbox->take();
  ASSERT_EQ(frames.size(), 3u);
  EXPECT_EQ(lost_in(frames[1]), 4u);
  EXPECT_EQ(frames[2], reply_of(5));
  EXPECT_TRUE(outbox->closed());
}

TEST_F(OutboxTest, AnOverflowTellsHowManyRowsWereDiscarded) {
  start(SlowConsumer::disconnect);
  outbox->deliver(delivery(300), 2);
  outbox->deliver(delivery(300), 3);
  EXPECT_EQ(outbox->deliver(delivery(600), 4), Outbox::Outcome::overflowed);
  const auto frames = outbox->take();
  ASSERT_EQ(frames.size(), 2u);
  EXPECT_EQ(lost_in(frames[0]), 9u);
  const auto* error = (*protocol::open_frame(frames[1]))->body_as_Error();
  EXPECT_THAT(error->message()->str(), HasSubstr("9 events"));
  EXPECT_EQ(totals.lost_rows, 9u);
  EXPECT_EQ(totals.slow_consumers, 1u);
  EXPECT_EQ(outbox->report().lost_rows, 9u);
}

TEST_F(OutboxTest, WhatTheClientNeverGetsIsCountedWhenItIsGivenUp) {
  limits.outbound_bytes = 10 * Outbox::kMostWritten;
  start();
  outbox->deliver(delivery(Outbox::kMostWritten), 1);
  outbox->deliver(delivery(Outbox::kMostWritten), 2);
  EXPECT_EQ(outbox->take().size(), 1u);
  outbox->written();
  EXPECT_EQ(outbox->take().size(), 1u);
  outbox->deliver(delivery(100), 4);
  outbox->give_up();
  EXPECT_EQ(totals.lost_rows, 6u);
  EXPECT_EQ(outbox->report(true).lost_rows, 6u);
}

TEST_F(OutboxTest, ReportsOfLossesAreFew) {
  start();
  outbox->deliver(delivery(990), 1);
  for (int i = 0; i < 100; ++i) outbox->deliver(delivery(990), 1);
  EXPECT_EQ(outbox->report().lost_rows, 1u);
  EXPECT_EQ(outbox->report().lost_rows, 0u);
  EXPECT_EQ(outbox->report(true).lost_rows, 99u);
  EXPECT_EQ(woken, 2);  // for the delivery, and for the first report
}

TEST_F(OutboxTest, TheMemoryOfAllIsAccountedFor) {
  start();
  outbox->deliver(delivery(500), 1);
  const auto used = totals.memory.used();
  EXPECT_GE(used, 500);
  outbox->take();
  EXPECT_EQ(totals.memory.used(), used);
  outbox->written();
  EXPECT_EQ(totals.memory.used(), 0);
  outbox->deliver(delivery(500), 1);
  outbox->overload({"too much", ""});
  EXPECT_LT(totals.memory.used(), 500);
  outbox.reset();
  EXPECT_EQ(totals.memory.used(), 0);
}

TEST(MemoryBudget, AnExcessIsToldOnceUntilSomebodyLooked) {
  int told = 0;
  MemoryBudget budget(100, [&] { ++told; });
  budget.add(100);
  budget.check();
  EXPECT_EQ(told, 0);
  budget.add(50);
  budget.check();
  budget.check();
  EXPECT_EQ(told, 1);
  EXPECT_EQ(budget.excess(), 50);
  budget.looked();
  budget.check();
  EXPECT_EQ(told, 2);
}

}  // namespace
}  // namespace gorgo::server
