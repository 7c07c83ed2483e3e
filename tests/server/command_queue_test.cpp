#include "server/command_queue.hpp"

#include <gtest/gtest.h>

#include "server/engine/pace.hpp"
#include "support.hpp"

namespace gorgo::server {
namespace {

class Queue : public testing::Test {
 protected:
  ClientTotals totals{.memory = {std::size_t{1} << 40, [] {}}};
  Limits limits;
  std::vector<int> woken = std::vector<int>(10);
  std::vector<std::shared_ptr<Outbox>> clients;
  std::optional<CommandQueue> queue;
  std::vector<Command> taken;

  void start() {
    queue.emplace(limits, totals.memory);
    for (std::size_t id = 0; id < woken.size(); ++id) {
      clients.push_back(
          std::make_shared<Outbox>(id, "peer", limits, totals, [this, id] { ++woken[id]; }));
    }
  }
  /// `mark` is the first byte of the frame.
  Command request(std::size_t client, std::uint64_t cost, std::size_t bytes = 1, int mark = 0) {
    Command command{Command::Kind::request, clients[client],
                    protocol::Bytes(bytes, static_cast<std::uint8_t>(mark))};
    command.work.cost = cost;
    return command;
  }
  /// It stays in the builder.
  static std::unique_ptr<Publication> empty_publication(flatbuffers::FlatBufferBuilder& builder) {
    wire::BatchT empty;
    builder.Finish(wire::Batch::Pack(builder, &empty));
    return std::make_unique<Publication>(
        *flatbuffers::GetRoot<wire::Batch>(builder.GetBufferPointer()));
  }
  CommandQueue::Push push(Command command) { return queue->push(command); }
  CommandQueue::Push push(std::size_t client, std::uint64_t cost, std::size_t bytes = 1,
                          int mark = 0) {
    return push(request(client, cost, bytes, mark));
  }
  bool take() {
    taken.clear();
    return queue->take(taken);
  }
  std::size_t count(std::size_t client) const {
    std::size_t found = 0;
    for (const Command& command : taken) found += command.client == clients[client] ? 1 : 0;
    return found;
  }
};

TEST_F(Queue, OneClientFillsHalfAndIsWokenWhenThereIsRoom) {
  limits.queue_bytes = 1'000'000;
  start();
  int pushed = 0;
  while (push(1, 1, 10'000) == CommandQueue::Push::queued) ++pushed;
  EXPECT_GT(pushed, 45);
  EXPECT_LE(pushed, 50);
  EXPECT_EQ(push(2, 1, 10'000), CommandQueue::Push::queued);
  EXPECT_EQ(woken[1], 0);
  ASSERT_TRUE(take());
  EXPECT_EQ(woken[1], 1);
  EXPECT_EQ(woken[2], 0);
  EXPECT_EQ(push(1, 1, 10'000), CommandQueue::Push::queued);
}

TEST_F(Queue, WhatTheRequestsCostIsBoundedToo) {
  limits.queue_work = std::chrono::milliseconds(100);
  start();
  int pushed = 0;
  while (push(1, 10 * kMillisecond) == CommandQueue::Push::queued) ++pushed;
  EXPECT_EQ(pushed, 5);
  EXPECT_EQ(push(2, 10 * kMillisecond), CommandQueue::Push::queued);
}

TEST_F(Queue, ARefusedRequestStaysTheCallers) {
  limits.queue_bytes = 1;
  start();
  EXPECT_EQ(push(1, 1), CommandQueue::Push::queued);
  Command refused = request(1, 1, 30);
  EXPECT_EQ(queue->push(refused), CommandQueue::Push::full);
  EXPECT_EQ(refused.frame.size(), 30u);
}

TEST_F(Queue, AnEmptyLaneTakesAnyRequest) {
  limits.queue_bytes = 10;
  start();
  EXPECT_EQ(push(1, 1, 100), CommandQueue::Push::queued);
  EXPECT_EQ(push(2, 1, 100), CommandQueue::Push::queued);
  EXPECT_GE(totals.memory.used(), 200);
  ASSERT_TRUE(take());
  EXPECT_EQ(totals.memory.used(), 0);
}

TEST_F(Queue, ClosedItHandsOutTheRest) {
  start();
  EXPECT_EQ(push(1, 1), CommandQueue::Push::queued);
  queue->close();
  EXPECT_EQ(push(1, 1), CommandQueue::Push::closed);
  EXPECT_TRUE(take());
  EXPECT_EQ(taken.size(), 1u);
  EXPECT_FALSE(take());
}

TEST_F(Queue, ATurnIsBoundedAndSharedByCost) {
  start();
  for (int i = 0; i < 100; ++i) push(1, 5 * kMillisecond);
  for (int i = 0; i < 100; ++i) push(2, kMillisecond);
  push(3, kMillisecond);
  ASSERT_TRUE(take());
  EXPECT_LE(taken.size(), 8u);
  EXPECT_EQ(count(1), 1u);
  EXPECT_EQ(count(3), 1u);
  // In the long run both get the same time.
  std::size_t first = 0, second = 0;
  while (second < 90) {
    ASSERT_TRUE(take());
    first += count(1);
    second += count(2);
  }
  EXPECT_GE(first, 16u);
  EXPECT_LE(first, 20u);
}

TEST_F(Queue, SilenceGivesNoRightToBeServedForLong) {
  start();
  for (int i = 0; i < 50; ++i) push(1, kMillisecond);
  for (int i = 0; i < 4; ++i) ASSERT_TRUE(take());
  for (int i = 0; i < 50; ++i) push(2, kMillisecond);
  ASSERT_TRUE(take());
  EXPECT_GT(count(1), 2u);
  EXPECT_GT(count(2), 2u);
}

/// So what doors and targets subscribe to at the start is in force before the first publication,
/// whoever sends that.
TEST_F(Queue, WhatComesFirstOfEachClientKeepsItsOrder) {
  start();
  for (const std::size_t client : {7, 3, 9, 1}) push(client, 10);
  ASSERT_TRUE(take());
  std::vector<std::uint64_t> served;
  for (const Command& command : taken) served.push_back(command.client->id());
  EXPECT_EQ(served, (std::vector<std::uint64_t>{7, 3, 9, 1}));
}

TEST_F(Queue, RequestsOfAClientKeepTheirOrder) {
  start();
  for (int i = 0; i < 50; ++i) {
    push(1, kMillisecond, 1, i);
    push(2, kMillisecond / 10, 1, i);
  }
  std::vector<int> next(3);
  for (int i = 0; i < 100; i += static_cast<int>(taken.size())) {
    ASSERT_TRUE(take());
    for (const Command& command : taken) EXPECT_EQ(command.frame[0], next[command.client->id()]++);
  }
}

TEST_F(Queue, TheRestOfAPublicationComesBeforeWhatFollowsIt) {
  start();
  Command large = request(1, 5 * kPieceCost, 1, 1);
  large.work.rows = 50;
  push(std::move(large));
  push(1, 1, 1, 2);
  for (int i = 0; i < 20; ++i) push(2, kMillisecond);
  int pieces = 0;
  for (bool ended = false; !ended;) {
    ASSERT_TRUE(take());
    for (Command& command : taken) {
      if (command.client == clients[2]) continue;
      ended = command.frame[0] == 2;
      if (ended) break;
      ++pieces;
      if (command.piece_rows > 0) queue->put_back(std::move(command));
    }
  }
  EXPECT_EQ(pieces, 5);
  EXPECT_EQ(queue->bytes(1), 0u);
}

TEST_F(Queue, APublicationThatIsPutOffComesAgainWithAllOfItsRows) {
  start();
  Command large = request(1, 5 * kPieceCost, 1, 1);
  large.work.rows = 50;
  push(std::move(large));
  push(1, 1, 1, 2);
  for (int i = 0; i < 20; ++i) {
    push(2, 1);
    bool came = false, other_came = false;
    while (!came || !other_came) {
      ASSERT_TRUE(take());
      other_came |= count(2) > 0;
      for (Command& command : taken) {
        if (command.client == clients[2]) continue;
        ASSERT_EQ(command.frame[0], 1);
        ASSERT_EQ(command.piece_rows, 10u);
        came = true;
        queue->put_off(std::move(command));
      }
    }
  }
  queue->close();
  ASSERT_TRUE(take());
  EXPECT_EQ(taken[0].piece_rows, 10u);
  EXPECT_EQ(taken[0].work.rows, 40u);
}

TEST_F(Queue, WhatFollowsTheLastPieceWaitsForIt) {
  start();
  Command last = request(1, kPieceCost / 2, 1, 1);
  last.work.rows = 5;
  flatbuffers::FlatBufferBuilder builder;
  last.publication = empty_publication(builder);
  push(std::move(last));
  push(1, 1, 1, 2);
  for (int i = 0; i < 3;) {
    ASSERT_TRUE(take());
    if (taken.empty()) continue;
    ASSERT_EQ(taken.size(), 1u);
    EXPECT_EQ(taken[0].frame[0], 1);
    EXPECT_EQ(taken[0].work.rows, 5u);
    queue->put_off(std::move(taken[0]));
    ++i;
  }
}

TEST_F(Queue, TurnsAndPiecesAreSmallerWhereRequestsTakeLongerThanEstimated) {
  start();
  Command large = request(1, kPieceCost);
  large.work.rows = 1000;
  push(std::move(large));
  for (int i = 0; i < 8; ++i) push(2, kMillisecond);
  ASSERT_TRUE(queue->take(taken, std::nullopt, 10));
  EXPECT_LE(taken.size(), 2u);
  ASSERT_EQ(count(1), 1u);
  EXPECT_EQ(taken[0].piece_rows, 100u);
  EXPECT_EQ(taken[0].work.rows, 900u);
}

TEST_F(Queue, DropsWhatOnlyTheClientThatHasGoneWouldLearnOf) {
  start();
  push(1, 1, 1, 1);
  Command publication = request(1, 1, 1, 2);
  publication.work.kept = true;
  push(std::move(publication));
  push(1, 1, 1, 3);
  push(2, 1, 1, 4);
  queue->push_control({Command::Kind::disconnect, clients[1]});
  EXPECT_EQ(queue->drop(1, CommandQueue::Drop::replies_only), 2u);
  ASSERT_TRUE(take());
  ASSERT_EQ(count(1), 2u);
  EXPECT_EQ(taken[0].frame[0], 2);
  EXPECT_EQ(taken[1].kind, Command::Kind::disconnect);
  EXPECT_EQ(count(2), 1u);
}

TEST_F(Queue, DroppingAllKeepsWhatHasBegun) {
  start();
  flatbuffers::FlatBufferBuilder builder;
  Command begun = request(1, 1, 1, 1);
  begun.publication = empty_publication(builder);
  push(std::move(begun));
  Command publication = request(1, 1, 1, 2);
  publication.work.kept = true;
  push(std::move(publication));
  EXPECT_EQ(queue->drop(1, CommandQueue::Drop::all), 1u);
  ASSERT_TRUE(take());
  ASSERT_EQ(taken.size(), 1u);
  EXPECT_EQ(taken[0].frame[0], 1);
}

TEST(Pace, FollowsWhatTurnsTakeAndForgetsIt) {
  Pace pace;
  EXPECT_EQ(pace.value(), 1);
  for (int i = 0; i < 20; ++i) pace.note(kMillisecond, std::chrono::milliseconds(10));
  EXPECT_NEAR(pace.value(), 10, 0.01);
  for (int i = 0; i < 20; ++i) pace.note(kMillisecond, std::chrono::microseconds(100));
  EXPECT_EQ(pace.value(), 1);
  pace.note(0, std::chrono::seconds(10));
  EXPECT_EQ(pace.value(), 1);
}

TEST(WorkOf, GrowsWithRowsTextsAndTheKindOfRequest) {
  const auto work = [](const auto& body) {
    const auto frame = protocol::encode(1, body);
    return work_of(**protocol::open_frame(frame), frame.size());
  };
  const auto rows = [&](std::uint32_t count) {
    wire::PublishT publish;
    publish.batch = std::make_unique<wire::BatchT>();
    publish.batch->tables.push_back(std::make_unique<wire::EventTableT>());
    publish.batch->tables[0]->type = "T";
    publish.batch->tables[0]->rows = count;
    return work(publish);
  };
  EXPECT_GT(rows(65'536).cost, 1000 * rows(1).cost);
  EXPECT_EQ(rows(65'536).rows, 65'536u);
  EXPECT_TRUE(rows(1).kept);
  wire::DeployT small, large;
  large.text.assign(1'000'000, 'x');
  EXPECT_GT(work(large).cost, work(small).cost + 100 * kMillisecond);
  EXPECT_FALSE(work(small).kept);
  EXPECT_GT(work(wire::ListRulesT()).cost, rows(1).cost);
  wire::SubscribeT plain, pattern;
  plain.text = "A(name = \"(a{100}){100}\")";
  pattern.text = "A(matches(name, \"(a{100}){100}\"))";
  EXPECT_GT(work(pattern).cost, work(plain).cost + 10 * kMillisecond);
}

}  // namespace
}  // namespace gorgo::server
