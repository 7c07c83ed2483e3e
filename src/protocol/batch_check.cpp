#include "protocol/batch_check.hpp"

#include <limits>
#include <string>
#include <vector>

#include "codec/names.hpp"
#include "codec/text.hpp"

namespace gorgo::protocol {
namespace {

template <class T>
std::size_t length(const flatbuffers::Vector<T>* vector) {
  return vector == nullptr ? 0 : vector->size();
}

template <class T>
std::size_t bytes_of(const flatbuffers::Vector<T>* vector) {
  return length(vector) * sizeof(T);
}

std::size_t bytes_of(const wire::Column& column) {
  return bytes_of(column.ints()) + bytes_of(column.floats()) + bytes_of(column.bools()) +
         bytes_of(column.ends()) + bytes_of(column.bytes()) + bytes_of(column.present());
}

/// Builders share equal names, so a name may stand in many places and take its bytes once. All
/// places together name at most so many times the bytes of the frame.
constexpr std::size_t kNamesPerByte = 4;

/// The bytes that a batch may still claim.
struct Budget {
  std::size_t vectors;
  std::size_t names;

  explicit Budget(std::size_t frame_size)
      : vectors(frame_size), names(kNamesPerByte * frame_size) {}
};

/// The error's message continues a sentence that says that the name is not usable.
std::optional<Error> problem_of_name(const flatbuffers::String& name, Budget& budget) {
  if (name.size() > budget.names) {
    return Error{": all names together are too long", "send smaller batches"};
  }
  budget.names -= name.size();
  if (codec::is_event_name(name.string_view())) return std::nullopt;
  return Error{"", codec::what_event_names_are()};
}

/// The length of the vector that the column's type names; nothing when another one is filled too.
std::optional<std::size_t> values(const wire::Column& c) {
  const std::size_t all =
      length(c.ints()) + length(c.floats()) + length(c.bools()) + length(c.ends());
  std::size_t own = 0;
  switch (c.type()) {
    case wire::ValueType::Int:
      own = length(c.ints());
      break;
    case wire::ValueType::Float:
      own = length(c.floats());
      break;
    case wire::ValueType::Bool:
      own = length(c.bools());
      break;
    case wire::ValueType::String:
      own = length(c.ends());
      break;
    default:
      return std::nullopt;
  }
  const bool others = own != all || (c.type() != wire::ValueType::String && length(c.bytes()) > 0);
  return others ? std::nullopt : std::optional(own);
}

Result<void> check_strings(const wire::Column& column, const std::string& where) {
  const std::string_view bytes(
      column.bytes() ? reinterpret_cast<const char*>(column.bytes()->data()) : "",
      length(column.bytes()));
  std::uint32_t begin = 0;
  for (std::uint32_t row = 0; row < length(column.ends()); ++row) {
    const std::uint32_t end = column.ends()->Get(row);
    if (end < begin || end > bytes.size()) {
      return Error{where + ": the string of row " + std::to_string(row) + " ends outside its bytes",
                   "ends never fall and stay within bytes"};
    }
    if (!codec::is_valid_utf8(bytes.substr(begin, end - begin))) {
      return Error{where + ": the string of row " + std::to_string(row) + " is not UTF-8", ""};
    }
    begin = end;
  }
  return {};
}

Result<void> check_column(const wire::Column& column, std::uint32_t rows, const std::string& in) {
  const std::string where = in + ", column '" + column.name()->str() + "'";
  if (!is_aligned(column.ints()) || !is_aligned(column.floats())) {
    return Error{where + ": the values do not begin at a multiple of 8 bytes", ""};
  }
  const auto found = values(column);
  if (!found) return Error{where + ": values of another type than the column's", ""};
  if (*found != rows) {
    return Error{
        where + ": " + std::to_string(*found) + " values for " + std::to_string(rows) + " rows",
        "a column has a value for each row, also where it is not present"};
  }
  const std::size_t present = length(column.present());
  if (present != 0 && present != (rows + 7) / 8) {
    return Error{where + ": the presence bitmap has " + std::to_string(present) + " bytes for " +
                     std::to_string(rows) + " rows",
                 "one bit per row, or empty when all are present"};
  }
  if (column.type() == wire::ValueType::String) return check_strings(column, where);
  if (column.type() == wire::ValueType::Bool) {
    for (std::uint32_t row = 0; row < rows; ++row) {
      if (column.bools()->Get(row) > 1) return Error{where + ": a bool is 0 or 1", ""};
    }
  }
  return {};
}

Result<void> check_table(const wire::EventTable& table, Budget& budget) {
  if (auto problem = problem_of_name(*table.type(), budget)) {
    return Error{"a table without a usable type" + problem->message, problem->hint};
  }
  if (table.type()->string_view() == "*") {
    return Error{"a table of type '*', which stands for all types", "name one"};
  }
  const std::string where = "table '" + table.type()->str() + "'";
  if (length(table.columns()) > codec::kMostAttributes) {
    return Error{where + " has more than " + std::to_string(codec::kMostAttributes) + " columns",
                 ""};
  }
  if (!is_aligned(table.timestamps())) {
    return Error{where + ": the timestamps do not begin at a multiple of 8 bytes", ""};
  }
  const std::size_t stamps = length(table.timestamps());
  if (stamps != 0 && stamps != table.rows()) {
    return Error{where + ": " + std::to_string(stamps) + " timestamps for " +
                     std::to_string(table.rows()) + " rows",
                 "a timestamp per row, or none at all"};
  }
  std::size_t claimed = bytes_of(table.timestamps());
  for (std::size_t i = 0; i < length(table.columns()); ++i) {
    const auto& column = *table.columns()->Get(static_cast<flatbuffers::uoffset_t>(i));
    claimed += bytes_of(column);
    if (claimed > budget.vectors) return Error{where + ": columns share bytes with others", ""};
    if (auto problem = problem_of_name(*column.name(), budget)) {
      return Error{where + ": a column without a usable name" + problem->message, problem->hint};
    }
    if (auto checked = check_column(column, table.rows(), where); !checked) return checked;
  }
  budget.vectors -= claimed;
  return {};
}

Result<void> check_order(const wire::Batch& batch, std::uint64_t rows) {
  if (length(batch.order()) == 0) return {};
  if (length(batch.order()) != rows) {
    return Error{"the order has " + std::to_string(length(batch.order())) + " entries for " +
                     std::to_string(rows) + " rows",
                 "one entry per row, or none at all"};
  }
  std::vector<std::uint32_t> left;
  for (const auto* table : *batch.tables()) left.push_back(table->rows());
  for (const std::uint16_t table : *batch.order()) {
    if (table >= left.size() || left[table] == 0) {
      return Error{
          "the order names table " + std::to_string(table) + " more often than it has rows", ""};
    }
    --left[table];
  }
  return {};
}

}  // namespace

std::uint64_t row_count(const wire::Batch& batch) {
  std::uint64_t rows = 0;
  if (batch.tables() != nullptr) {
    for (const auto* table : *batch.tables()) rows += table->rows();
  }
  return rows;
}

Result<void> check_batch(const wire::Batch& batch, std::size_t frame_size, std::uint32_t max_rows) {
  if (length(batch.tables()) > std::numeric_limits<std::uint16_t>::max()) {
    return Error{"a batch has at most 65535 tables", ""};
  }
  const std::uint64_t rows = row_count(batch);
  if (rows > max_rows) {
    return Error{"a batch of " + std::to_string(rows) + " rows is above the limit of " +
                     std::to_string(max_rows),
                 "send smaller batches"};
  }
  Budget budget(frame_size);
  if (batch.tables() != nullptr) {
    for (const auto* table : *batch.tables()) {
      if (auto checked = check_table(*table, budget); !checked) return checked;
    }
  }
  return check_order(batch, rows);
}

}  // namespace gorgo::protocol
