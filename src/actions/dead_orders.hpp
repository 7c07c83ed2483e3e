#pragma once

#include <cstddef>
#include <list>
#include <string>
#include <vector>

#include "actions/target.hpp"

namespace gorgo::actions {

/// The last orders of a target that were given up, for whoever wants them tried again: 1000 of
/// them, with lines of a mebibyte in all. One thread at a time.
class DeadOrders {
 public:
  DeadOrders() = default;
  /// Those that `saved` has told of. What is no such text has none.
  explicit DeadOrders(const std::string& saved);

  /// An order was given up. The oldest ones are forgotten where there are too many.
  void add(Order order);
  /// Those that are not being tried again already, which they are from now on.
  std::vector<Order> retry();
  /// The order with this key was carried out. False: it is none of these.
  bool forget(const std::string& key);
  /// Events of the orders that `retry` would return.
  std::size_t retriable() const;
  /// All that there is to know, as JSON.
  std::string saved() const;
  std::size_t bytes() const { return bytes_; }

 private:
  struct Dead {
    Order order;
    std::size_t bytes;
    bool is_tried = false;
  };
  std::list<Dead> all_;  // the oldest first
  std::size_t bytes_ = 0;

  void erase(std::list<Dead>::iterator dead);
};

}  // namespace gorgo::actions
