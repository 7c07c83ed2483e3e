#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "gorgo/event.hpp"
#include "gorgo/value.hpp"

/// Events in columns, the form in which many of them travel together. Views own nothing: the memory
/// behind them must outlive them.
namespace gorgo {

/// One attribute of the events of a table. The vector of its type has an element for each event;
/// elements of events without the attribute are ignored.
struct EventColumn {
  std::string_view name;
  ValueType type = ValueType::integer;
  std::span<const std::int64_t> integers;
  std::span<const double> floats;
  std::span<const std::uint8_t> booleans;  ///< 0: false
  std::span<const std::uint32_t> ends;     ///< string i is bytes [ends[i - 1], ends[i])
  std::span<const std::uint8_t> bytes;     ///< of all strings, UTF-8
  /// Bit i % 8 of byte i / 8: event i has the attribute. Empty: all events have it.
  std::span<const std::uint8_t> present;

  /// Where the string of an event begins among `bytes`.
  std::uint32_t begin_of(std::uint32_t event) const { return event == 0 ? 0 : ends[event - 1]; }
  bool has(std::uint32_t event) const {
    return present.empty() || ((present[event / 8] >> (event % 8)) & 1) != 0;
  }
  /// The value of the event; `Datum::none()` where the event lacks the attribute.
  Datum at(std::uint32_t event) const;
};

/// Events of one type. An attribute whose type differs from event to event has a column for each
/// type; an event has a value in one of them at most.
struct EventTable {
  std::string_view type;
  std::uint32_t events = 0;
  std::span<const Timestamp> timestamps;  ///< empty: whoever releases the events stamps them
  std::vector<EventColumn> columns;
};

/// Events of a table that follow each other.
struct EventRun {
  std::uint32_t first = 0;
  std::uint32_t events = 0;
};

struct EventBatch {
  std::vector<EventTable> tables;
  /// For each event, the number of the table whose next event it is. Empty: the tables follow one
  /// another.
  std::span<const std::uint16_t> order;

  std::uint32_t events() const;
};

/// Walks the events of a batch in their order.
class BatchCursor {
 public:
  /// Stands at the first event.
  explicit BatchCursor(EventBatch batch);

  const EventBatch& batch() const { return batch_; }
  /// Whether it has passed the last event. Precondition of all below: it has not.
  bool done() const { return position_ == events_; }
  void advance();
  /// How many events from this one on, at most `most`, follow each other in its table.
  std::uint32_t run(std::uint32_t most) const;
  /// Passes so many events. Precondition: `run(events) == events`.
  void advance(std::uint32_t events);

  /// How many events stand before this one.
  std::uint32_t position() const { return position_; }
  /// The number of its table among the tables of the batch.
  std::size_t table_number() const { return table_; }
  const EventTable& table() const { return batch_.tables[table_]; }
  /// How many events of its table stand before it.
  std::uint32_t row() const { return passed_[table_]; }
  std::optional<Timestamp> timestamp() const;
  /// The value that it has in a column of its table.
  Datum value(const EventColumn& column) const { return column.at(row()); }
  /// Puts a cell for each column of the table into `cells`, in place of what is there.
  void read(std::vector<Datum>& cells) const;
  Event to_event() const;

 private:
  EventBatch batch_;
  std::vector<std::uint32_t> passed_;  // events, by table
  std::uint32_t events_;
  std::uint32_t position_ = 0;
  std::size_t table_ = 0;

  void find_table();
};

/// Collects the values of one attribute. Strings are copied.
class ColumnBuilder {
 public:
  explicit ColumnBuilder(ValueType type) : type_(type) {}

  ValueType type() const { return type_; }
  /// How many events have a value here or are known to have none.
  std::uint32_t events() const { return events_; }
  /// Adds the value of the next event. Precondition: it is of the column's type, or there is none.
  void push(const Datum& value);
  /// Adds events without a value until there are so many.
  void pad(std::uint32_t events);
  /// Makes room for so many more events with so many bytes of strings.
  void reserve(std::uint32_t events, std::size_t bytes);
  /// Adds what events of a column of the same type have there, which follow each other.
  void push(const EventColumn& column, std::uint32_t first, std::uint32_t events);
  /// Adds what events of a column of the same type have there.
  void push(const EventColumn& column, std::span<const std::uint32_t> events);
  /// Forgets all events and keeps the memory.
  void clear();
  /// Valid until the next change, and as long as the name is.
  EventColumn view(std::string_view name) const;

 private:
  ValueType type_;
  std::uint32_t events_ = 0;
  std::vector<std::int64_t> integers_;
  std::vector<double> floats_;
  std::vector<std::uint8_t> booleans_;
  std::vector<std::uint32_t> ends_;
  std::vector<std::uint8_t> bytes_;
  std::vector<std::uint8_t> present_;  // empty: all events have a value

  void note_presence(bool exists);
};

/// Collects events into columns. Texts are copied.
class BatchBuilder {
 public:
  /// The number of the table for events of a type, with or without timestamps. At most 65535 tables
  /// fit in a batch.
  std::uint16_t table(std::string_view type, bool stamped);
  /// Begins the next event. Precondition: the table's events have timestamps if and only if this
  /// has.
  void begin(std::uint16_t table, std::optional<Timestamp> timestamp);
  /// The number of the column for attributes of this name and type within a table.
  std::uint32_t column(std::uint16_t table, std::string_view name, ValueType type);
  /// Gives the event begun last a value in a column of its table. Precondition: the value is of the
  /// column's type, and the event has none in this column.
  void put(std::uint32_t column, const Datum& value);
  /// Gives the last events of a table the values that as many events have in another column, which
  /// is of the column's type. Their strings are not counted, see `count_text`. Precondition: each
  /// has one.
  void put(std::uint16_t table, std::uint32_t column, const EventColumn& from,
           std::span<const EventRun> runs);
  /// Gives the last events of a table the values that the events with these numbers have in another
  /// column. They may stand apart, and some may have no value.
  void put(std::uint16_t table, std::uint32_t column, const EventColumn& from,
           std::span<const std::uint32_t> events);
  /// Counts bytes of strings that are put later.
  void count_text(std::size_t bytes) { bytes_ += bytes; }

  /// These take events and attributes by their names, which they look up. An attribute that is
  /// given twice has two columns, so that whoever takes the batch refuses the event.
  void add(std::string_view type, std::optional<Timestamp> timestamp);
  void attribute(std::string_view name, const Datum& value);
  void add(const Event& event);

  /// Adds all events of a batch, in their order.
  void add(const EventBatch& batch);

  std::uint32_t events() const { return static_cast<std::uint32_t>(order_.size()); }
  /// An upper estimate of what the batch takes on the wire.
  std::size_t bytes() const { return bytes_; }
  /// Whether a further event may need a table that a batch cannot have.
  bool full() const { return tables_.size() >= 65535; }

  /// Valid until the next change.
  EventBatch batch();

 private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const {
      return std::hash<std::string_view>()(text);
    }
  };
  using ByType = std::array<std::uint32_t, 4>;  // by type, the column plus one; 0: none

  struct Column {
    const std::string* name;  // in `by_name`
    ColumnBuilder values;
  };
  struct Table {
    std::string type;
    bool stamped;
    std::uint32_t events = 0;
    std::vector<Timestamp> timestamps;
    std::vector<Column> columns;
    std::unordered_map<std::string, ByType, Hash, std::equal_to<>> by_name;
  };
  using Tables = std::unordered_map<std::string, std::uint16_t, Hash, std::equal_to<>>;

  std::vector<Table> tables_;
  Tables by_type_[2];  // without and with timestamps
  std::vector<std::uint16_t> order_;
  std::size_t bytes_ = 0;
  std::uint32_t next_column_ = 0;  // where the next attribute probably goes

  /// Where the events of another table go.
  struct Destination {
    std::uint16_t table;
    std::vector<std::uint32_t> columns;  // for each column of the other table
  };

  std::vector<Destination> destinations_of(const EventBatch& batch);
  void put_columns(const EventBatch& batch, std::span<const Destination> to);
  void put(Table& table, std::uint32_t column, const Datum& value);
  void attribute(Table& table, std::string_view name, const Datum& value);
  std::uint32_t add_column(Table& table, const std::string& name, ValueType type);
  std::uint32_t further_column(Table& table, std::uint32_t given);
};

inline void BatchCursor::find_table() {
  if (done()) return;
  if (!batch_.order.empty()) {
    table_ = batch_.order[position_];
    return;
  }
  while (passed_[table_] == batch_.tables[table_].events) ++table_;
}

inline void BatchCursor::advance() {
  ++passed_[table_];
  ++position_;
  find_table();
}

inline std::uint32_t BatchCursor::run(std::uint32_t most) const {
  if (batch_.order.empty()) return std::min(most, table().events - row());
  const auto rest = batch_.order.subspan(position_, std::min(most, events_ - position_));
  const auto end = std::find_if(rest.begin(), rest.end(),
                                [this](std::uint16_t table) { return table != table_; });
  return static_cast<std::uint32_t>(end - rest.begin());
}

inline void BatchCursor::advance(std::uint32_t events) {
  passed_[table_] += events;
  position_ += events;
  find_table();
}

inline std::optional<Timestamp> BatchCursor::timestamp() const {
  const auto timestamps = table().timestamps;
  if (timestamps.empty()) return std::nullopt;
  return timestamps[row()];
}

inline void ColumnBuilder::push(const Datum& value) {
  switch (type_) {
    case ValueType::integer:
      integers_.push_back(value.exists() ? value.integer : 0);
      break;
    case ValueType::floating:
      floats_.push_back(value.exists() ? value.floating : 0);
      break;
    case ValueType::boolean:
      booleans_.push_back(value.exists() && value.boolean ? 1 : 0);
      break;
    case ValueType::string:
      if (value.exists()) bytes_.insert(bytes_.end(), value.bytes, value.bytes + value.length);
      ends_.push_back(static_cast<std::uint32_t>(bytes_.size()));
      break;
  }
  if (!value.exists() || !present_.empty()) note_presence(value.exists());
  ++events_;
}

inline Datum EventColumn::at(std::uint32_t event) const {
  if (!has(event)) return Datum::none();
  switch (type) {
    case ValueType::integer:
      return Datum::of(integers[event]);
    case ValueType::floating:
      return Datum::of(floats[event]);
    case ValueType::boolean:
      return Datum::of(booleans[event] != 0);
    case ValueType::string: {
      const std::uint32_t begin = begin_of(event);
      const auto* text = reinterpret_cast<const char*>(bytes.data());
      if (ends[event] == begin) return Datum::of(std::string_view());
      return Datum::of(std::string_view(text + begin, ends[event] - begin));
    }
  }
  return Datum::none();
}

}  // namespace gorgo
