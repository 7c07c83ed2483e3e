#include "tools/table_files.hpp"

#include <algorithm>
#include <chrono>
#include <limits>
#include <utility>

#include "codec/event_text.hpp"
#include "gorgo/event_batch.hpp"
#include "tools/event_stream.hpp"

namespace gorgo::tools {
namespace {

Timestamp now() {
  const auto since = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::nanoseconds>(since).count();
}

}  // namespace

Result<void> TableRows::read(const std::vector<std::string>& files, const Schema& schema) {
  for (const std::string& file : files) {
    const std::size_t equals = file.find('=');
    if (equals == std::string::npos || equals == 0) {
      return Error{"--table " + file + " names no table", "write --table Customer=customers.csv"};
    }
    const std::string type = file.substr(0, equals), path = file.substr(equals + 1);
    if (schema.find("table " + type) == nullptr) {
      return Error{"--table: no rule file has a table " + type,
                   "declare it: `table " + type + "(id: string key, ...);`"};
    }
    if (auto done = read_file(path, type, schema); !done) return done;
  }
  return {};
}

Result<void> TableRows::read_file(const std::string& path, const std::string& type,
                                  const Schema& schema) {
  paths_.push_back(path);
  codec::CsvForm form;
  form.type = type;
  EventStream stream(codec::make_csv_reader(form, &schema));
  if (auto opened = stream.open(path); !opened) return opened;
  std::optional<Error> bad;
  const auto gather = [&] {
    take(stream.take());
    return true;
  };
  const auto refuse = [&](const Error& error) {
    bad = error;
    return false;
  };
  const auto done = stream.read({.full = gather,
                                 .tick = [](Timestamp) { return true; },
                                 .bad_line = refuse,
                                 .pause = gather});
  if (!bad && !done) bad = done.error();
  if (bad) return Error{path + ": " + bad->message, bad->hint};
  return {};
}

void TableRows::take(ReadEvents read) {
  for (BatchCursor row(read.events.batch()); !row.done(); row.advance()) {
    rows_.push_back({row.to_event(), paths_.size() - 1, read.lines[row.position()]});
  }
}

/// Rows stay in the order of the files where times do not say otherwise.
void TableRows::begin(std::optional<Timestamp> first) {
  has_begun_ = true;
  if (first) *first -= *first > std::numeric_limits<Timestamp>::min() ? 1 : 0;
  for (Row& row : rows_) {
    if (!row.event.timestamp) row.event.timestamp = first;
  }
  std::ranges::stable_sort(rows_, {}, [](const Row& row) { return row.event.timestamp; });
}

bool TableRows::append_row(const Row& row, Processor& processor) {
  const auto taken = processor.append(row.event);
  if (taken) return true;
  const Error error = at_line(row.line, taken.error());
  error_ = Error{paths_[row.file] + ": " + error.message, error.hint};
  return false;
}

bool TableRows::append_until(std::optional<Timestamp> when, Processor& processor) {
  if (rows_.empty()) return true;
  if (!has_begun_) begin(when);
  const Timestamp until = when.value_or(now());
  // A row that has no time comes first, because there was no time to give it.
  while (next_ < rows_.size() && rows_[next_].event.timestamp.value_or(until) <= until) {
    if (!append_row(rows_[next_++], processor)) return false;
  }
  if (next_ == rows_.size()) rows_ = {}, next_ = 0;
  return true;
}

bool TableRows::append_rest(Processor& processor) {
  // Rows without a time would have got one from the first event or tick.
  if (!has_begun_) std::erase_if(rows_, [](const Row& row) { return !row.event.timestamp; });
  return append_until(std::numeric_limits<Timestamp>::max(), processor);
}

bool TableRows::are_due(const EventBatch& events) const {
  if (rows_.empty()) return false;
  BatchCursor event(events);
  if (event.done()) return false;
  if (!has_begun_) return true;
  const Timestamp next = *rows_[next_].event.timestamp;
  for (; !event.done(); event.advance()) {
    if (event.timestamp().value_or(now()) >= next) return true;
  }
  return false;
}

bool TableRows::append(ReadEvents read, Processor& processor, std::uint64_t& accepted,
                       const AppendCallbacks& callbacks) {
  if (!are_due(read.events.batch())) {
    return append_events(std::move(read), processor, accepted, callbacks);
  }
  for (BatchCursor event(read.events.batch()); !event.done(); event.advance()) {
    if (!append_until(event.timestamp(), processor)) return false;
    if (const auto taken = processor.append(event.to_event()); taken) {
      ++accepted;
    } else if (!callbacks.refused(at_line(read.lines[event.position()], taken.error()))) {
      return false;
    }
    if (processor.pending() >= kManyPending && !callbacks.process()) return false;
  }
  return true;
}

}  // namespace gorgo::tools
