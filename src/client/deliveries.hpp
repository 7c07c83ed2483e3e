#pragma once

#include <cstddef>
#include <deque>
#include <optional>

#include "gorgo/client.hpp"

namespace gorgo::client {

/// Deliveries that wait for their reader, who takes them event by event or batch by batch.
class Deliveries {
 public:
  /// Events before `batch.first` are left out. Precondition: others remain. `lost`: before those.
  void add(DeliveredBatch batch, const Lost& lost = {});

  std::size_t events() const { return events_; }
  std::size_t bytes() const { return bytes_; }
  /// Preconditions: there are events.
  Delivery take_event();
  DeliveredBatch take_batch();

 private:
  struct Waiting {
    DeliveredBatch batch;
    BatchCursor cursor;
    Lost lost;
  };

  std::deque<Waiting> waiting_;
  std::size_t events_ = 0;
  std::size_t bytes_ = 0;

  void drop_first();
};

}  // namespace gorgo::client
