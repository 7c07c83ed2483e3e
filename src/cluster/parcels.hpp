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
  /// has everything up to some place. They come behind what is under way. Events that are packed
  /// again without `sent`, or behind `take_back`, are packed as before.
  using Round = std::vector<StreamMessage>;
  std::vector<Round> pack(std::span<const doors::DepartingColumns> events);

  /// Tells partitions whose rules wait for the clock what time it is, as far as they do not know.
  /// Empty: they all know.
  Round tell_clock();

  /// What was packed or told last is under way.
  void sent() { sent_ = next_; }
  /// What is under way is stored.
  void confirm() { stored_ = sent_; }
  /// Nobody knows whether what is under way is stored.
  void take_back() { sent_ = stored_; }

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
  /// An event of a part, by its table and row, and the newest timestamp of those before it.
  struct Row {
    Place place;
    Timestamp newest;  // that of the event, if it is the first
    std::uint32_t row;
    std::uint16_t table;
  };
  /// The rows that a family takes, in order within each of its partitions.
  struct Grouped {
    std::vector<const Row*> rows;     // one partition after the other
    std::vector<std::uint32_t> ends;  // where those of each partition end

    std::span<const Row* const> of(std::uint32_t partition) const {
      const std::uint32_t begin = partition == 0 ? 0 : ends[partition - 1];
      return std::span(rows).subspan(begin, ends[partition] - begin);
    }
  };
  /// What goes to one partition of a family.
  struct Way {
    const Routing::Target& family;
    std::uint32_t partition;
    Outgoing& out;
    std::optional<Timestamp>& clock;
  };

  const std::string cluster_, from_;
  Routing routing_;
  Clocks stored_, sent_, next_;  // as of what is stored, under way, and packed

  std::vector<Row> rows_of(const doors::DepartingColumns& part);
  static Grouped group(std::span<const Row> rows,
                       const std::vector<std::vector<std::uint32_t>>& numbers,
                       std::uint32_t partitions);
  void divide(std::span<const Row> rows, std::span<const Parcel::Origin> tables,
              const Routing::Target& family, ByPartition<Outgoing>& all);
  void add(const Parcel::Origin& from, const Row& row, const Way& way);
  StreamMessage close(const std::string& family, std::size_t number, Parcel& parcel) const;
};

}  // namespace gorgo::cluster
