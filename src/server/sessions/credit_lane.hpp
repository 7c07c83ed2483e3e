#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>

#include "server/subscriptions/delivery.hpp"

namespace gorgo::server {

/// What a subscription may still get. Unset: there is no bound.
struct Credit {
  std::optional<std::uint64_t> rows;
  std::optional<std::uint64_t> bytes;  ///< may be exceeded by one row

  bool is_set() const { return rows || bytes; }
};

/// The deliveries of one subscription that wait for credit, in their order. Not thread-safe.
class CreditLane {
 public:
  explicit CreditLane(const Credit& credit) : credit_(credit) {}

  /// Allows more. A bound that was never set stays unset.
  void grant(std::uint64_t rows, std::uint64_t bytes);
  void push(ClientDelivery delivery);
  /// What the credit allows of the oldest delivery. Nothing: no credit is left, or nothing waits.
  std::optional<ClientDelivery> next() const;
  /// Takes out what `next` said.
  void release(const ClientDelivery& next);
  /// Drops the oldest delivery, and the next one tells of it. Returns its rows, or nothing where
  /// none may be dropped.
  std::optional<std::uint64_t> drop_oldest();
  /// Drops everything. Returns what nobody was told of, also from before.
  Gap clear();
  /// The loss that no waiting delivery tells of.
  const Gap& untold() const { return lost_; }
  /// Others have told of it.
  void told() { lost_ = {}; }

  /// What waits.
  std::size_t bytes() const { return bytes_; }
  std::uint64_t rows() const;
  std::size_t deliveries() const { return waiting_.size(); }

 private:
  Credit credit_;
  std::deque<ClientDelivery> waiting_;
  std::size_t bytes_ = 0;
  Gap lost_;  // behind everything that waits

  std::uint32_t allowed(const ClientDelivery& delivery) const;
};

}  // namespace gorgo::server
