#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "gorgo/event.hpp"
#include "gorgo/processor.hpp"
#include "tools/append_events.hpp"

namespace gorgo::tools {

/// Rows of tables that stand in CSV files, and that are appended among events. A row with a time
/// (column `ts`) comes before the first event or tick that is no earlier. Rows without one come
/// a nanosecond before the first event or tick, so that the events find them. Used by one thread.
class TableRows {
 public:
  /// Reads files, each given as `Customer=customers.csv`: a header with the names of the
  /// attributes, then the rows, whose values must be of the types that `schema` says. An error
  /// names the file, and the line where there is one.
  Result<void> read(const std::vector<std::string>& files, const Schema& schema);

  /// Appends events as `append_events` does, and rows before them. False also where a row was
  /// refused, which `error` then says.
  bool append(ReadEvents read, Processor& processor, std::uint64_t& accepted,
              const AppendCallbacks& callbacks);
  /// Appends the rows that come before a tick of this time, or before an event of this time;
  /// without one, it is stamped. Returns whether all of them were accepted.
  bool append_until(std::optional<Timestamp> when, Processor& processor);
  /// Appends the rows behind the last event. Where there was neither an event nor a tick, those
  /// that have a time.
  bool append_rest(Processor& processor);

  const std::optional<Error>& error() const { return error_; }

 private:
  struct Row {
    Event event;
    std::size_t file;
    std::uint64_t line;
  };

  Result<void> read_file(const std::string& path, const std::string& type, const Schema& schema);
  void take(ReadEvents read);
  void begin(std::optional<Timestamp> first);
  bool are_due(const EventBatch& events) const;
  bool append_row(const Row& row, Processor& processor);

  std::vector<std::string> paths_;
  std::vector<Row> rows_;
  std::size_t next_ = 0;  // the first row that is not appended yet
  bool has_begun_ = false;
  std::optional<Error> error_;
};

}  // namespace gorgo::tools
