#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cluster/deployment.hpp"
#include "cluster/sender.hpp"
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
  std::vector<Round> pack(const doors::Departing& events);

  /// Tells partitions whose rules wait for the clock what time it is, as far as they do not know.
  /// Empty: they all know.
  Round tell_clock();

  /// What was packed or told last is stored.
  void confirm() { now_ = next_; }

 private:
  /// A message in the making.
  struct Parcel {
    std::optional<Timestamp> clock;  // that has to be reached before the events
    BatchBuilder events;
    std::vector<Place> places;
  };
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
  /// The way of a type's events into a family.
  struct Way {
    const Routing::Target* target;
    std::vector<Outgoing>* out;
    std::vector<std::optional<Timestamp>>* clocks;
  };

  const std::string cluster_, from_;
  Routing routing_;
  Clocks now_, next_;  // as of what is stored, and of what is under way

  std::vector<Way> ways_of(std::string_view type, ByPartition<Outgoing>& all);
  void add(const doors::Departing::Row& row, const Way& way);
  StreamMessage close(const std::string& family, std::size_t number, Parcel& parcel) const;
};

}  // namespace gorgo::cluster
