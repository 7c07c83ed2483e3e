#include <algorithm>
#include <optional>
#include <unordered_map>

#include "codec/csv.hpp"
#include "codec/event_text.hpp"
#include "codec/text.hpp"
#include "codec/timestamp.hpp"

namespace gorgo::codec {
namespace {

Result<Value> cell_by_spelling(const CsvCell& cell) {
  if (cell.quoted) return Value(cell.text);
  if (const auto kind = number_kind(cell.text)) return value_from_text(cell.text, *kind);
  if (cell.text == "true" || cell.text == "false") return Value(cell.text == "true");
  return Value(cell.text);
}

class CsvReader final : public EventReader {
 public:
  CsvReader(std::string type, const Schema* schema) : type_(std::move(type)), schema_(schema) {}

  Result<bool> next(std::string_view line, Event& event) override {
    ++number_;
    const bool continued = !open_.empty();
    if (!continued) first_ = number_;
    if (!continued && line.find_first_not_of(" \t\r") == line.npos) return false;
    if (continued) {
      const bool closes = std::count(line.begin(), line.end(), '"') % 2 == 1;
      open_ += line;
      if (!closes) return keep_open(open_);
      line = open_;
    }
    const auto whole = split_csv(without_return(line), cells_);
    if (whole && !*whole) return keep_open(line);
    Result<bool> done = whole ? record(event) : Result<bool>(whole.error());
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
  enum class Role : std::uint8_t { type, timestamp, attribute };
  struct Column {
    std::string name;
    Role role;
  };
  static constexpr std::size_t kMaxRecord = 1 << 20;

  static std::string_view without_return(std::string_view line) {
    return line.ends_with('\r') ? line.substr(0, line.size() - 1) : line;
  }
  Error at_line(const Error& error) const {
    return {"line " + std::to_string(first_) + ": " + error.message, error.hint};
  }
  Result<bool> keep_open(std::string_view line) {
    if (line.size() > kMaxRecord) {
      broken_ = true;
      return at_line({"the quoted cell that begins here has no end within 1 MiB", ""});
    }
    if (open_.empty()) open_ = line;
    open_ += '\n';
    return false;
  }

  Result<bool> record(Event& event) {
    if (!columns_.empty()) return row(event);
    if (const auto read = header(); !read) {
      broken_ = true;
      return read.error();
    }
    return false;
  }

  Result<void> header() {
    if (cells_.front().text.starts_with("\xEF\xBB\xBF")) cells_.front().text.erase(0, 3);
    std::vector<std::string> names;
    for (const auto& cell : cells_) names.push_back(cell.text);
    if (type_.empty() && names.front() != "type") {
      return Error{"the header's first column is '" + names.front() + "', not 'type'",
                   "name the type of all rows, or put a column 'type' first"};
    }
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (names[i].empty()) return Error{"column " + std::to_string(i + 1) + " has no name", ""};
      if (!is_valid_utf8(names[i])) return Error{"a column's name is not UTF-8", ""};
      if (std::find(names.begin(), names.begin() + i, names[i]) != names.begin() + i) {
        return Error{"column '" + names[i] + "' stands twice", ""};
      }
      const bool type = i == 0 && type_.empty();
      columns_.push_back({names[i], type               ? Role::type
                                    : names[i] == "ts" ? Role::timestamp
                                                       : Role::attribute});
    }
    return {};
  }

  Result<bool> row(Event& event) {
    if (cells_.size() != columns_.size()) {
      return Error{std::to_string(cells_.size()) + " cells where the header has " +
                       std::to_string(columns_.size()) + " columns",
                   "an absent attribute is an empty cell"};
    }
    event.type = type_.empty() ? cells_.front().text : type_;
    if (event.type.empty()) return Error{"column 'type' is empty", ""};
    event.timestamp.reset();
    event.attributes.clear();
    const EventType* type = schema_ ? schema_->find(event.type) : nullptr;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      if (cells_[i].empty()) continue;
      if (const auto taken = take(columns_[i], cells_[i], type, event); !taken) {
        return Error{"column '" + columns_[i].name + "': " + taken.error().message,
                     taken.error().hint};
      }
    }
    return true;
  }

  static Result<void> take(const Column& column, const CsvCell& cell, const EventType* type,
                           Event& event) {
    if (!is_valid_utf8(cell.text)) return Error{"invalid UTF-8", ""};
    if (column.role == Role::type) return {};
    if (column.role == Role::timestamp) {
      const auto timestamp = parse_timestamp(cell.text);
      if (!timestamp) return timestamp.error();
      event.timestamp = *timestamp;
      return {};
    }
    const auto index = type ? type->find(column.name) : std::nullopt;
    auto value =
        index ? value_from_text(cell.text, type->attributes[*index].type) : cell_by_spelling(cell);
    if (!value) return value.error();
    event.attributes.push_back({column.name, *std::move(value)});
    return {};
  }

  std::string type_;
  const Schema* schema_;
  std::vector<Column> columns_;  // empty before the header
  std::vector<CsvCell> cells_;
  std::string open_;          // the record so far, while a quoted cell spans lines
  std::uint64_t number_ = 0;  // of the line at hand
  std::uint64_t first_ = 0;   // of the line the record begins on
  bool broken_ = false;
};

class CsvWriter final : public EventWriter {
 public:
  explicit CsvWriter(std::vector<std::string> attributes)
      : names_(std::move(attributes)), cells_(names_.size()) {
    for (std::size_t i = 0; i < names_.size(); ++i) columns_.emplace(names_[i], i);
  }

  void begin(std::string& out, std::string_view type, std::optional<Timestamp> timestamp) override {
    if (!header_written_) header(out);
    append_csv_cell(out, type);
    out += ',';
    if (timestamp) append_milliseconds(out, *timestamp);
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
  std::unordered_map<std::string_view, std::size_t> columns_;
  std::vector<std::string> cells_;
  bool header_written_ = false;
};

}  // namespace

std::unique_ptr<EventReader> make_csv_reader(std::string type, const Schema* schema) {
  return std::make_unique<CsvReader>(std::move(type), schema);
}

std::unique_ptr<EventWriter> make_csv_writer(std::vector<std::string> attributes) {
  return std::make_unique<CsvWriter>(std::move(attributes));
}

}  // namespace gorgo::codec
