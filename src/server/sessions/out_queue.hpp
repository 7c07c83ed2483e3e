#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <list>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "server/sessions/credit_lane.hpp"
#include "server/subscriptions/delivery.hpp"

namespace gorgo::server {

/// The frames that wait for one client, in their order, and what was lost among them. Deliveries of
/// subscriptions with credit wait in lanes of their own until they have credit. Not thread-safe.
///
/// A shared delivery counts in full in `bytes`, because the client keeps the server waiting for all
/// of it. The memory of all clients counts it once, however many clients share it.
class OutQueue {
 public:
  explicit OutQueue(MemoryBudget& memory) : memory_(memory) {}

  void push(protocol::Bytes frame);
  void push(ClientDelivery delivery);
  /// Notes a loss behind everything that waits. The next delivery tells of it, or `take` does when
  /// nothing else waits.
  void lose(const Gap& gap) { lost_.add(gap); }
  /// Drops the oldest delivery that may be dropped, rather of the lane that `newcomer` is for. The
  /// next delivery that may be dropped tells of it. Returns its rows, or nothing
  /// where none may be dropped.
  std::optional<std::uint64_t> drop_oldest(const ClientDelivery* newcomer = nullptr);
  /// Whether something waits or is being written that may not be dropped.
  bool has_undroppable() const;
  /// Throws away everything that waits. Returns how many rows that were; `lose` has them noted.
  std::uint64_t clear();
  /// Rows of which the client was not told.
  const Gap& untold() const { return lost_; }
  /// Puts the notice of what was lost behind everything, if anything was.
  void tell_losses();

  /// Takes what waits, in order, until it is about `enough` bytes. That counts until `written`.
  std::vector<OutFrame> take(std::size_t enough);
  void written();
  /// What was taken will not be written. Returns how many rows that were, once.
  std::uint64_t give_up_writing() { return std::exchange(writing_.rows, 0); }
  /// What waits or is being written.
  std::size_t bytes() const { return bytes_; }

  /// From now on deliveries of the subscription need credit.
  void open_lane(std::uint32_t subscription, const Credit& credit);
  /// Drops what waits for credit and tells of it. Returns how many rows that were.
  std::uint64_t close_lane(std::uint32_t subscription);
  /// Closes all lanes.
  std::uint64_t drop_waiting_for_credit();
  /// False: the subscription has no lane.
  bool grant(std::uint32_t subscription, std::uint64_t rows, std::uint64_t bytes);

 private:
  struct Item {
    OutFrame frame;
    std::size_t bytes;
    std::size_t own;  // of `bytes`, what is no share of a delivery
  };
  using Items = std::list<Item>;
  /// What was taken and is not written.
  struct Writing {
    std::size_t bytes = 0, own = 0;
    std::uint64_t rows = 0;
    bool undroppable = false;
  };

  Items items_;
  std::deque<Items::iterator> droppable_;      // those of `items_` that may be dropped, in order
  std::map<std::uint32_t, CreditLane> lanes_;  // by subscription
  Gap lost_;                                   // behind everything that waits
  Writing writing_;
  std::size_t bytes_ = 0, own_ = 0;
  MemoryShare memory_;

  void append(OutFrame frame, std::size_t bytes, std::size_t own);
  void append(ClientDelivery delivery);
  void append_with_losses(ClientDelivery delivery);
  Items::iterator remove(Items::iterator item);
  void take_front(std::vector<OutFrame>& taken);
  /// Moves what has credit behind everything.
  void release(CreditLane& lane);
  /// Runs a change of a lane and counts what it changes.
  template <class Change>
  auto with(CreditLane& lane, Change change);
  std::optional<std::uint64_t> drop_from_lanes(const ClientDelivery* newcomer);
};

}  // namespace gorgo::server
