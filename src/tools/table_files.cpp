#include "tools/table_files.hpp"

#include <utility>

#include "codec/event_text.hpp"
#include "gorgo/event_batch.hpp"
#include "tools/append_events.hpp"
#include "tools/event_stream.hpp"

namespace gorgo::tools {
namespace {

/// Appends what was read so far. An error: a row was refused.
Result<void> append(ReadEvents read, std::optional<Timestamp> at, Processor& processor) {
  for (BatchCursor row(read.events.batch()); !row.done(); row.advance()) {
    Event event = row.to_event();
    if (!event.timestamp) event.timestamp = at;
    if (const auto taken = processor.append(event); !taken) {
      return at_line(read.lines[row.position()], taken.error());
    }
  }
  return {};
}

Result<void> append_table(const std::string& file, std::optional<Timestamp> at,
                          Processor& processor) {
  const std::size_t equals = file.find('=');
  if (equals == std::string::npos || equals == 0) {
    return Error{"--table " + file + " names no table", "write --table Customer=customers.csv"};
  }
  const std::string type = file.substr(0, equals), path = file.substr(equals + 1);
  const Schema schema = processor.schema();
  if (schema.find("table " + type) == nullptr) {
    return Error{"--table: no rule file has a table " + type,
                 "declare it: `table " + type + "(id: string key, ...);`"};
  }
  codec::CsvForm form;
  form.type = type;
  EventStream stream(codec::make_csv_reader(form, &schema));
  if (auto opened = stream.open(path); !opened) return opened;
  Result<void> outcome;
  const auto take = [&] {
    if (outcome) outcome = append(stream.take(), at, processor);
    return outcome.has_value();
  };
  const auto refuse = [&](const Error& error) {
    outcome = error;
    return false;
  };
  const auto read = stream.read(
      {.full = take, .tick = [](Timestamp) { return true; }, .bad_line = refuse, .pause = take});
  if (outcome && !read) outcome = read.error();
  if (outcome) return outcome;
  return Error{path + ": " + outcome.error().message, outcome.error().hint};
}

}  // namespace

Result<void> append_tables(const std::vector<std::string>& files, std::optional<Timestamp> at,
                           Processor& processor) {
  for (const std::string& file : files) {
    if (auto appended = append_table(file, at, processor); !appended) return appended;
  }
  return {};
}

}  // namespace gorgo::tools
