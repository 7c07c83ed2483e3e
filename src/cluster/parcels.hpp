#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cluster/deployment.hpp"
#include "cluster/parcel.hpp"
#include "doors/door.hpp"

namespace gorgo::cluster {

/// Divides the events of a gateway among the partitions that read them, and says what time it was
/// when they came. One thread.
class Parcels {
 public:
  Parcels(std::string cluster, std::string from)
      : cluster_(std::move(cluster)), from_(std::move(from)) {}

  void follow(Routing routing) { routing_ = std::move(routing); }

  /// The messages of these events, in rounds: one is to be stored before the next is sent. A round
  /// has one message for a partition at most, so that of what a partition has been sent it always
  /// has everything up to some place. Events that are packed again, because `confirm` was not
  /// called, are packed as before.
  using Round = std::vector<StreamMessage>;
  std::vector<Round> pack(std::span<const doors::DepartingColumns> events);

  /// Tells partitions whose rules wait for the clock what time it is, as far as they do not know.
  /// Empty: they all know.
  Round tell_clock();

  /// What was packed or told last is stored.
  void confirm() { now_ = next_; }

 private:
  struct Outgoing {
    std::vector<StreamMessage> closed;
    Parcel open;
  };
  /// By the name of a family: something of each of its partitions, by number.
  template <class T>
  using ByPartition = std::map<std::string, std::vector<T>, std::less<>>;
  struct Clocks {
    std::optional<Timestamp> newest;                      // timestamp that has come
    ByPartition<std::optional<Timestamp>> of_partitions;  // that they know of
  };
  /// The way of a table's events into a family.
  struct Way {
    const Routing::Target* target;
    std::vector<std::uint32_t> numbers;  // of the partitions, for each event
    std::vector<Outgoing>* out;
    std::vector<std::optional<Timestamp>>* clocks;
  };
  /// A table and where its events go.
  struct Division {
    Parcel::Origin from;
    std::vector<Way> ways;
  };

  const std::string cluster_, from_;
  Routing routing_;
  Clocks now_, next_;  // as of what is stored, and of what is under way

  Division division_of(const EventTable& table, std::uint16_t number, ByPartition<Outgoing>& all);
  void divide(const doors::DepartingColumns& part, ByPartition<Outgoing>& all);
  void add(const Division& from, std::uint32_t row, Place place);
  StreamMessage close(const std::string& family, std::size_t number, Parcel& parcel) const;
};

}  // namespace gorgo::cluster
