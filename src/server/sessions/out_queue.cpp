#include "server/sessions/out_queue.hpp"

#include <new>
#include <utility>

namespace gorgo::server {
namespace {

// What waits takes so much memory beside its frame, about.
constexpr std::size_t kOwnBytes = 256;

bool may_drop(const OutFrame& frame) {
  const auto* delivery = std::get_if<ClientDelivery>(&frame);
  return delivery != nullptr && delivery->policy == SlowConsumer::drop;
}

/// The rows that are lost where the frame does not reach the client.
std::uint64_t rows_of(const OutFrame& frame) {
  const auto* delivery = std::get_if<ClientDelivery>(&frame);
  return delivery == nullptr ? 0 : delivery->as_gap().rows;
}

}  // namespace

template <class Change>
auto OutQueue::with(CreditLane& lane, Change change) {
  /// Counts the lane anew, whatever way the change ends.
  struct Recount {
    OutQueue& queue;
    CreditLane& lane;
    std::size_t bytes = lane.bytes(), own = lane.deliveries() * kOwnBytes;
    ~Recount() {
      queue.bytes_ = queue.bytes_ - bytes + lane.bytes();
      queue.own_ = queue.own_ - own + lane.deliveries() * kOwnBytes;
      queue.memory_.resize(queue.own_);
    }
  };
  const Recount recount{*this, lane};
  return change();
}

void OutQueue::append(OutFrame frame, std::size_t bytes, std::size_t own) {
  Items added;
  added.push_back({std::move(frame), bytes, own});
  if (may_drop(added.back().frame)) droppable_.push_back(added.begin());
  items_.splice(items_.end(), added);
  bytes_ += bytes;
  own_ += own;
  memory_.resize(own_);
}

void OutQueue::push(protocol::Bytes frame) {
  const std::size_t size = frame.size(), held = frame.capacity();
  append(std::move(frame), size, held + kOwnBytes);
}

void OutQueue::append(ClientDelivery delivery) {
  const std::size_t bytes = delivery.bytes();
  append(OutFrame(std::move(delivery)), bytes, kOwnBytes);
}

/// What was lost before it is told with it, so that losses are told in their order.
void OutQueue::append_with_losses(ClientDelivery delivery) {
  delivery.lost.add(lost_);
  append(std::move(delivery));
  lost_ = {};
}

void OutQueue::push(ClientDelivery delivery) {
  const auto lane = delivery.credited ? lanes_.find(delivery.ids->front()) : lanes_.end();
  if (lane == lanes_.end()) return append_with_losses(std::move(delivery));
  with(lane->second, [&] { lane->second.push(std::move(delivery)); });
  try {
    release(lane->second);
  } catch (const std::bad_alloc&) {  // `take` tries again
  }
}

OutQueue::Items::iterator OutQueue::remove(Items::iterator item) {
  bytes_ -= item->bytes;
  own_ -= item->own;
  memory_.resize(own_);
  return items_.erase(item);
}

std::optional<std::uint64_t> OutQueue::drop_oldest(const ClientDelivery* newcomer) {
  if (newcomer != nullptr && newcomer->credited) {
    if (const auto rows = drop_from_lanes(newcomer)) return rows;
  }
  if (droppable_.empty()) return drop_from_lanes(nullptr);
  const auto item = droppable_.front();
  droppable_.pop_front();
  const auto& dropped = std::get<ClientDelivery>(item->frame);
  Gap gap = dropped.lost;
  gap.add(dropped.as_gap());
  const std::uint64_t rows = dropped.rows;
  remove(item);
  Gap& told = droppable_.empty() ? lost_ : std::get<ClientDelivery>(droppable_.front()->frame).lost;
  told.add(gap);
  return rows;
}

std::optional<std::uint64_t> OutQueue::drop_from_lanes(const ClientDelivery* newcomer) {
  for (auto& [subscription, lane] : lanes_) {
    if (newcomer != nullptr && newcomer->ids->front() != subscription) continue;
    if (const auto rows = with(lane, [&lane = lane] { return lane.drop_oldest(); })) return rows;
  }
  return std::nullopt;
}

bool OutQueue::has_undroppable() const {
  return items_.size() > droppable_.size() || writing_.undroppable;
}

std::uint64_t OutQueue::clear() {
  std::uint64_t rows = 0;
  for (const Item& item : items_) {
    const auto* delivery = std::get_if<ClientDelivery>(&item.frame);
    if (delivery == nullptr) continue;
    rows += rows_of(item.frame);
    lost_.add(delivery->lost);
    lost_.add(delivery->as_gap());
  }
  for (auto& [subscription, lane] : lanes_) {
    rows += lane.rows();
    lost_.add(lane.clear());
  }
  droppable_.clear();
  items_.clear();
  bytes_ = writing_.bytes;
  own_ = writing_.own;
  memory_.resize(own_);
  return rows;
}

void OutQueue::tell_losses() {
  for (auto& [subscription, lane] : lanes_) {
    if (lane.untold().rows > 0) append(ClientDelivery::only(lane.untold(), subscription));
    lane.told();
  }
  if (lost_.rows > 0) append(ClientDelivery::only(lost_));
  lost_ = {};
}

void OutQueue::take_front(std::vector<OutFrame>& taken) {
  Item& item = items_.front();
  const bool droppable = may_drop(item.frame);
  if (droppable) droppable_.pop_front();
  writing_.bytes += item.bytes;
  writing_.own += item.own;
  writing_.rows += rows_of(item.frame);
  writing_.undroppable |= !droppable;
  taken.push_back(std::move(item.frame));
  items_.pop_front();
}

std::vector<OutFrame> OutQueue::take(std::size_t enough) {
  std::vector<OutFrame> taken;
  for (auto& [subscription, lane] : lanes_) release(lane);
  while (!items_.empty() && writing_.bytes < enough) take_front(taken);
  if (items_.empty()) {
    tell_losses();
    while (!items_.empty()) take_front(taken);
  }
  return taken;
}

void OutQueue::written() {
  bytes_ -= writing_.bytes;
  own_ -= writing_.own;
  writing_ = {};
  memory_.resize(own_);
}

void OutQueue::open_lane(std::uint32_t subscription, const Credit& credit) {
  lanes_.emplace(subscription, credit);
}

std::uint64_t OutQueue::close_lane(std::uint32_t subscription) {
  const auto lane = lanes_.find(subscription);
  if (lane == lanes_.end()) return 0;
  const std::uint64_t rows = lane->second.rows();
  const Gap gap = with(lane->second, [&] { return lane->second.clear(); });
  lanes_.erase(lane);
  if (gap.rows > 0) append(ClientDelivery::only(gap, subscription));
  return rows;
}

std::uint64_t OutQueue::drop_waiting_for_credit() {
  std::uint64_t rows = 0;
  while (!lanes_.empty()) rows += close_lane(lanes_.begin()->first);
  return rows;
}

bool OutQueue::grant(std::uint32_t subscription, std::uint64_t rows, std::uint64_t bytes) {
  const auto lane = lanes_.find(subscription);
  if (lane == lanes_.end()) return false;
  lane->second.grant(rows, bytes);
  release(lane->second);
  return true;
}

void OutQueue::release(CreditLane& lane) {
  while (auto next = lane.next()) {
    const ClientDelivery released = *next;
    append_with_losses(std::move(*next));
    with(lane, [&] { lane.release(released); });
  }
}

}  // namespace gorgo::server
