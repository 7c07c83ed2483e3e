#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "codec/time_format.hpp"
#include "gorgo/diagnostics.hpp"
#include "gorgo/event.hpp"
#include "gorgo/event_batch.hpp"
#include "gorgo/schema.hpp"

/// Events as lines of text, in either format. Readers and writers belong to one thread.
namespace gorgo::codec {

/// What a line of a stream comes to.
struct LineContent {
  enum class Kind : std::uint8_t {
    nothing,  ///< it is blank, a header, or inside a quoted cell
    event,
    tick,
  };
  Kind kind = Kind::nothing;
  Timestamp timestamp = 0;  ///< of a tick
};

/// Turns the lines of one stream into events.
class EventReader {
 public:
  virtual ~EventReader() = default;

  /// Takes the next line, without its end, and adds the event that it completes to `batch`. An
  /// error begins with `line N: ` and concerns this line only, unless `broken()`; it leaves the
  /// batch as it was. Precondition: all events of the batch come from this reader, and the batch is
  /// not `full()`.
  virtual Result<LineContent> next(std::string_view line, BatchBuilder& batch) = 0;
  /// Call behind the last line: what is incomplete is an error.
  virtual Result<void> finish() = 0;
  /// The number of the line that the last event, tick or error began on, from 1.
  virtual std::uint64_t line() const = 0;
  /// No later line of the stream can be understood.
  virtual bool broken() const = 0;
};

/// Event lines and ticks (see `is_tick`).
std::unique_ptr<EventReader> make_line_reader();

/// What the columns of a CSV file mean.
struct CsvForm {
  std::string type;                  ///< of all rows; empty: a column says it
  std::string type_column = "type";  ///< if `type` is empty
  std::string time_column = "";      ///< empty: `ts`, if there is one
  TimeFormat times;                  ///< of its cells
  char separator = ',';
  std::map<std::string, std::string> renamed;  ///< by the name of a column, that of the attribute
};

/// CSV (RFC 4180): a header, then one row per event. The columns are the type, the time and the
/// attributes; an empty cell is an absent attribute, `""` an empty string. `schema` tells the types
/// of cells (not owned, may be null). The spelling decides about cells that the schema does not
/// know, and a quoted one is a string.
std::unique_ptr<EventReader> make_csv_reader(CsvForm form, const Schema* schema);

/// Appends events to a text. `begin`, then each attribute in order, then `end`.
class EventWriter {
 public:
  virtual ~EventWriter() = default;

  virtual void begin(std::string& out, std::string_view type,
                     std::optional<Timestamp> timestamp) = 0;
  /// Precondition: `value.exists()`.
  virtual void attribute(std::string& out, std::string_view name, const Datum& value) = 0;
  virtual void end(std::string& out) = 0;

  void write(std::string& out, const Event& event);
};

/// How writers spell times: as milliseconds since 1970, or as RFC 3339 in UTC.
enum class TimeStyle : std::uint8_t { milliseconds, rfc3339 };

/// Event lines, one per event.
std::unique_ptr<EventWriter> make_line_writer(TimeStyle times = TimeStyle::milliseconds);
/// CSV with the columns `type`, `ts` and `attributes`; the header stands before the first row.
/// Attributes that are not among the columns are left out.
std::unique_ptr<EventWriter> make_csv_writer(std::vector<std::string> attributes,
                                             TimeStyle times = TimeStyle::milliseconds);

}  // namespace gorgo::codec
