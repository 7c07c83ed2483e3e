#include "server/sessions/credit_lane.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace gorgo::server {
namespace {

void add(std::optional<std::uint64_t>& bound, std::uint64_t more) {
  if (!bound) return;
  *bound += std::min(more, std::numeric_limits<std::uint64_t>::max() - *bound);
}

void subtract(std::optional<std::uint64_t>& bound, std::uint64_t less) {
  if (bound) *bound -= std::min(less, *bound);
}

}  // namespace

void CreditLane::grant(std::uint64_t rows, std::uint64_t bytes) {
  add(credit_.rows, rows);
  add(credit_.bytes, bytes);
}

void CreditLane::push(ClientDelivery delivery) {
  delivery.lost.add(lost_);
  waiting_.push_back(std::move(delivery));
  lost_ = {};
  bytes_ += waiting_.back().bytes();
}

std::uint32_t CreditLane::allowed(const ClientDelivery& delivery) const {
  std::uint64_t rows = delivery.rows;
  if (credit_.rows) rows = std::min(rows, *credit_.rows);
  if (credit_.bytes) {
    const std::uint64_t row = std::max<std::uint64_t>(1, delivery.bytes() / delivery.rows);
    const std::uint64_t covered =
        *credit_.bytes == 0 ? 0 : std::max<std::uint64_t>(1, *credit_.bytes / row);
    rows = std::min(rows, covered);
  }
  return static_cast<std::uint32_t>(rows);
}

std::optional<ClientDelivery> CreditLane::next() const {
  if (waiting_.empty()) return std::nullopt;
  const std::uint32_t rows = allowed(waiting_.front());
  if (rows == 0) return std::nullopt;
  ClientDelivery next = waiting_.front();
  next.rows = rows;
  return next;
}

void CreditLane::release(const ClientDelivery& next) {
  ClientDelivery& oldest = waiting_.front();
  bytes_ -= oldest.bytes();
  subtract(credit_.rows, next.rows);
  subtract(credit_.bytes, next.bytes());
  oldest.first += next.rows;
  oldest.rows -= next.rows;
  oldest.lost = {};
  if (oldest.rows > 0) {
    bytes_ += oldest.bytes();
  } else {
    waiting_.pop_front();
  }
}

std::optional<std::uint64_t> CreditLane::drop_oldest() {
  if (waiting_.empty() || waiting_.front().policy != SlowConsumer::drop) return std::nullopt;
  Gap gap = waiting_.front().lost;
  gap.add(waiting_.front().as_gap());
  const std::uint64_t rows = waiting_.front().rows;
  bytes_ -= waiting_.front().bytes();
  waiting_.pop_front();
  (waiting_.empty() ? lost_ : waiting_.front().lost).add(gap);
  return rows;
}

Gap CreditLane::clear() {
  Gap gap = std::exchange(lost_, {});
  for (const ClientDelivery& delivery : waiting_) {
    gap.add(delivery.lost);
    gap.add(delivery.as_gap());
  }
  waiting_.clear();
  bytes_ = 0;
  return gap;
}

std::uint64_t CreditLane::rows() const {
  std::uint64_t rows = 0;
  for (const ClientDelivery& delivery : waiting_) rows += delivery.rows;
  return rows;
}

}  // namespace gorgo::server
