#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "failing_memory.hpp"
#include "server/subscriptions/subscriptions.hpp"

namespace gorgo::server {
namespace {

/// Two rows of a type that nobody declared, which follow those of the batch before.
class TwoRows {
 public:
  const OutputBatch& next() {
    batch_.schema = &schema_;
    batch_.extras = {&extras_, 1};
    batch_.rows.clear();
    batch_.cells.clear();
    for (std::uint32_t i = 0; i < 2; ++i) {
      batch_.cells.push_back(Datum::of(std::string_view("text")));
      batch_.rows.push_back({{++root_, 0}, 1, kNoType, i, 0, OutputBatch::kPrimitive});
    }
    return batch_;
  }

 private:
  std::shared_ptr<const Extras> extras_ = std::make_shared<const Extras>(Extras{"T", {"s"}});
  Schema schema_;
  OutputBatch batch_;
  std::uint64_t root_ = 0;
};

/// A client, and which rows it has heard of.
class Reader {
 public:
  Reader(std::uint64_t id, const Limits& limits, ClientTotals& totals)
      : outbox_(std::make_shared<Outbox>(id, "peer", limits, totals, [] {})) {}

  const std::shared_ptr<Outbox>& outbox() const { return outbox_; }
  /// Row after row, each got or told as lost. The client may be told why it gets no more.
  void read() {
    for (const OutFrame& frame : outbox_->take()) {
      const auto* delivery = std::get_if<ClientDelivery>(&frame);
      if (delivery == nullptr) continue;
      hear_of(delivery->lost);
      hear_of(delivery->as_gap());
    }
    outbox_->written();
  }
  std::uint64_t heard_of() const { return heard_of_; }

 private:
  std::shared_ptr<Outbox> outbox_;
  std::uint64_t heard_of_ = 0;

  void hear_of(const Gap& rows) {
    if (rows.rows == 0) return;
    EXPECT_EQ(rows.first.root, heard_of_ + 1);
    EXPECT_EQ(rows.last.root, heard_of_ + rows.rows);
    heard_of_ += rows.rows;
  }
};

/// Delivers three batches, and the second one without memory. Returns whether that did harm.
template <class Fails>
bool deliver_without_memory(Fails&& fails) {
  const Limits limits;
  ClientTotals totals{.memory = {limits.memory_bytes, [] {}}};
  Subscriptions subscriptions(limits, totals.memory, [](const Outbox&, std::size_t) {});
  const Schema schema;
  std::vector<Reader> readers;
  const std::vector<Subscriptions::Manner> manners = {
      {.slow = SlowConsumer::drop},
      {.slow = SlowConsumer::disconnect},
      {.slow = SlowConsumer::drop, .credit = {.rows = 100, .bytes = {}}},
      {.slow = SlowConsumer::block}};
  for (const auto& manner : manners) {
    Reader& reader = readers.emplace_back(readers.size() + 1, limits, totals);
    EXPECT_TRUE(subscriptions.add(reader.outbox(), 7, "T", manner, schema).subscribed);
  }
  TwoRows rows;
  subscriptions.deliver(rows.next());
  const bool harmed = fails([&, &batch = rows.next()] { subscriptions.deliver(batch); });
  subscriptions.deliver(rows.next());
  for (Reader& reader : readers) {
    reader.read();
    EXPECT_EQ(reader.heard_of(), 6u) << "reader " << reader.outbox()->id();
    EXPECT_FALSE(reader.outbox()->closed());
  }
  return harmed;
}

TEST(Allocation, RowsThatFindNoMemoryOnTheirWayOutAreToldAsLost) {
  long n = 1;
  const auto nth_fails = [&n](const auto& action) {
    const Failing nth(n);
    action();
    return nth.failed();
  };
  while (deliver_without_memory(nth_fails)) ++n;
  EXPECT_GT(n, 5);
}

TEST(Allocation, ASubscriberThatIsNewWhenMemoryFailsIsToldOrDisconnected) {
  bool failed = true;
  for (long n = 1; failed; ++n) {
    const Limits limits;
    ClientTotals totals{.memory = {limits.memory_bytes, [] {}}};
    Subscriptions subscriptions(limits, totals.memory, [](const Outbox&, std::size_t) {});
    Reader reader(1, limits, totals);
    ASSERT_TRUE(subscriptions.add(reader.outbox(), 7, "T", {}, Schema()).subscribed);
    TwoRows rows;
    {
      const auto& batch = rows.next();
      const Failing nth(n);
      subscriptions.deliver(batch);
      failed = nth.failed();
    }
    subscriptions.deliver(rows.next());
    reader.read();
    if (reader.outbox()->closed()) continue;
    EXPECT_EQ(reader.heard_of(), 4u) << "allocation " << n;
  }
}

}  // namespace
}  // namespace gorgo::server
