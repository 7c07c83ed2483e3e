#include "cluster/parcels.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "cluster/names.hpp"
#include "cluster/partition_of.hpp"

namespace gorgo::cluster {
namespace {

std::vector<Parcel::Origin> origins_of(const EventBatch& batch) {
  std::vector<Parcel::Origin> origins;
  for (const EventTable& table : batch.tables) {
    const auto number = static_cast<std::uint16_t>(origins.size());
    auto& origin =
        origins.emplace_back(Parcel::Origin{.table = &table, .number = number, .texts = {}});
    for (const EventColumn& column : table.columns) {
      if (column.type == ValueType::string) origin.texts.push_back(&column);
    }
  }
  return origins;
}

/// For each table, the partitions that its events go to; none: the family takes none of them.
std::vector<std::vector<std::uint32_t>> partitions_by_table(
    const Routing& routing, const Routing::Target& family, std::span<const Parcel::Origin> tables) {
  std::vector<std::vector<std::uint32_t>> numbers(tables.size());
  for (std::size_t i = 0; i < tables.size(); ++i) {
    for (const Routing::Target& target : routing.targets(tables[i].table->type)) {
      if (target.family != family.family) continue;
      numbers[i] = partitions_of(*tables[i].table, target.attribute, target.partitions);
    }
  }
  return numbers;
}

}  // namespace

StreamMessage Parcels::close(const std::string& family, std::size_t number, Parcel& parcel) const {
  const auto partition = static_cast<std::uint32_t>(number);
  return std::exchange(parcel, {}).close(input_subject(cluster_, family, partition), from_);
}

std::vector<Parcels::Row> Parcels::rows_of(const doors::DepartingColumns& part) {
  std::vector<Row> rows;
  rows.reserve(part.count);
  const std::uint32_t end = part.first + part.count;
  for (BatchCursor next(part.batch); next.position() < end; next.advance()) {
    if (next.position() < part.first) continue;
    const Timestamp time = next.table().timestamps[next.row()];
    const Timestamp newest = next_.newest.value_or(time);
    const auto table = static_cast<std::uint16_t>(next.table_number());
    rows.push_back({part.place(next.position()), newest, next.row(), table});
    next_.newest = std::max(newest, time);
  }
  return rows;
}

void Parcels::add(const Parcel::Origin& from, const Row& row, const Way& way) {
  const Timestamp time = from.table->timestamps[row.row];
  Parcel& open = way.out.open;
  // A late event must not take back what is due by the clock that it came behind.
  const bool is_behind =
      way.family.needs_clock && time < row.newest && (!way.clock || *way.clock < row.newest);
  if ((is_behind || open.full()) && !open.empty()) {
    open.put_values();
    way.out.closed.push_back(close(way.family.family, way.partition, open));
  }
  if (is_behind) open.set_clock(*(way.clock = row.newest));
  way.clock = std::max(way.clock.value_or(time), time);
  open.add(from, row.row, row.place);
}

Parcels::Grouped Parcels::group(std::span<const Row> rows,
                                const std::vector<std::vector<std::uint32_t>>& numbers,
                                std::uint32_t partitions) {
  Grouped grouped{.rows = {}, .ends = std::vector<std::uint32_t>(partitions + std::size_t{1})};
  const auto is_taken = [&](const Row& row) { return !numbers[row.table].empty(); };
  const auto number_of = [&](const Row& row) { return numbers[row.table][row.row]; };
  auto& next = grouped.ends;  // first where each partition begins
  for (const Row& row : rows) {
    if (is_taken(row)) ++next[number_of(row) + 1];
  }
  std::partial_sum(next.begin(), next.end(), next.begin());
  grouped.rows.resize(next.back());
  for (const Row& row : rows) {
    if (is_taken(row)) grouped.rows[next[number_of(row)]++] = &row;
  }
  return grouped;
}

/// Takes the rows partition by partition, so that what is written next lies beside what was written
/// last.
void Parcels::divide(std::span<const Row> rows, std::span<const Parcel::Origin> tables,
                     const Routing::Target& family, ByPartition<Outgoing>& all) {
  const auto grouped =
      group(rows, partitions_by_table(routing_, family, tables), family.partitions);
  auto& out = all[family.family];
  auto& clocks = next_.of_partitions[family.family];
  out.resize(family.partitions);
  clocks.resize(family.partitions);
  for (std::uint32_t number = 0; number < family.partitions; ++number) {
    const Way way{family, number, out[number], clocks[number]};
    for (const Row* row : grouped.of(number)) add(tables[row->table], *row, way);
    out[number].open.put_values();
  }
}

std::vector<Parcels::Round> Parcels::pack(std::span<const doors::DepartingColumns> events) {
  next_ = sent_;
  ByPartition<Outgoing> all;
  for (const doors::DepartingColumns& part : events) {
    const auto rows = rows_of(part);
    const auto tables = origins_of(part.batch);
    for (const Routing::Target& family : routing_.families()) divide(rows, tables, family, all);
  }
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
  next_ = sent_;
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
