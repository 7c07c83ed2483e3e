#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "gorgo/event.hpp"
#include "protocol/gorgo_generated.h"

namespace gorgo::protocol {

/// Collects events into a columnar batch. Texts are copied. One batch per writer.
class BatchWriter {
 public:
  /// Numbers the events of a type with or without timestamps. At most 65535 fit in a batch.
  std::uint16_t table(std::string_view type, bool stamped);
  /// Begins the next row. Precondition: the table's rows have timestamps if and only if this has.
  void begin(std::uint16_t table, std::optional<Timestamp> timestamp);
  /// Numbers the attributes of a name and type of the row begun last.
  std::uint32_t column(std::string_view name, ValueType type);
  /// Precondition: the value is of the column's type, and no attribute of the column's name was
  /// given to the row.
  void put(std::uint32_t column, const Datum& value);

  /// Rows and attributes by their names, which are looked up.
  void add(std::string_view type, std::optional<Timestamp> timestamp);
  void attribute(std::string_view name, const Datum& value);
  void add(const Event& event);

  std::uint32_t rows() const { return static_cast<std::uint32_t>(order_.size()); }
  /// An upper estimate of the encoded size.
  std::size_t bytes() const { return bytes_; }
  /// Whether a further row may need a table that a batch cannot have.
  bool full() const { return tables_.size() >= 65535; }

  /// Call once.
  flatbuffers::Offset<wire::Batch> finish(flatbuffers::FlatBufferBuilder& builder);

 private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const {
      return std::hash<std::string_view>()(text);
    }
  };
  using ByType = std::array<std::uint32_t, 4>;  // columns of one name, one more each; 0: none

  struct Column {
    const std::string* name;  // in `by_name`
    ValueType type;
    std::vector<std::int64_t> ints;
    std::vector<double> floats;
    std::vector<std::uint8_t> bools;
    std::vector<std::uint32_t> ends;
    std::vector<std::uint8_t> bytes;
    std::vector<std::uint8_t> present;
    std::uint32_t rows = 0;
    std::uint32_t absent = 0;

    void push(const Datum& value);
    void pad(std::uint32_t to);  // absent rows
  };
  struct Table {
    std::string type;
    bool stamped;
    std::uint32_t rows = 0;
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

  static flatbuffers::Offset<wire::Column> pack(flatbuffers::FlatBufferBuilder& builder,
                                                const Column& column);
  static flatbuffers::Offset<wire::EventTable> pack(flatbuffers::FlatBufferBuilder& builder,
                                                    Table& table);
};

}  // namespace gorgo::protocol
