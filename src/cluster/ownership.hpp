#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

/// Who has which partition. Pure functions of what nodes say of themselves, for any thread.
namespace gorgo::cluster {

/// A partition of a family.
struct PartitionName {
  std::string family;
  std::uint32_t number = 0;

  /// `area/3`
  std::string text() const;
  static std::optional<PartitionName> parse(std::string_view text);
  friend auto operator<=>(const PartitionName&, const PartitionName&) = default;
};

/// A node, as it describes itself in its lease.
struct Member {
  std::set<PartitionName> owns;   ///< it publishes their composites, or is about to
  std::set<PartitionName> ready;  ///< it has evaluated all that there was, owned ones included
  std::map<PartitionName, std::string> stuck = {};  ///< those that stand still, and why

  std::string to_json() const;
  /// Unset: this is no lease.
  static std::optional<Member> parse(std::string_view json);
  friend bool operator==(const Member&, const Member&) = default;
};

/// All that decides who has what.
struct Situation {
  std::map<std::string, Member> live;              ///< by node
  std::set<std::string> drained;                   ///< nodes that are to have nothing
  std::map<PartitionName, std::string> appointed;  ///< by people: the node that is to have it
  bool has_standbys = true;
};

enum class Duty : std::uint8_t { none, standby, owner };

/// The nodes that may have each partition: the one that should own it, then the one that should
/// stand by, then the others.
using Rankings = std::map<PartitionName, std::vector<std::string>>;

/// Ranks the nodes of each partition by the hash of both names. A node that owns its share of the
/// family's partitions already, rounded up, is passed over, and so is one that stands by for as
/// many. What people appoint comes first.
/// A node that comes or goes moves its own partitions, and few others: rendezvous hashing with
/// bounded loads (V. Mirrokni, M. Thorup and M. Zadimoghaddam, "Consistent Hashing with Bounded
/// Loads", 2018). `partitions`: all that there are, in any order.
Rankings rank(std::vector<PartitionName> partitions, const Situation& situation);

/// What a live node does about a partition that has these ranked nodes. The first of them is to own
/// it. Until that node is ready, whoever owns it keeps it; where nobody does, the first that is
/// ready takes it, and if none is, the first of all. Nodes that see different situations may all
/// take themselves for the owner, which the output stream is safe from.
Duty duty_of(const std::string& node, const PartitionName& partition,
             const std::vector<std::string>& ranked, const Situation& situation);

}  // namespace gorgo::cluster
