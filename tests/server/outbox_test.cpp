#include "server/sessions/outbox.hpp"

#include <gmock/gmock.h>

#include <thread>

#include "server/subscriptions/delivery.hpp"

namespace gorgo::server {
namespace {

using ::testing::HasSubstr;

class OutboxTest : public testing::Test {
 protected:
  ClientTotals totals{.memory = {std::size_t{1} << 40, [this] { ++excesses; }}};
  Limits limits{.outbound_bytes = 10'000};
  std::uint64_t root = 0;
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
  /// Rows one after the other, which take about so many bytes together.
  ClientDelivery delivery(std::size_t bytes, std::uint32_t rows) {
    const auto extras = std::make_shared<const Extras>(Extras{"T", {"s"}});
    const std::string text(bytes, 'x');
    OutputBatch batch;
    Schema schema;
    batch.schema = &schema;
    batch.extras = {&extras, 1};
    std::vector<DeliveredRow> wanted;
    for (std::uint32_t i = 0; i < rows; ++i) {
      batch.cells.push_back(Datum::of(std::string_view(text).substr(0, i == 0 ? bytes : 0)));
      batch.rows.push_back({{++root, 0}, 1, kNoType, i, 0, OutputBatch::kPrimitive});
      wanted.push_back({i, 0});
    }
    std::shared_ptr<const SharedDelivery> shared;
    encode_delivery(batch, wanted, 1, std::size_t{1} << 30, [&](EncodedDelivery encoded) {
      EXPECT_EQ(shared, nullptr);
      shared = std::make_shared<const SharedDelivery>(std::move(encoded), root, totals.memory);
    });
    static const auto ids = std::make_shared<const std::vector<std::uint32_t>>(1, 7);
    return ClientDelivery::of(shared, ids, limits.slow_consumer);
  }
  Outbox::Outcome deliver(std::size_t bytes, std::uint32_t rows) {
    return outbox->deliver(delivery(bytes, rows));
  }
  static const Gap& lost_in(const OutFrame& frame) { return std::get<ClientDelivery>(frame).lost; }
  static std::uint32_t rows_in(const OutFrame& frame) {
    return std::get<ClientDelivery>(frame).rows;
  }
  static const wire::Error& error_in(const OutFrame& frame) {
    return *(*protocol::open_frame(std::get<protocol::Bytes>(frame)))->body_as_Error();
  }
};

TEST_F(OutboxTest, KeepsOrderAndWakesOncePerLook) {
  start();
  outbox->reply(reply_of(1));
  outbox->reply(reply_of(2));
  EXPECT_EQ(woken, 1);
  const auto frames = outbox->take();
  ASSERT_EQ(frames.size(), 2u);
  EXPECT_EQ(std::get<protocol::Bytes>(frames[0]), reply_of(1));
  outbox->reply(reply_of(3));
  EXPECT_EQ(woken, 2);
}

TEST_F(OutboxTest, BytesBeingWrittenStillCount) {
  start();
  EXPECT_EQ(outbox->reply(reply_of(6000)), Outbox::Outcome::queued);
  const auto frames = outbox->take();
  EXPECT_EQ(outbox->reply(reply_of(6000)), Outbox::Outcome::overflowed);
  EXPECT_TRUE(outbox->closed());
  const auto last = outbox->take();
  ASSERT_EQ(last.size(), 1u);
  EXPECT_EQ(error_in(last[0]).code(), wire::ErrorCode::Overloaded);
  EXPECT_EQ(outbox->reply(reply_of(1)), Outbox::Outcome::closed);
  EXPECT_TRUE(outbox->report().overflowed);
  EXPECT_FALSE(outbox->report().overflowed);
}

TEST_F(OutboxTest, TheOldestMakeRoomAndTheNextDeliveryTellsWhichRowsWereLost) {
  start();
  EXPECT_EQ(deliver(4000, 3), Outbox::Outcome::queued);  // places 1 to 3
  outbox->reply(reply_of(100));
  EXPECT_EQ(deliver(4000, 2), Outbox::Outcome::queued);  // 4 and 5
  EXPECT_EQ(deliver(4000, 1), Outbox::Outcome::queued);  // 6
  EXPECT_EQ(deliver(4000, 1), Outbox::Outcome::queued);  // 7
  const auto frames = outbox->take();
  ASSERT_EQ(frames.size(), 3u);
  EXPECT_EQ(std::get<protocol::Bytes>(frames[0]), reply_of(100));
  const Gap& gap = lost_in(frames[1]);
  EXPECT_EQ(gap.rows, 5u);
  EXPECT_EQ(gap.first, (Place{1, 0}));
  EXPECT_EQ(gap.last, (Place{5, 0}));
  EXPECT_EQ(lost_in(frames[2]).rows, 0u);
  EXPECT_EQ(totals.lost_rows, 5u);
}

TEST_F(OutboxTest, WhatADurableSubscriptionKeepsIsNotLostWithTheConnection) {
  start(SlowConsumer::disconnect);
  ClientDelivery kept = delivery(100, 4);
  kept.durable = true;
  kept.lost = {2, {1, 0}, {2, 0}};  // these are lost whatever happens
  EXPECT_EQ(outbox->deliver(kept), Outbox::Outcome::queued);
  outbox->overload({"it takes nothing", ""});
  const auto frames = outbox->take();
  ASSERT_EQ(frames.size(), 2u);
  EXPECT_EQ(lost_in(frames[0]).rows, 2u);
  EXPECT_EQ(totals.lost_rows, 0u);
}

TEST_F(OutboxTest, AReplyFindsRoomWhereDeliveriesMayBeDropped) {
  start();
  deliver(8000, 1);
  EXPECT_EQ(outbox->reply(reply_of(8000)), Outbox::Outcome::queued);
  EXPECT_EQ(totals.lost_rows, 1u);
  EXPECT_FALSE(outbox->closed());
}

TEST_F(OutboxTest, WhatIsBeingWrittenIsNotDropped) {
  start();
  deliver(8000, 1);
  EXPECT_EQ(outbox->take().size(), 1u);
  EXPECT_EQ(deliver(8000, 5), Outbox::Outcome::dropped);  // places 2 to 6
  outbox->written();
  EXPECT_EQ(deliver(8000, 1), Outbox::Outcome::queued);
  const auto frames = outbox->take();
  ASSERT_EQ(frames.size(), 1u);
  EXPECT_EQ(lost_in(frames[0]).rows, 5u);
  EXPECT_EQ(lost_in(frames[0]).first, (Place{2, 0}));
  EXPECT_EQ(lost_in(frames[0]).last, (Place{6, 0}));
}

TEST_F(OutboxTest, ADrainedQueueTellsOfLossesWithoutAnotherDelivery) {
  start();
  deliver(8000, 1);
  EXPECT_EQ(outbox->take().size(), 1u);
  deliver(8000, 5);
  deliver(8000, 2);
  outbox->written();
  const auto frames = outbox->take();
  ASSERT_EQ(frames.size(), 1u);
  const auto encoded = frame_of(std::get<ClientDelivery>(frames[0]));
  EXPECT_TRUE(encoded.rest.empty());
  const auto message = protocol::open_frame(encoded.head);
  ASSERT_TRUE(message);
  EXPECT_EQ((*message)->id(), 0u);
  const auto* notice = (*message)->body_as_Deliver();
  EXPECT_EQ(notice->lost(), 7u);
  EXPECT_EQ(notice->first_lost_root(), 2u);
  EXPECT_EQ(notice->last_lost_root(), 8u);
  EXPECT_EQ(notice->roots()->size(), 0u);
  outbox->written();
  EXPECT_TRUE(outbox->take().empty());
  EXPECT_EQ(outbox->bytes(), 0u);
}

TEST_F(OutboxTest, ALossAloneWakesTheWriter) {
  start();
  outbox->lose({3, {4, 0}, {4, 2}});
  EXPECT_EQ(woken, 1);
  const auto frames = outbox->take();
  ASSERT_EQ(frames.size(), 1u);
  EXPECT_EQ(lost_in(frames[0]).rows, 3u);
}

TEST_F(OutboxTest, TheEndTellsOfLossesBeforeItsLastFrameAlsoWhenFull) {
  start();
  deliver(9500, 1);
  outbox->take();
  deliver(9500, 4);
  outbox->finish(reply_of(5000));
  const auto frames = outbox->take();
  ASSERT_EQ(frames.size(), 2u);
  EXPECT_EQ(lost_in(frames[0]).rows, 4u);
  EXPECT_EQ(std::get<protocol::Bytes>(frames[1]), reply_of(5000));
  EXPECT_TRUE(outbox->closed());
}

TEST_F(OutboxTest, AnOverflowTellsHowManyRowsWereDiscarded) {
  start(SlowConsumer::disconnect);
  deliver(3000, 2);
  deliver(3000, 3);
  EXPECT_EQ(deliver(6000, 4), Outbox::Outcome::overflowed);
  const auto frames = outbox->take();
  ASSERT_EQ(frames.size(), 2u);
  EXPECT_EQ(lost_in(frames[0]).rows, 9u);
  EXPECT_EQ(lost_in(frames[0]).last, (Place{9, 0}));
  EXPECT_THAT(error_in(frames[1]).message()->str(), HasSubstr("9 events"));
  EXPECT_EQ(totals.lost_rows, 9u);
  EXPECT_EQ(totals.slow_consumers, 1u);
  EXPECT_EQ(outbox->report().lost_rows, 9u);
}

TEST_F(OutboxTest, ADeliveryThatMayBlockWaitsForRoom) {
  start(SlowConsumer::block);
  deliver(8000, 1);
  EXPECT_EQ(outbox->take().size(), 1u);
  const auto second = delivery(8000, 2);
  EXPECT_EQ(outbox->deliver(second), Outbox::Outcome::full);
  EXPECT_EQ(totals.lost_rows, 0u);
  std::thread writer([&] { outbox->written(); });
  EXPECT_EQ(outbox->await_room(second, Outbox::Time::max()), Outbox::Outcome::queued);
  writer.join();
  EXPECT_EQ(rows_in(outbox->take().at(0)), 2u);
}

TEST_F(OutboxTest, ADeliveryThatWaitedTooLongCountsAsDisconnect) {
  start(SlowConsumer::block);
  deliver(8000, 1);
  outbox->take();
  EXPECT_EQ(outbox->await_room(delivery(8000, 2), Outbox::Time::min()),
            Outbox::Outcome::overflowed);
  const auto frames = outbox->take();
  ASSERT_EQ(frames.size(), 2u);
  EXPECT_EQ(lost_in(frames[0]).rows, 2u);
  EXPECT_THAT(error_in(frames[1]).message()->str(), HasSubstr("publishers have waited"));
}

TEST_F(OutboxTest, NobodyWaitsForAnOutboxThatIsClosed) {
  start(SlowConsumer::block);
  deliver(8000, 1);
  const auto second = delivery(8000, 2);
  ASSERT_EQ(outbox->deliver(second), Outbox::Outcome::full);
  std::thread closer([&] { outbox->close(); });
  EXPECT_EQ(outbox->await_room(second, Outbox::Time::max()), Outbox::Outcome::closed);
  closer.join();
}

TEST_F(OutboxTest, WhatWaitsForLongAboveTheSoftLimitIsDroppedOrEndsTheSession) {
  using std::chrono::seconds;
  limits.soft_outbound_bytes = 5000;
  limits.soft_outbound = seconds(10);
  const auto begin = Outbox::Time() + seconds(1000);
  for (const SlowConsumer policy : {SlowConsumer::drop, SlowConsumer::disconnect}) {
    start(policy);
    deliver(4000, 1);
    deliver(4000, 1);
    outbox->look(begin);
    outbox->look(begin + seconds(9));
    EXPECT_FALSE(outbox->closed());
    outbox->take();
    outbox->written();  // it was below the limit for a moment
    deliver(4000, 1);
    deliver(4000, 1);
    outbox->look(begin + seconds(11));
    outbox->look(begin + seconds(20));
    EXPECT_EQ(outbox->bytes() > 8000, true);
    outbox->look(begin + seconds(21));
    EXPECT_LE(outbox->bytes(), 5000u);
    EXPECT_EQ(outbox->closed(), policy == SlowConsumer::disconnect);
  }
}

TEST_F(OutboxTest, OnlyWhatMayBeDroppedMayWaitForEver) {
  start(SlowConsumer::drop);
  EXPECT_TRUE(outbox->may_wait());
  deliver(100, 1);
  EXPECT_TRUE(outbox->may_wait());
  outbox->reply(reply_of(1));
  EXPECT_FALSE(outbox->may_wait());
  outbox->take();
  EXPECT_FALSE(outbox->may_wait());
  outbox->written();
  EXPECT_TRUE(outbox->may_wait());
}

TEST_F(OutboxTest, RowsWaitForCredit) {
  start(SlowConsumer::disconnect);
  outbox->open_credit(7, {.rows = 2, .bytes = {}});
  auto five = delivery(1000, 5);
  five.credited = true;
  EXPECT_EQ(outbox->deliver(five), Outbox::Outcome::queued);
  auto frames = outbox->take();
  ASSERT_EQ(frames.size(), 1u);
  EXPECT_EQ(rows_in(frames[0]), 2u);
  outbox->written();
  EXPECT_TRUE(outbox->take().empty());
  EXPECT_FALSE(outbox->grant(8, 10, 0));
  EXPECT_TRUE(outbox->grant(7, 1, 0));
  EXPECT_EQ(rows_in(outbox->take().at(0)), 1u);
  outbox->written();
  EXPECT_TRUE(outbox->grant(7, 100, 0));
  frames = outbox->take();
  const auto encoded = frame_of(std::get<ClientDelivery>(frames.at(0)));
  const auto* deliver = (*protocol::open_frame(encoded.head))->body_as_Deliver();
  ASSERT_EQ(deliver->roots()->size(), 2u);
  EXPECT_EQ(deliver->roots()->Get(0), 4u);
  EXPECT_EQ(deliver->subscriptions()->Get(0), 7u);
  outbox->written();
  EXPECT_EQ(outbox->bytes(), 0u);
}

TEST_F(OutboxTest, CreditInBytesMayBeExceededByOneRow) {
  start(SlowConsumer::disconnect);
  outbox->open_credit(7, {.rows = {}, .bytes = 1});
  auto two = delivery(1000, 2);
  two.credited = true;
  outbox->deliver(two);
  EXPECT_EQ(rows_in(outbox->take().at(0)), 1u);
  outbox->written();
  EXPECT_TRUE(outbox->take().empty());
  outbox->grant(7, 0, 1);
  EXPECT_EQ(rows_in(outbox->take().at(0)), 1u);
}

TEST_F(OutboxTest, WhatWaitsForCreditIsBoundedAndTheOldestIsDropped) {
  start(SlowConsumer::drop);
  outbox->open_credit(7, {.rows = 0, .bytes = {}});
  for (int i = 0; i < 5; ++i) {
    auto one = delivery(4000, 1);
    one.credited = true;
    EXPECT_EQ(outbox->deliver(one), Outbox::Outcome::queued);
  }
  EXPECT_LE(outbox->bytes(), limits.outbound_bytes);
  outbox->grant(7, 10, 0);
  const auto frames = outbox->take();
  ASSERT_EQ(frames.size(), 2u);
  EXPECT_EQ(lost_in(frames[0]).rows, 3u);
  EXPECT_EQ(lost_in(frames[0]).first, (Place{1, 0}));
  EXPECT_EQ(lost_in(frames[0]).last, (Place{3, 0}));
}

TEST_F(OutboxTest, ADeliveryWithCreditTellsWhatWasLostBeforeIt) {
  start();
  outbox->open_credit(7, {.rows = 100, .bytes = {}});
  for (const std::size_t bytes : {std::size_t{8000}, std::size_t{100}}) {
    ClientDelivery one = delivery(bytes, 1);
    one.credited = true;
    EXPECT_EQ(outbox->deliver(one), Outbox::Outcome::queued);
    if (root == 1) outbox->reply(reply_of(8000));  // place 1 makes room
  }
  const auto frames = outbox->take();
  ASSERT_EQ(frames.size(), 2u);
  const Gap& gap = lost_in(frames[1]);
  EXPECT_EQ(gap.rows, 1u);
  EXPECT_EQ(gap.first, (Place{1, 0}));
  EXPECT_EQ(gap.last, (Place{1, 0}));
  EXPECT_EQ(rows_in(frames[1]), 1u);
}

TEST_F(OutboxTest, WhatWaitedForCreditIsToldAsLostWhenTheSubscriptionEnds) {
  start(SlowConsumer::disconnect);
  outbox->open_credit(7, {.rows = 0, .bytes = {}});
  auto three = delivery(100, 3);
  three.credited = true;
  outbox->deliver(three);
  outbox->close_credit(7);
  EXPECT_EQ(lost_in(outbox->take().at(0)).rows, 3u);
  EXPECT_EQ(totals.lost_rows, 3u);
}

TEST_F(OutboxTest, WhatTheClientNeverGetsIsCountedWhenItIsGivenUp) {
  limits.outbound_bytes = 10 * Outbox::kMostWritten;
  start();
  deliver(Outbox::kMostWritten, 1);
  deliver(Outbox::kMostWritten, 1);
  EXPECT_EQ(outbox->take().size(), 1u);
  outbox->written();
  EXPECT_EQ(outbox->take().size(), 1u);
  deliver(100, 4);
  outbox->give_up();
  EXPECT_EQ(totals.lost_rows, 5u);
  EXPECT_EQ(outbox->report(true).lost_rows, 5u);
}

TEST_F(OutboxTest, ReportsOfLossesAreFew) {
  start();
  deliver(9500, 1);
  for (int i = 0; i < 100; ++i) deliver(9500, 1);
  EXPECT_EQ(outbox->report().lost_rows, 1u);
  EXPECT_EQ(outbox->report().lost_rows, 0u);
  EXPECT_EQ(outbox->report(true).lost_rows, 99u);
  EXPECT_EQ(woken, 2);  // for the delivery, and for the first report
}

TEST_F(OutboxTest, TheMemoryOfAllCountsASharedDeliveryOnce) {
  start();
  Outbox other(2, "peer", limits, totals, [] {});
  {
    const auto shared = delivery(5000, 1);
    outbox->deliver(shared);
    other.deliver(shared);
  }
  EXPECT_GE(outbox->bytes(), 5000u);
  EXPECT_GE(other.bytes(), 5000u);
  const auto used = totals.memory.used();
  EXPECT_GE(used, 5000);
  EXPECT_LT(used, 7000);
  outbox->overload({"too much", ""});
  EXPECT_GE(totals.memory.used(), 5000);
  {
    const auto taken = other.take();
    EXPECT_GE(totals.memory.used(), 5000);
  }
  other.written();
  EXPECT_LT(totals.memory.used(), 5000);
  outbox.reset();
  EXPECT_EQ(totals.memory.used(), 0);
}

TEST_F(OutboxTest, ASmallReplyCountsWithAllThatItTakes) {
  start();
  for (int i = 0; i < 100; ++i) outbox->reply(protocol::Bytes(50));
  EXPECT_GE(totals.memory.used(), 20'000);
  EXPECT_LE(outbox->bytes(), 5'000u) << "on their way they take no more than their bytes";
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
