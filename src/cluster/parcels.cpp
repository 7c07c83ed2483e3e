#include "cluster/parcels.hpp"

#include <algorithm>
#include <utility>

#include "cluster/names.hpp"
#include "cluster/partition_of.hpp"

namespace gorgo::cluster {
StreamMessage Parcels::close(const std::string& family, std::size_t number, Parcel& parcel) const {
  const auto partition = static_cast<std::uint32_t>(number);
  return std::exchange(parcel, {}).close(input_subject(cluster_, family, partition), from_);
}

Parcels::Division Parcels::division_of(const EventTable& table, std::uint16_t number,
                                       ByPartition<Outgoing>& all) {
  Division division{.from = {.table = &table, .number = number, .texts = {}}, .ways = {}};
  for (const EventColumn& column : table.columns) {
    if (column.type == ValueType::string) division.from.texts.push_back(&column);
  }
  for (const Routing::Target& target : routing_.targets(table.type)) {
    auto& out = all[target.family];
    out.resize(target.partitions);
    auto& clocks = next_.of_partitions[target.family];
    clocks.resize(target.partitions);
    auto numbers = partitions_of(table, target.attribute, target.partitions);
    division.ways.push_back({&target, std::move(numbers), &out, &clocks});
  }
  return division;
}

void Parcels::add(const Division& from, std::uint32_t row, Place place) {
  const Timestamp time = from.from.table->timestamps[row];
  const auto& newest = next_.newest;
  for (const Way& way : from.ways) {
    const std::uint32_t number = way.numbers[row];
    Outgoing& out = (*way.out)[number];
    std::optional<Timestamp>& clock = (*way.clocks)[number];
    // A late event must not take back what is due by the clock that it came behind.
    const bool is_behind =
        way.target->needs_clock && newest && time < *newest && (!clock || *clock < *newest);
    if ((is_behind || out.open.full()) && !out.open.empty()) {
      out.open.put_values();
      out.closed.push_back(close(way.target->family, number, out.open));
    }
    if (is_behind) out.open.set_clock(*(clock = *newest));
    clock = std::max(clock.value_or(time), time);
    out.open.add(from.from, row, place);
  }
  next_.newest = std::max(newest.value_or(time), time);
}

void Parcels::divide(const doors::DepartingColumns& part, ByPartition<Outgoing>& all) {
  std::vector<Division> divisions;
  for (const EventTable& table : part.batch.tables) {
    divisions.push_back(division_of(table, static_cast<std::uint16_t>(divisions.size()), all));
  }
  const std::uint32_t end = part.first + part.count;
  for (BatchCursor next(part.batch); next.position() < end; next.advance()) {
    if (next.position() < part.first) continue;
    add(divisions[next.table_number()], next.row(), part.place(next.position()));
  }
  for (auto& [family, partitions] : all) {
    for (Outgoing& out : partitions) out.open.put_values();
  }
}

std::vector<Parcels::Round> Parcels::pack(std::span<const doors::DepartingColumns> events) {
  next_ = now_;
  ByPartition<Outgoing> all;
  for (const doors::DepartingColumns& part : events) divide(part, all);
  std::vector<Round> rounds;
  for (auto& [family, partitions] : all) {
    for (std::size_t number = 0; number < partitions.size(); ++number) {
      Outgoing& out = partitions[number];
      if (!out.open.empty()) out.closed.push_back(close(family, number, out.open));
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
      empty.set_clock(newest);
      round.push_back(close(family.family, number, empty));
    }
  }
  return round;
}

}  // namespace gorgo::cluster
