#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "gorgo/diagnostics.hpp"
#include "gorgo/event.hpp"
#include "gorgo/event_batch.hpp"

/// Ways by which the server itself goes out for events, or takes them elsewhere. docs/doors.md
namespace gorgo::doors {

/// What a source could make no event of.
struct DeadLetter {
  /// What is kept of each text, in bytes: a little more than anybody is shown, so that it can be
  /// told that there was more. Payloads may be large, and a batch has many.
  static constexpr std::size_t kMost = (std::size_t{16} << 10) + 8;

  DeadLetter(std::string_view where, std::string_view why, std::string_view what)
      : place(where.substr(0, kMost)),
        reason(why.substr(0, kMost)),
        payload(what.substr(0, kMost)) {}

  std::string place;  ///< where it came from, for people
  std::string reason;
  std::string payload;
};

/// How far a source has read. What it means only the source knows; empty: nothing was read.
using Position = std::string;

/// What one look at a source has brought.
struct Arrived {
  BatchBuilder events;
  std::vector<DeadLetter> dead;
  Position position;  ///< behind all of them
  /// What the source cannot read for now, while it goes on with the rest.
  std::optional<Error> problem;

  /// Whether it is enough for one look.
  bool full() const {
    constexpr std::uint32_t kMostEvents = 8192;
    constexpr std::size_t kMostBytes = std::size_t{4} << 20;
    constexpr std::size_t kMostDead = 256;
    return events.events() >= kMostEvents || events.bytes() >= kMostBytes ||
           dead.size() >= kMostDead || events.full();
  }
  bool empty() const { return events.events() == 0 && dead.empty(); }
  /// Whether the server has something to note.
  bool has_news() const { return !empty() || !position.empty(); }
};

/// Where events come from. One thread calls, but for `wake`.
class Source {
 public:
  virtual ~Source() = default;

  /// Waits for events, not longer than `patience` or until `wake`; brings nothing when none came.
  /// An error: there is no way to them at the moment, and the caller tries again after a while.
  /// What was brought before is not brought again, also behind an error.
  virtual Result<Arrived> poll(std::chrono::milliseconds patience) = 0;
  /// Everything up to this position is as safe as the server is configured to keep it, so that the
  /// source may forget it. Positions come in the order in which `poll` gave them.
  virtual void committed(const Position& position) = 0;
  /// Has a `poll` that waits return, or the next one. Any thread.
  virtual void wake() = 0;
  /// How far it has read, for people.
  virtual std::string describe(const Position& position) const = 0;
};

/// Events on their way out, in their order.
struct Departing {
  struct Row {
    Place place;
    Event event;
  };
  std::vector<Row> rows;
};

/// Events on their way out in columns: those of a batch that stand in [first, first + count) of its
/// order. All of them have timestamps. A view, as the batch is.
struct DepartingColumns {
  EventBatch batch;
  std::span<const std::uint64_t> roots;  ///< of the places, for each event of the batch
  std::span<const std::uint32_t> ordinals;
  std::uint32_t first = 0, count = 0;

  Place place(std::uint32_t event) const { return {roots[event], ordinals[event]}; }
  Place last() const { return place(first + count - 1); }
};

/// Makes a row of each event of these columns.
Departing rows_of(std::span<const DepartingColumns> parts);

/// Where events go. One thread calls, but for `wake`. An error of `send_columns` or `settle`: it is
/// not known of any of the events whether they are safe, and the caller sends all of them again
/// after a while. Then the other side may get some twice, each with the same id.
class ColumnSink {
 public:
  virtual ~ColumnSink() = default;

  /// Gets ready what `send_columns` is to be called with next, while other events may be under way.
  virtual void prepare(std::span<const DepartingColumns> /*parts*/) {}
  /// Sends the events, part by part. They are safe at the other side when it returns, unless they
  /// are under way. Precondition: nothing is under way.
  virtual Result<void> send_columns(std::span<const DepartingColumns> parts) = 0;
  /// Whether events that were sent may not be safe yet.
  virtual bool is_under_way() const { return false; }
  /// Waits until what is under way is safe at the other side.
  virtual Result<void> settle() { return {}; }
  /// How many events leave together, but for those that come at the same time as the last of them.
  virtual std::size_t most_rows() const { return 1000; }
  /// Called about once a second while there is nothing to send. An error: there is no way to the
  /// other side at the moment.
  virtual Result<void> idle() { return {}; }
  /// Has a call that waits return with an error. Any thread.
  virtual void wake() = 0;
};

/// Where events go row by row.
class Sink : public ColumnSink {
 public:
  /// As `send_columns`, and none of them is under way when it returns.
  virtual Result<void> send(const Departing& events) = 0;

  Result<void> send_columns(std::span<const DepartingColumns> parts) final {
    return send(rows_of(parts));
  }
};

/// The id of an event, which no other has: what receivers know repetitions by.
std::string id_of(const Place& place);
/// Appends `{"id":"12-0","type":"Fire","ts":1000,"attrs":{...}}`: an event line with its id.
void append_line(std::string& out, const Departing::Row& row);
/// The place in the id of such a line; unset: it has none.
std::optional<Place> place_in(std::string_view line);

}  // namespace gorgo::doors
