#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string_view>

#include "doors/settings.hpp"
#include "doors/topic.hpp"
#include "gorgo/diagnostics.hpp"
#include "gorgo/event_batch.hpp"
#include "gorgo/schema.hpp"

namespace gorgo::doors {

/// The event types as they are now. Any thread may call.
using Types = std::function<std::shared_ptr<const Schema>()>;

/// Makes events of payloads, or of the lines of one file. One thread.
class PayloadReader {
 public:
  enum class Outcome : std::uint8_t {
    event,
    nothing,  ///< it was blank or a header
    open,     ///< a quoted cell goes on in the next line
  };

  virtual ~PayloadReader() = default;

  /// Adds the event that the line or payload completes. `topic`: what the place that it came from
  /// says; null: nothing. An error leaves the batch as it was.
  virtual Result<Outcome> read(std::string_view text, const TopicContent* topic,
                               BatchBuilder& batch) = 0;
  /// Nothing follows what was read last. An error: a quoted cell was still open, and its record is
  /// refused.
  virtual Result<void> end() { return {}; }
  /// What `read` has just refused when it was given `text`, or `end` behind it: the record that
  /// `text` is the end of, from its first line on, cut off where dead letters are.
  virtual std::string_view refused(std::string_view text) const { return text; }
  /// Begins a batch: what was added before is gone, and types may have changed.
  virtual void begin_batch() {}
  /// Takes the header of a file, which may be read on from somewhere behind it. Behind an error no
  /// line of the file can be read.
  virtual Result<void> header(std::string_view) { return {}; }
  /// Whether the first line of a file is a header.
  virtual bool has_header() const { return false; }
};

std::unique_ptr<PayloadReader> make_payload_reader(const Settings& settings, const Types& types);

/// Whether payloads can be read as these settings say. An error names the key that is wrong.
Result<void> check_form(const Settings& settings);

}  // namespace gorgo::doors
