// The committer syncs as seldom as it can, and tells what is durable.

#include "journal/committer.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <latch>
#include <semaphore>
#include <thread>
#include <vector>

#include "simulated_disk.hpp"
#include "text.hpp"

namespace gorgo::journal {
namespace {

using testing::HasSubstr;

class CommitterTest : public testing::Test {
 protected:
  CommitterTest() : journal_(*Journal::open(disk_, "j", {.number = 1})) {}

  Place append() {
    const std::array<Bytes, 1> parts = {bytes_of("record")};
    return journal_->append(kFirstKind, parts).value();
  }

  SimulatedDisk disk_{1};
  std::unique_ptr<Journal> journal_;
};

TEST_F(CommitterTest, MakesDurableWhatIsWaitedFor) {
  Committer committer(*journal_);
  for (int i = 0; i < 10; ++i) {
    const Place place = append();
    ASSERT_TRUE(committer.wait(place));
    EXPECT_GT(journal_->durable(), place);
  }
  EXPECT_TRUE(committer.wait(1));
}

TEST_F(CommitterTest, WhatIsAskedForDuringASyncSharesTheNextOne) {
  std::counting_semaphore<> in_sync(0), go_on(0);
  const std::uint64_t before = disk_.count(Operation::sync);
  disk_.before_sync([&] {
    in_sync.release();
    go_on.acquire();
  });
  Committer committer(*journal_);
  committer.request(append());
  in_sync.acquire();
  for (int i = 0; i < 100; ++i) committer.request(append());
  go_on.release(2);
  ASSERT_TRUE(committer.wait(101));
  EXPECT_EQ(disk_.count(Operation::sync) - before, 2u);
}

TEST_F(CommitterTest, ManyThreadsAppendAndWait) {
  std::atomic<Place> notified = 0;
  Committer committer(*journal_, [&](const Result<Place>& durable) { notified = *durable; });
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int j = 0; j < 50; ++j) {
        const Place place = append();
        EXPECT_TRUE(committer.wait(place));
        EXPECT_GT(journal_->durable(), place);
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(journal_->end(), 201u);
  EXPECT_LE(disk_.count(Operation::sync), 200u);
}

TEST_F(CommitterTest, TellsEverybodyThatTheJournalFailed) {
  std::latch told(1);
  Committer committer(*journal_, [&](const Result<Place>& durable) {
    if (!durable) told.count_down();
  });
  disk_.fail(Operation::sync, 1);
  const Place place = append();
  EXPECT_THAT(committer.wait(place).error().message, HasSubstr("has failed"));
  EXPECT_THAT(committer.wait(place).error().message, HasSubstr("has failed"));
  told.wait();
}

TEST_F(CommitterTest, EndsWithARequestOpen) {
  Committer committer(*journal_);
  committer.request(append());
}

}  // namespace
}  // namespace gorgo::journal
