#pragma once

#include <cstdint>
#include <vector>

#include "doors/door.hpp"

namespace gorgo::cluster {

/// Rows in columns, as a gateway gets them.
class Columns {
 public:
  explicit Columns(const std::vector<doors::Departing::Row>& rows) {
    for (const auto& row : rows) {
      events_.add(row.event);
      roots_.push_back(row.place.root);
      ordinals_.push_back(row.place.ordinal);
    }
  }

  /// Valid as long as this object. Without the first `first` events, which stand in the batch.
  doors::DepartingColumns view(std::uint32_t first = 0) {
    return {.batch = events_.batch(),
            .roots = roots_,
            .ordinals = ordinals_,
            .first = first,
            .count = events_.events() - first};
  }

 private:
  BatchBuilder events_;
  std::vector<std::uint64_t> roots_;
  std::vector<std::uint32_t> ordinals_;
};

}  // namespace gorgo::cluster
