#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cluster/sender.hpp"
#include "doors/door.hpp"

namespace gorgo::cluster {

/// A message for a partition, in the making. Events come one by one, and their values column by
/// column. One thread.
class Parcel {
 public:
  /// A table of a batch whose events are divided, and what is known of all of them.
  struct Origin {
    const EventTable* table;
    std::uint16_t number;                   ///< of the table in its batch
    std::vector<const EventColumn*> texts;  ///< its columns of strings
  };

  bool empty() const { return places_.empty(); }
  bool full() const;
  /// The clock that has to be reached before the events.
  void set_clock(Timestamp clock) { clock_ = clock; }
  /// The next event. Precondition: all since `put_values` are of tables of one batch.
  void add(const Origin& origin, std::uint32_t row, Place place);
  /// Takes the values of the events that have come, from their batch, which may go then.
  void put_values();
  /// Precondition: every event has its values.
  StreamMessage close(std::string subject, const std::string& from);

 private:
  /// Where the events of a table go, and those that have no values yet.
  struct Way {
    const EventTable* table = nullptr;  // null: none has come
    std::uint16_t to = 0;
    std::vector<std::uint32_t> columns;  // of `to`, for each column of the table
    std::vector<std::uint32_t> rows;
  };

  std::optional<Timestamp> clock_;
  BatchBuilder events_;
  std::vector<Place> places_;
  std::vector<Way> ways_;  // by the number of the table

  Way& begin(const Origin& origin);
};

}  // namespace gorgo::cluster
