#include "cluster/parcels.hpp"

#include <algorithm>

#include "cluster/names.hpp"
#include "cluster/partition_of.hpp"

namespace gorgo::cluster {
namespace {

/// A message has at most so many. Brokers take one megabyte, unless they are told otherwise.
constexpr std::size_t kMostMessageBytes = std::size_t{512} << 10;

std::uint32_t number_of(const Event& event, const Routing::Target& target) {
  if (target.attribute.empty()) return 0;
  const auto key = std::ranges::find(event.attributes, target.attribute, &Attribute::name);
  const std::string text = key == event.attributes.end() ? "" : key_text(to_datum(key->value));
  return partition_of(text, target.partitions);
}

}  // namespace

StreamMessage Parcels::close(const Partition& partition, Parcel& parcel) const {
  StreamMessage message{.subject = input_subject(cluster_, partition.first, partition.second),
                        .headers = {{kFromHeader, from_}},
                        .payload = {}};
  if (parcel.clock) message.headers.emplace_back(kClockHeader, std::to_string(*parcel.clock));
  if (!parcel.places.empty()) {
    const InputPlaces places{parcel.places.front(), parcel.places.back()};
    message.headers.emplace_back(kPlaceHeader, places.text());
    message.payload = encode_events(parcel.events.batch(), parcel.places);
  }
  parcel = Parcel();
  return message;
}

void Parcels::add(const doors::Departing::Row& row, const Routing::Target& target,
                  std::map<Partition, Outgoing>& all) {
  const Partition partition(target.family, number_of(row.event, target));
  Outgoing& out = all[partition];
  const auto& newest = next_.newest;
  auto& clocks = next_.of_partitions;
  const auto known = clocks.find(partition);
  // A late event must not take back what is due by the clock that it came behind.
  const bool is_behind = target.needs_clock && newest && *row.event.timestamp < *newest &&
                         (known == clocks.end() || known->second < *newest);
  const bool is_full = out.open.events.bytes() >= kMostMessageBytes || out.open.events.full();
  if ((is_behind || is_full) && !out.open.places.empty()) {
    out.closed.push_back(close(partition, out.open));
  }
  Timestamp& clock = clocks.try_emplace(partition, *row.event.timestamp).first->second;
  if (is_behind) out.open.clock = clock = *newest;
  clock = std::max(clock, *row.event.timestamp);
  out.open.events.add(row.event);
  out.open.places.push_back(row.place);
}

std::vector<Parcels::Round> Parcels::pack(const doors::Departing& events) {
  next_ = now_;
  std::map<Partition, Outgoing> all;
  for (const doors::Departing::Row& row : events.rows) {
    for (const Routing::Target& target : routing_.targets(row.event.type)) add(row, target, all);
    const Timestamp time = *row.event.timestamp;
    next_.newest = std::max(next_.newest.value_or(time), time);
  }
  std::vector<Round> rounds;
  for (auto& [partition, out] : all) {
    if (!out.open.places.empty()) out.closed.push_back(close(partition, out.open));
    for (std::size_t i = 0; i < out.closed.size(); ++i) {
      if (i == rounds.size()) rounds.emplace_back();
      rounds[i].push_back(std::move(out.closed[i]));
    }
  }
  return rounds;
}

Parcels::Round Parcels::tell_clock() {
  Round round;
  next_ = now_;
  if (!next_.newest) return round;
  const Timestamp newest = *next_.newest;
  for (const Routing::Target& family : routing_.families()) {
    if (!family.needs_clock) continue;
    for (std::uint32_t number = 0; number < family.partitions; ++number) {
      const Partition partition(family.family, number);
      const auto known = next_.of_partitions.find(partition);
      if (known != next_.of_partitions.end() && known->second >= newest) continue;
      next_.of_partitions[partition] = newest;
      Parcel empty;
      empty.clock = newest;
      round.push_back(close(partition, empty));
    }
  }
  return round;
}

}  // namespace gorgo::cluster
