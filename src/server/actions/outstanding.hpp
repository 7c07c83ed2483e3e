#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "actions/pace.hpp"
#include "actions/target.hpp"

namespace gorgo::server {

struct OrderBatch;
struct OutstandingOrder;

/// An order, and the batch that it stands in.
struct OrderPlace {
  OrderBatch* batch;
  OutstandingOrder* order;
};

/// An order, and how far it has come.
struct OutstandingOrder {
  enum class State : std::uint8_t {
    waits,    ///< for its next attempt
    joined,   ///< its events belong to another order now
    is_dead,  ///< was given up, and the dead letters have to be published
    dying,    ///< until the engine has the dead letters
    done,
  };

  actions::Order order;
  actions::Time deadline;
  State state = State::waits;
  unsigned failures = 0;
  actions::Time next = {};               ///< when something is to be done
  std::string problem = {};              ///< of the last attempt
  std::vector<OrderPlace> members = {};  ///< orders that have joined it, done when it is
};

/// The orders of one delivery.
struct OrderBatch {
  std::vector<OutstandingOrder> orders;
  std::size_t left = 0;       ///< that are not done
  std::optional<Place> last;  ///< to be acknowledged when all are done; unset: of no delivery
};

/// The orders of a target that are not done with, in the order in which they came. Batches and
/// orders keep their addresses until they leave. Belongs to the target's thread.
class Outstanding {
 public:
  using State = OutstandingOrder::State;

  OrderBatch& add(OrderBatch batch) {
    left_ += batch.left = batch.orders.size();
    return batches_.emplace_back(std::move(batch));
  }
  std::size_t left() const { return left_; }

  /// Calls `f(place)` for each order that is not done, in their order, until it returns
  /// false.
  template <class F>
  void for_each(F&& f) {
    for (OrderBatch& batch : batches_) {
      if (batch.left == 0) continue;
      for (OutstandingOrder& order : batch.orders) {
        if (order.state != State::done && !f(OrderPlace{&batch, &order})) return;
      }
    }
  }
  void finish(const OrderPlace& place) {
    for (const OrderPlace& member : place.order->members) finish(member);
    place.order->state = State::done;
    --place.batch->left;
    --left_;
  }
  /// Lets go of the first batches that are done. Returns up to where all deliveries are done, if
  /// that is news.
  std::optional<Place> take_done() {
    std::optional<Place> done;
    while (!batches_.empty() && batches_.front().left == 0) {
      if (batches_.front().last) done = batches_.front().last;
      batches_.pop_front();
    }
    return done;
  }

 private:
  std::deque<OrderBatch> batches_;
  std::size_t left_ = 0;
};

}  // namespace gorgo::server
