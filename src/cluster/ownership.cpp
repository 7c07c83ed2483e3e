#include "cluster/ownership.hpp"

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>
#include <utility>

namespace gorgo::cluster {
namespace {

std::uint64_t weight(std::string_view partition, std::string_view node) {
  std::uint64_t hash = 14695981039346656037ull;  // FNV-1a with 64 bits
  const auto add = [&](std::string_view text) {
    for (const char byte : text)
      hash = (hash ^ static_cast<unsigned char>(byte)) * 1099511628211ull;
  };
  add(partition);
  add("@");
  add(node);
  // The last bytes hardly reach the high bits by themselves (finaliser of SplitMix64).
  hash = (hash ^ (hash >> 30)) * 0xbf58476d1ce4e5b9ull;
  hash = (hash ^ (hash >> 27)) * 0x94d049bb133111ebull;
  return hash ^ (hash >> 31);
}

/// The nodes that are to have partitions: those that people drain only where there is no other.
std::vector<std::string> takers(const Situation& situation) {
  std::vector<std::string> nodes;
  for (const auto& [node, member] : situation.live) {
    if (!situation.drained.contains(node)) nodes.push_back(node);
  }
  if (nodes.empty()) {
    for (const auto& [node, member] : situation.live) nodes.push_back(node);
  }
  return nodes;
}

std::vector<std::string> by_hash(const PartitionName& partition, std::vector<std::string> nodes) {
  const std::string text = partition.text();
  std::ranges::sort(nodes, std::ranges::greater(),
                    [&](const std::string& node) { return weight(text, node); });
  return nodes;
}

/// Moves the node to an earlier rank; those between follow it.
void bring_to(std::vector<std::string>::iterator rank, std::vector<std::string>::iterator node) {
  std::rotate(rank, node, node + 1);
}

/// How many partitions of a family nodes have.
struct Shares {
  std::size_t partitions = 0;                                    ///< of the family
  std::map<std::string, std::size_t> owned = {}, standbys = {};  ///< by node

  /// Gives a rank to the first from there on who has not had his share; to the first of them where
  /// all have. Precondition: there is one.
  void give(std::vector<std::string>& ranked, std::size_t rank,
            std::map<std::string, std::size_t>& taken) const {
    const std::size_t most = (partitions + ranked.size() - 1) / ranked.size();
    const auto first = ranked.begin() + static_cast<std::ptrdiff_t>(rank);
    const auto found = std::find_if(first, ranked.end(),
                                    [&](const std::string& node) { return taken[node] < most; });
    if (found != ranked.end()) bring_to(first, found);
    ++taken[*first];
  }
};

/// Who owns the partition, as far as live nodes say; the first of the ranking, if several do.
std::optional<std::string> holder_of(const PartitionName& partition, const Situation& situation,
                                     const std::vector<std::string>& ranked) {
  const auto owns = [&](const std::string& node) {
    const auto found = situation.live.find(node);
    return found != situation.live.end() && found->second.owns.contains(partition);
  };
  const auto first = std::ranges::find_if(ranked, owns);
  if (first != ranked.end()) return *first;
  for (const auto& [node, member] : situation.live) {
    if (owns(node)) return node;
  }
  return std::nullopt;
}

std::vector<std::string> texts_of(const std::set<PartitionName>& partitions) {
  std::vector<std::string> texts;
  for (const auto& one : partitions) texts.push_back(one.text());
  return texts;
}

bool take_names(const nlohmann::json& json, const char* key, std::set<PartitionName>& into) {
  if (!json.contains(key) || !json[key].is_array()) return false;
  for (const auto& one : json[key]) {
    const auto name = one.is_string() ? PartitionName::parse(one.get<std::string>()) : std::nullopt;
    if (!name) return false;
    into.insert(*name);
  }
  return true;
}

/// Nodes of earlier versions give none.
bool take_reasons(const nlohmann::json& json, std::map<PartitionName, std::string>& into) {
  const auto reasons = json.value("stuck", nlohmann::json::object());
  if (!reasons.is_object()) return false;
  for (const auto& [text, why] : reasons.items()) {
    const auto name = PartitionName::parse(text);
    if (!name || !why.is_string()) return false;
    into[*name] = why.get<std::string>();
  }
  return true;
}

}  // namespace

std::string PartitionName::text() const { return family + "/" + std::to_string(number); }

std::optional<PartitionName> PartitionName::parse(std::string_view text) {
  const auto slash = text.rfind('/');
  if (slash == text.npos || slash == 0) return std::nullopt;
  PartitionName name{std::string(text.substr(0, slash)), 0};
  const char* const end = text.data() + text.size();
  const auto [rest, failure] = std::from_chars(text.data() + slash + 1, end, name.number);
  if (failure != std::errc() || rest != end) return std::nullopt;
  return name;
}

std::string Member::to_json() const {
  auto reasons = nlohmann::json::object();
  for (const auto& [name, why] : stuck) reasons[name.text()] = why;
  return nlohmann::json{{"owns", texts_of(owns)}, {"ready", texts_of(ready)}, {"stuck", reasons}}
      .dump();
}

std::optional<Member> Member::parse(std::string_view text) {
  const auto json = nlohmann::json::parse(text, nullptr, false);
  Member member;
  if (!json.is_object() || !take_names(json, "owns", member.owns) ||
      !take_names(json, "ready", member.ready) || !take_reasons(json, member.stuck)) {
    return std::nullopt;
  }
  return member;
}

Rankings rank(std::vector<PartitionName> partitions, const Situation& situation) {
  const auto nodes = takers(situation);
  std::map<std::string, Shares> shares;  // by family
  for (const PartitionName& one : partitions) ++shares[one.family].partitions;
  const auto wish = [&](const PartitionName& partition) -> const std::string* {
    const auto found = situation.appointed.find(partition);
    if (found == situation.appointed.end()) return nullptr;
    return std::ranges::find(nodes, found->second) == nodes.end() ? nullptr : &found->second;
  };
  // All nodes must come to the same, in whatever order they have heard of partitions.
  std::ranges::sort(partitions, [&](const PartitionName& a, const PartitionName& b) {
    return std::pair(wish(a) == nullptr, a) < std::pair(wish(b) == nullptr, b);
  });
  Rankings rankings;
  for (const PartitionName& one : partitions) {
    auto& ranked = rankings[one] = by_hash(one, nodes);
    if (ranked.empty()) continue;
    Shares& share = shares[one.family];
    if (const std::string* const wished = wish(one)) {
      bring_to(ranked.begin(), std::ranges::find(ranked, *wished));
      ++share.owned[*wished];
    } else {
      share.give(ranked, 0, share.owned);
    }
    if (ranked.size() > 1) share.give(ranked, 1, share.standbys);
  }
  return rankings;
}

Duty duty_of(const std::string& node, const PartitionName& partition,
             const std::vector<std::string>& ranked, const Situation& situation) {
  if (ranked.empty()) return Duty::none;
  const auto is_ready = [&](const std::string& one) {
    return situation.live.at(one).ready.contains(partition);
  };
  const std::string& first = ranked.front();
  std::string owner = first;
  if (const auto holder = holder_of(partition, situation, ranked)) {
    if (!is_ready(first)) owner = *holder;
    // Two never publish on purpose: the next owner waits until the last one says that it has ended.
    if (node == first && *holder != node) return Duty::standby;
  } else if (const auto ready = std::ranges::find_if(ranked, is_ready); ready != ranked.end()) {
    owner = *ready;
  }
  if (node == owner) return Duty::owner;
  if (node == first) return Duty::standby;
  const bool is_second = ranked.size() > 1 && ranked[1] == node;
  return situation.has_standbys && is_second ? Duty::standby : Duty::none;
}

}  // namespace gorgo::cluster
