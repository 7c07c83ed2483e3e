#include "dispatch/order/column_intake.hpp"

#include <algorithm>
#include <new>

#include "base/arithmetic.hpp"

namespace gorgo::dispatch {
namespace {

/// What an event takes in `Released::bytes`, but for its strings.
std::size_t bytes_of_row(const TableCells& cells) {
  return sizeof(Record) + cells.size() * sizeof(Datum);
}

/// What so many events take in `Released::bytes`.
std::size_t bytes_of(const TableCells& cells, std::uint32_t first, std::uint32_t events) {
  return events * bytes_of_row(cells) + cells.text_bytes(first, events);
}

}  // namespace

void ColumnIntake::begin(std::size_t tables) {
  for (const std::size_t table : known_) tables_[table] = {};
  known_.clear();
  if (tables_.size() < tables) tables_.resize(tables);
  known_.reserve(tables_.size());
}

std::uint32_t ColumnIntake::take(BatchCursor& next, const Room& room, TableHeaders& headers,
                                 Released& released) {
  std::uint32_t taken = 0;
  stamps_.clear();
  const auto most = std::min(room.events, kMost);
  try {
    while (taken < most && !next.done() && released.bytes < room.bytes) {
      const std::uint32_t run = take_run(next, {most - taken, room.bytes}, headers, released);
      if (run == 0) break;
      taken += run;
      take_turns(next, {most, room.bytes}, headers, released, taken);
    }
  } catch (const std::bad_alloc&) {
    add_values(next.batch(), headers, released);
    if (taken == 0) throw;
    return taken;  // the next call will tell
  }
  add_values(next.batch(), headers, released);
  return taken;
}

/// Takes the next events as long as there is no doubt about them and their tables are being taken,
/// and adds them to `taken`. Where tables take turns, runs are so short that looking at each run
/// would cost more than all the rest.
void ColumnIntake::take_turns(BatchCursor& next, const Room& room, const TableHeaders& headers,
                              Released& released, std::uint32_t& taken) {
  if (next.batch().order.empty()) return;
  while (taken < room.events && !next.done() && released.bytes < room.bytes) {
    const Table& table = tables_[next.table_number()];
    if (table.form != Form::unseen && table.part == kNoPart) return;
    const auto timestamps = next.table().timestamps;
    const bool is_stamped = timestamps.empty();
    const Timestamp timestamp =
        is_stamped ? arithmetic::saturating_add(sequencer_.released(), 1) : timestamps[next.row()];
    if (is_stamped ? stamps_.empty() : !sequencer_.accepts(timestamp)) return;
    if (table.form != Form::unseen) add_to(parts_[table.part], next, timestamp, released);
    sequencer_.release(table.resolution->type, timestamp, is_stamped);
    if (table.form == Form::unseen) {
      released.add_unseen(1, sequencer_.released());
      headers[next.table_number()]->count_complete(1);
    }
    ++taken;
    next.advance();
  }
}

TableCells ColumnIntake::cells_of(const EventTable& events, const Table& table) {
  return {events, table.resolution->sources, table.type};
}

/// Makes a record of the next event, which is of the part's table.
void ColumnIntake::add_to(Part& part, const BatchCursor& next, Timestamp timestamp,
                          Released& released) const {
  released.add_in_columns(part.kind, part.row + part.events, timestamp);
  released.bytes += part.event_bytes;
  if (part.has_texts) {
    released.bytes += cells_of(next.table(), tables_[part.table]).text_bytes(next.row(), 1);
  }
  ++part.events;
}

/// Takes events that follow each other in their table. Where it throws, it has taken none.
std::uint32_t ColumnIntake::take_run(BatchCursor& next, const Room& room, TableHeaders& headers,
                                     Released& released) {
  const Table& table = look_at(next, headers);
  if (table.form == Form::rows) return 0;
  const auto given = next.table().timestamps;
  if (!given.empty() && !sequencer_.accepts(given[next.row()])) return 0;
  Part* part = nullptr;
  if (table.form == Form::columns) {
    part = part_of(next, room.events, released);
    if (part == nullptr) return 0;
  }
  const auto timestamps = timestamps_of(next, next.run(room.events));
  auto count = static_cast<std::uint32_t>(timestamps.size());
  if (part != nullptr) {
    count = take_in_columns(*part, next, timestamps, room, released);
  } else if (table.form == Form::cells) {
    released.add_in_cells(kind_of(table, released), cells_of(next.table(), table), next.row(),
                          timestamps);
  }
  sequencer_.release(table.resolution->type, timestamps.first(count), given.empty());
  if (table.form == Form::unseen) released.add_unseen(count, sequencer_.released());
  if (part == nullptr) headers[next.table_number()]->count_complete(count);
  next.advance(count);
  return count;
}

/// Those of the next `events`, as far as these are accepted and released as they come. Valid until
/// the next call.
std::span<const Timestamp> ColumnIntake::timestamps_of(const BatchCursor& next,
                                                       std::uint32_t events) {
  if (next.table().timestamps.empty()) {
    sequencer_.stamp_together(events, stamps_);
    return stamps_;
  }
  const auto given = next.table().timestamps.subspan(next.row(), events);
  return given.first(sequencer_.accepted(given));
}

/// Makes records of events of the part that have these timestamps. Returns of how many.
std::uint32_t ColumnIntake::take_in_columns(Part& part, const BatchCursor& next,
                                            std::span<const Timestamp> timestamps, const Room& room,
                                            Released& released) const {
  const TableCells cells = cells_of(next.table(), tables_[next.table_number()]);
  const std::uint32_t row = next.row();
  auto events = static_cast<std::uint32_t>(timestamps.size());
  std::size_t bytes = bytes_of(cells, row, events);
  while (events > 1 && released.bytes + bytes > room.bytes) {
    events /= 2;
    bytes = bytes_of(cells, row, events);
  }
  released.add_in_columns(part.kind, part.row + part.events, timestamps.first(events));
  released.bytes += bytes;
  part.events += events;
  return events;
}

Released::Kind ColumnIntake::kind_of(const Table& table, Released& released) {
  return {table.resolution->type, released.number_of(table.resolution->extras)};
}

/// The part that takes the next event of its table, with room for `most` of them; null: its columns
/// are of other types than those of the kind, or another table of the kind comes before.
ColumnIntake::Part* ColumnIntake::part_of(const BatchCursor& next, std::uint32_t most,
                                          Released& released) {
  Table& table = tables_[next.table_number()];
  if (table.part != kNoPart) return &parts_[table.part];
  const Released::Kind kind = kind_of(table, released);
  ReleasedColumns& columns = released.open_columns(kind);
  if (columns.is_open()) return nullptr;
  const std::uint32_t events = std::min(most, next.table().events - next.row());
  const TableCells cells = cells_of(next.table(), table);
  if (!columns.reserve(cells, next.row(), events)) return nullptr;
  parts_.push_back({.table = next.table_number(),
                    .kind = kind,
                    .first = next.row(),
                    .row = columns.events(),
                    .event_bytes = bytes_of_row(cells),
                    .has_texts = cells.has_texts()});
  columns.open();
  table.part = static_cast<std::uint32_t>(parts_.size() - 1);
  return &parts_.back();
}

/// Counts the events of the parts and copies their values, for which there is room.
void ColumnIntake::add_values(const EventBatch& batch, const TableHeaders& headers,
                              Released& released) {
  for (const Part& part : parts_) {
    Table& table = tables_[part.table];
    headers[part.table]->count_complete(part.events);
    released.columns_of(part.kind).add(cells_of(batch.tables[part.table], table), part.first,
                                       part.events);
    table.part = kNoPart;
  }
  parts_.clear();
}

const ColumnIntake::Table& ColumnIntake::look_at(const BatchCursor& next, TableHeaders& headers) {
  const std::size_t number = next.table_number();
  Table& table = tables_[number];
  if (table.form == Form::unknown) {
    if (headers[number] == nullptr) headers[number] = headers_.of(next.table(), rules_.schema());
    known_.push_back(number);
    find_form(next.table(), *headers[number], table);
  }
  return table;
}

/// Where rules wait for the clock, what it brings about stands among the events, so each of them
/// has a record.
void ColumnIntake::find_form(const EventTable& events, Header& header, Table& table) const {
  table.form = Form::rows;
  if (events.type.empty() || sequencer_.holds()) return;
  const Header::Resolution& resolution = header.resolve(rules_.schema());
  if (!resolution.complete) return;
  sequencer_.prepare(resolution.type);
  const bool is_known = resolution.type != kNoType;
  table.resolution = &resolution;
  table.type = is_known ? &rules_.schema().at(resolution.type) : nullptr;
  const bool may_be_unseen =
      rules_.temporal_rules().empty() && !is_read(resolution.type) && !handed_out_.has(events.type);
  if (!cells_of(events, table).fits()) return;
  table.form = may_be_unseen ? Form::unseen : events.events < kFew ? Form::cells : Form::columns;
}

}  // namespace gorgo::dispatch
