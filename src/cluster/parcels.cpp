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

StreamMessage Parcels::close(const std::string& family, std::size_t number, Parcel& parcel) const {
  StreamMessage message{
      .subject = input_subject(cluster_, family, static_cast<std::uint32_t>(number)),
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

std::vector<Parcels::Way> Parcels::ways_of(std::string_view type, ByPartition<Outgoing>& all) {
  std::vector<Way> ways;
  for (const Routing::Target& target : routing_.targets(type)) {
    auto& out = all[target.family];
    out.resize(target.partitions);
    auto& clocks = next_.of_partitions[target.family];
    clocks.resize(target.partitions);
    ways.push_back({&target, &out, &clocks});
  }
  return ways;
}

void Parcels::add(const doors::Departing::Row& row, const Way& way) {
  const Routing::Target& target = *way.target;
  const std::uint32_t number = number_of(row.event, target);
  Outgoing& out = (*way.out)[number];
  std::optional<Timestamp>& clock = (*way.clocks)[number];
  const Timestamp time = *row.event.timestamp;
  const auto& newest = next_.newest;
  // A late event must not take back what is due by the clock that it came behind.
  const bool is_behind =
      target.needs_clock && newest && time < *newest && (!clock || *clock < *newest);
  const bool is_full = out.open.events.bytes() >= kMostMessageBytes || out.open.events.full();
  if ((is_behind || is_full) && !out.open.places.empty()) {
    out.closed.push_back(close(target.family, number, out.open));
  }
  if (is_behind) out.open.clock = clock = *newest;
  clock = std::max(clock.value_or(time), time);
  out.open.events.add(row.event);
  out.open.places.push_back(row.place);
}

std::vector<Parcels::Round> Parcels::pack(const doors::Departing& events) {
  next_ = now_;
  ByPartition<Outgoing> all;
  std::map<std::string_view, std::vector<Way>> ways;
  for (const doors::Departing::Row& row : events.rows) {
    const auto [found, is_new] = ways.try_emplace(row.event.type);
    if (is_new) found->second = ways_of(row.event.type, all);
    for (const Way& way : found->second) add(row, way);
    const Timestamp time = *row.event.timestamp;
    next_.newest = std::max(next_.newest.value_or(time), time);
  }
  std::vector<Round> rounds;
  for (auto& [family, partitions] : all) {
    for (std::size_t number = 0; number < partitions.size(); ++number) {
      Outgoing& out = partitions[number];
      if (!out.open.places.empty()) out.closed.push_back(close(family, number, out.open));
      for (std::size_t i = 0; i < out.closed.size(); ++i) {
        if (i == rounds.size()) rounds.emplace_back();
        rounds[i].push_back(std::move(out.closed[i]));
      }
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
    auto& clocks = next_.of_partitions[family.family];
    clocks.resize(family.partitions);
    for (std::size_t number = 0; number < clocks.size(); ++number) {
      if (clocks[number] && *clocks[number] >= newest) continue;
      clocks[number] = newest;
      Parcel empty;
      empty.clock = newest;
      round.push_back(close(family.family, number, empty));
    }
  }
  return round;
}

}  // namespace gorgo::cluster
