#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "codec/csv.hpp"
#include "codec/event_text.hpp"
#include "codec/names.hpp"
#include "codec/text.hpp"
#include "codec/timestamp.hpp"

namespace gorgo::codec {
namespace {

Result<Datum> datum_by_spelling(const CsvCell& cell) {
  if (cell.quoted) return Datum::of(cell.text);
  if (const auto kind = number_kind(cell.text)) return datum_from_text(cell.text, *kind);
  if (const auto named = float_from_name(cell.text)) return Datum::of(*named);
  if (cell.text == "true" || cell.text == "false") return Datum::of(cell.text == "true");
  return Datum::of(cell.text);
}

/// Whether a record has a carriage return where it ends no line and is part of no quoted cell.
bool has_bare_return(std::string_view record) {
  bool quoted = false;
  for (const char c : record) {
    if (c == '"') quoted = !quoted;
    if (c == '\r' && !quoted) return true;
  }
  return false;
}

/// Where the rows of one type go in one batch. Names are looked up once for each table.
class RowTables {
 public:
  /// `columns`: the names of the file's columns; an empty one is no attribute. `schema` may be
  /// null. Both must outlive it.
  RowTables(std::string type, const std::vector<std::string>& columns, const Schema* schema)
      : type_(std::move(type)), columns_(columns), attributes_(columns.size()) {
    known_ = schema != nullptr ? schema->find(type_) : nullptr;
    if (known_ == nullptr) return;
    for (std::size_t i = 0; i < columns.size(); ++i) attributes_[i] = known_->find(columns[i]);
  }

  const std::string& type() const { return type_; }
  /// The value of a cell in a column of the file. It refers to the cell.
  Result<Datum> read(std::size_t column, const CsvCell& cell) const {
    const auto attribute = attributes_[column];
    if (!attribute) return datum_by_spelling(cell);
    return datum_from_text(cell.text, known_->attributes[*attribute].type);
  }
  /// Adds an event that has a cell for each column of the file. Always called with one batch.
  void add(std::optional<Timestamp> timestamp, const std::vector<Datum>& cells,
           BatchBuilder& batch) {
    Table& table = tables_[timestamp ? 1 : 0];
    if (table.columns.empty()) open(table, timestamp.has_value(), batch);
    batch.begin(table.number, timestamp);
    for (std::size_t i = 0; i < cells.size(); ++i) {
      if (cells[i].exists()) batch.put(column_of(table, i, cells[i].type(), batch), cells[i]);
    }
  }

 private:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};
  using ByType = std::array<std::uint32_t, 4>;
  struct Table {
    std::uint16_t number = 0;
    std::vector<ByType> columns;  // of the batch, by column of the file and type of the value
  };

  /// The attributes of a known type come first and in its order, which a processor takes fastest.
  void open(Table& table, bool stamped, BatchBuilder& batch) const {
    table.number = batch.table(type_, stamped);
    table.columns.assign(columns_.size(), {kNone, kNone, kNone, kNone});
    std::vector<std::pair<std::uint32_t, std::size_t>> known;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      if (attributes_[i]) known.emplace_back(*attributes_[i], i);
    }
    std::ranges::sort(known);
    for (const auto& [attribute, i] : known) {
      column_of(table, i, known_->attributes[attribute].type, batch);
    }
  }

  std::uint32_t column_of(Table& table, std::size_t i, ValueType type, BatchBuilder& batch) const {
    std::uint32_t& column = table.columns[i][static_cast<std::size_t>(type)];
    if (column == kNone) column = batch.column(table.number, columns_[i], type);
    return column;
  }

  std::string type_;
  const std::vector<std::string>& columns_;
  const EventType* known_;
  std::vector<std::optional<std::uint32_t>>
      attributes_;               // of the known type, by column of the file
  std::array<Table, 2> tables_;  // without and with timestamps
};

class CsvReader final : public EventReader {
 public:
  CsvReader(CsvForm form, const Schema* schema) : form_(std::move(form)), schema_(schema) {}

  Result<LineContent> next(std::string_view line, BatchBuilder& batch) override {
    if (++number_ == 1) line = without_byte_order_mark(line);
    const bool continued = !open_.empty();
    if (!continued) first_ = number_;
    if (!continued && line.find_first_not_of(" \t\r") == line.npos) return LineContent();
    if (continued) {
      const bool closes = std::count(line.begin(), line.end(), '"') % 2 == 1;
      open_ += line;
      if (!closes) return keep_open(open_);
      line = open_;
    }
    const std::string_view text = without_return(line);
    if (header_.empty() && has_bare_return(text)) return refuse_returns();
    const auto whole = splitter_.split(text, form_.separator);
    if (whole && !*whole) return keep_open(line);
    // Without a header no row can be understood.
    if (!whole && header_.empty()) broken_ = true;
    Result<LineContent> done = whole ? record(text, batch) : Result<LineContent>(whole.error());
    open_.clear();
    if (!done) return at_line(done.error());
    return done;
  }
  Result<void> finish() override {
    if (open_.empty()) return {};
    return at_line({"the quoted cell that begins here has no end", "close it with a quote"});
  }
  std::uint64_t line() const override { return first_; }
  bool broken() const override { return broken_; }

 private:
  static constexpr std::size_t kMaxRecord = 1 << 20;

  static std::string_view without_return(std::string_view line) {
    return line.ends_with('\r') ? line.substr(0, line.size() - 1) : line;
  }
  Error at_line(const Error& error) const {
    return {"line " + std::to_string(first_) + ": " + error.message, error.hint};
  }
  /// The whole file would be taken for its header.
  Error refuse_returns() {
    broken_ = true;
    return at_line({"a carriage return (CR) alone ends no line",
                    R"(write the file with line ends LF or CRLF: tr '\r' '\n' < FILE)"});
  }
  Result<LineContent> keep_open(std::string_view line) {
    if (line.size() > kMaxRecord) {
      broken_ = true;
      return at_line({"the quoted cell that begins here has no end within 1 MiB", ""});
    }
    if (open_.empty()) open_ = line;
    open_ += '\n';
    return LineContent();
  }

  Result<LineContent> record(std::string_view text, BatchBuilder& batch) {
    if (!header_.empty()) return row(text, batch);
    if (const auto read = header(); !read) {
      broken_ = true;
      return read.error();
    }
    return LineContent();
  }

  Result<void> header() {
    for (const auto& cell : splitter_.cells()) header_.emplace_back(cell.text);
    for (std::size_t i = 0; i < header_.size(); ++i) {
      const std::string& name = header_[i];
      if (name.empty()) return Error{"column " + std::to_string(i + 1) + " has no name", ""};
      if (!is_valid_utf8(name)) return Error{"a column's name is not UTF-8", ""};
      if (std::find(header_.begin(), header_.begin() + i, name) != header_.begin() + i) {
        return Error{"column '" + name + "' stands twice", ""};
      }
    }
    if (auto found = find_columns(); !found) return found;
    values_.resize(header_.size());
    return name_attributes();
  }

  /// Finds the columns that are no attributes.
  Result<void> find_columns() {
    if (form_.type.empty()) {
      types_ = find(form_.type_column);
      if (!types_) {
        return missing(form_.type_column,
                       "say the type of all rows, or which column says it (--type, --type-column)");
      }
    }
    timestamps_ = find(form_.time_column.empty() ? "ts" : form_.time_column);
    if (timestamps_ || form_.time_column.empty()) return {};
    return missing(form_.time_column, "");
  }

  Result<void> name_attributes() {
    if (header_.size() > kMostAttributes) {
      return Error{"the header has more than " + std::to_string(kMostAttributes) + " columns", ""};
    }
    for (const auto& [column, name] : form_.renamed) {
      if (!find(column)) return missing(column, "");
    }
    for (std::size_t i = 0; i < header_.size(); ++i) {
      const auto renamed = form_.renamed.find(header_[i]);
      std::string name = renamed == form_.renamed.end() ? header_[i] : renamed->second;
      if (i == types_ || i == timestamps_) name.clear();
      if (!name.empty() && std::ranges::find(attributes_, name) != attributes_.end()) {
        return Error{"two columns are attribute '" + name + "'", ""};
      }
      if (!name.empty() && !is_event_name(name)) {
        return Error{"column " + std::to_string(i + 1) + " has no usable name",
                     what_event_names_are()};
      }
      attributes_.push_back(std::move(name));
    }
    return {};
  }

  std::optional<std::size_t> find(const std::string& column) const {
    const auto found = std::ranges::find(header_, column);
    if (found == header_.end()) return std::nullopt;
    return static_cast<std::size_t>(found - header_.begin());
  }

  Error missing(const std::string& column, const std::string& hint) const {
    std::string names;
    for (const std::string& name : header_) names += (names.empty() ? "" : ", ") + name;
    const auto closest = closest_name(column, header_);
    return {"the header has no column '" + column + "'; it has " + names,
            closest.empty() ? hint : "did you mean '" + std::string(closest) + "'?"};
  }

  Result<LineContent> row(std::string_view text, BatchBuilder& batch) {
    const auto& cells = splitter_.cells();
    if (cells.size() != header_.size()) {
      return Error{std::to_string(cells.size()) + " cells where the header has " +
                       std::to_string(header_.size()) + " columns",
                   "an absent attribute is an empty cell"};
    }
    const std::string_view type = types_ ? cells[*types_].text : form_.type;
    if (type.empty()) return Error{"column '" + header_[*types_] + "' is empty", ""};
    if (type == "*") return Error{"'*' stands for all types", "name one"};
    if (type.size() > kLongestName) return Error{"the type is too long", what_event_names_are()};
    RowTables& tables = tables_of(type, batch);
    // A separator outside ASCII may cut a character in two.
    valid_ = static_cast<unsigned char>(form_.separator) < 0x80 && is_valid_utf8(text);
    std::optional<Timestamp> timestamp;
    for (std::size_t i = 0; i < cells.size(); ++i) {
      values_[i] = Datum::none();
      if (cells[i].empty()) continue;
      if (const auto taken = take(i, cells[i], tables, timestamp); !taken) {
        return Error{"column '" + header_[i] + "': " + taken.error().message, taken.error().hint};
      }
    }
    tables.add(timestamp, values_, batch);
    return LineContent{LineContent::Kind::event};
  }

  RowTables& tables_of(std::string_view type, const BatchBuilder& batch) {
    if (batch.events() == 0) {
      by_type_.clear();
      last_ = nullptr;
    }
    if (last_ != nullptr && last_->type() == type) return *last_;
    auto found = by_type_.find(type);
    if (found == by_type_.end()) {
      found =
          by_type_.try_emplace(std::string(type), std::string(type), attributes_, schema_).first;
    }
    last_ = &found->second;
    return *last_;
  }

  Result<void> take(std::size_t column, const CsvCell& cell, const RowTables& tables,
                    std::optional<Timestamp>& timestamp) {
    if (!valid_ && !is_valid_utf8(cell.text)) return Error{"invalid UTF-8", ""};
    if (timestamps_ == column) {
      const auto parsed = form_.times.parse(cell.text);
      if (!parsed) return parsed.error();
      timestamp = *parsed;
    } else if (!attributes_[column].empty()) {
      const auto value = tables.read(column, cell);
      if (!value) return value.error();
      values_[column] = *value;
    }
    return {};
  }

  const CsvForm form_;
  const Schema* schema_;
  std::vector<std::string> header_;  // empty before the header
  // By column; empty for the type and the timestamp.
  std::vector<std::string> attributes_;
  std::optional<std::size_t> types_;       // their column
  std::optional<std::size_t> timestamps_;  // their column
  std::map<std::string, RowTables, std::less<>> by_type_;
  RowTables* last_ = nullptr;  // of the row before
  CsvSplitter splitter_;
  bool valid_ = false;         // the record at hand is UTF-8 in each of its cells
  std::vector<Datum> values_;  // of the attributes, by column
  std::string open_;           // the record so far, while a quoted cell spans lines
  std::uint64_t number_ = 0;   // of the line at hand
  std::uint64_t first_ = 0;    // of the line the record begins on
  bool broken_ = false;
};

class CsvWriter final : public EventWriter {
 public:
  CsvWriter(std::vector<std::string> attributes, TimeStyle times)
      : names_(std::move(attributes)), times_(times), cells_(names_.size()) {
    for (std::size_t i = 0; i < names_.size(); ++i) columns_.emplace(names_[i], i);
  }

  void begin(std::string& out, std::string_view type, std::optional<Timestamp> timestamp) override {
    if (!header_written_) header(out);
    append_csv_cell(out, type);
    out += ',';
    if (timestamp && times_ == TimeStyle::milliseconds) append_milliseconds(out, *timestamp);
    if (timestamp && times_ == TimeStyle::rfc3339) append_rfc3339(out, *timestamp);
    for (auto& cell : cells_) cell.clear();
  }
  void attribute(std::string&, std::string_view name, const Datum& value) override {
    const auto column = columns_.find(name);
    if (column != columns_.end()) append_value(cells_[column->second], value);
  }
  void end(std::string& out) override {
    for (const auto& cell : cells_) {
      out += ',';
      out += cell;
    }
    out += '\n';
  }

 private:
  void header(std::string& out) {
    out += "type,ts";
    for (const auto& name : names_) {
      out += ',';
      append_csv_cell(out, name);
    }
    out += '\n';
    header_written_ = true;
  }
  static void append_value(std::string& out, const Datum& value) {
    switch (value.type()) {
      case ValueType::integer:
        append_integer(out, value.integer);
        return;
      case ValueType::floating:
        append_float(out, value.floating);
        return;
      case ValueType::boolean:
        out += value.boolean ? "true" : "false";
        return;
      case ValueType::string:
        append_csv_cell(out, value.text());
        return;
    }
  }

  std::vector<std::string> names_;
  const TimeStyle times_;
  std::unordered_map<std::string_view, std::size_t> columns_;
  std::vector<std::string> cells_;
  bool header_written_ = false;
};

}  // namespace

std::unique_ptr<EventReader> make_csv_reader(CsvForm form, const Schema* schema) {
  return std::make_unique<CsvReader>(std::move(form), schema);
}

std::unique_ptr<EventWriter> make_csv_writer(std::vector<std::string> attributes, TimeStyle times) {
  return std::make_unique<CsvWriter>(std::move(attributes), times);
}

}  // namespace gorgo::codec
