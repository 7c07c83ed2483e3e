#pragma once

#include <chrono>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "server/actions/outstanding.hpp"

namespace gorgo::server {

/// The orders that wait for further events before they are tried, by what their events share.
/// Belongs to the target's thread.
class OrderGroups {
 public:
  /// Events belong together that agree in these attributes. `wait` 0: none do.
  OrderGroups(std::vector<std::string> attributes, std::chrono::milliseconds wait)
      : attributes_(std::move(attributes)), wait_(wait) {}

  /// Has the event of an order that has come join another order, or has the order wait for others.
  void add(const OrderPlace& place, const std::string& target, actions::Time now) {
    constexpr std::size_t kMostTogether = 100;
    if (wait_.count() == 0) return;
    OutstandingOrder& order = *place.order;
    const auto& row = order.order.rows.front();
    const std::string shared = actions::texts_in(row, attributes_);
    const auto open = groups_.find(shared);
    if (open == groups_.end() || open->second->order.rows.size() >= kMostTogether) {
      order.next = now + wait_;
      groups_.insert_or_assign(shared, &order);
      return;
    }
    actions::Order& first = open->second->order;
    first.rows.push_back(row);
    first.key =
        doors::id_of(first.rows.front().place) + ".." + doors::id_of(row.place) + "/" + target;
    open->second->members.push_back(place);
    order.state = OutstandingOrder::State::joined;
  }
  /// No event joins the order from now on.
  void close(const OutstandingOrder& order) {
    std::erase_if(groups_, [&](const auto& group) { return group.second == &order; });
  }

 private:
  const std::vector<std::string> attributes_;
  const std::chrono::milliseconds wait_;
  std::map<std::string, OutstandingOrder*> groups_;
};

}  // namespace gorgo::server
