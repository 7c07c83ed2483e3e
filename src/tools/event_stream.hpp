#pragma once

#include <functional>
#include <memory>
#include <string>

#include "codec/event_text.hpp"
#include "codec/lines.hpp"
#include "gorgo/diagnostics.hpp"

namespace gorgo::tools {

/// Events and ticks from a file or from standard input, as they come.
class EventStream {
 public:
  /// What to do with the stream's content. Each returns whether to go on.
  struct Callbacks {
    std::function<bool(Event& event)> event;
    std::function<bool(Timestamp timestamp)> tick;
    std::function<bool(const Error& error)> bad_line;  ///< the error names the line
    std::function<bool()> pause;                       ///< all that was there has been handed out
  };

  explicit EventStream(std::unique_ptr<codec::EventReader> reader) : reader_(std::move(reader)) {}
  ~EventStream();
  EventStream(const EventStream&) = delete;
  EventStream& operator=(const EventStream&) = delete;

  /// `path` is "-" for standard input.
  Result<void> open(const std::string& path);
  /// Reads until the end or until a callback says no. An error: nothing behind it can be read.
  Result<void> read(const Callbacks& callbacks);
  /// The number of the line of the event or tick at hand.
  std::uint64_t line() const { return reader_->line(); }

 private:
  Result<bool> take(std::string_view line, const Callbacks& callbacks);
  Result<bool> read_block(const Callbacks& callbacks);

  std::unique_ptr<codec::EventReader> reader_;
  codec::LineCutter lines_;
  Event event_;
  std::string path_;
  int file_ = -1;
};

}  // namespace gorgo::tools
