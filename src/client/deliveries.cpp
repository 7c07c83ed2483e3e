#include "client/deliveries.hpp"

#include <utility>

namespace gorgo::client {

void Deliveries::add(DeliveredBatch batch, const Lost& lost) {
  events_ += batch.events.events() - batch.first;
  bytes_ += batch.memory->size();
  BatchCursor cursor(batch.events);
  while (cursor.position() < batch.first) cursor.advance();
  waiting_.push_back({std::move(batch), std::move(cursor), lost});
}

void Deliveries::drop_first() {
  bytes_ -= waiting_.front().batch.memory->size();
  waiting_.pop_front();
}

Delivery Deliveries::take_event() {
  Waiting& first = waiting_.front();
  const std::uint32_t event = first.cursor.position();
  Delivery delivery{first.batch.subscription(event), first.batch.place(event),
                    first.cursor.to_event(), std::exchange(first.lost, {})};
  first.cursor.advance();
  --events_;
  if (first.cursor.done()) drop_first();
  return delivery;
}

DeliveredBatch Deliveries::take_batch() {
  Waiting& first = waiting_.front();
  DeliveredBatch batch = std::move(first.batch);
  batch.first = first.cursor.position();
  events_ -= batch.events.events() - batch.first;
  bytes_ -= batch.memory->size();
  waiting_.pop_front();
  return batch;
}

}  // namespace gorgo::client
