#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "codec/event_text.hpp"
#include "codec/lines.hpp"
#include "gorgo/diagnostics.hpp"
#include "gorgo/event_batch.hpp"

namespace gorgo::tools {

/// Events that were read and wait to be taken.
struct ReadEvents {
  BatchBuilder events;
  std::vector<std::uint64_t> lines;  ///< for each event, the number of the line that it began on
};

/// Events and ticks from a file or from standard input, as they come. It gathers events until they
/// are taken, so that whoever reads decides what has to stand behind them.
class EventStream {
 public:
  /// What to do with the stream's content. Each returns whether to go on.
  struct Callbacks {
    std::function<bool()> full;  ///< no further event is read before the events are taken
    std::function<bool(Timestamp timestamp)> tick;
    std::function<bool(const Error& error)> bad_line;  ///< the error names the line
    std::function<bool()> pause;                       ///< all that was there has been read
  };

  static constexpr std::size_t kBatch = 4096;

  /// `most`: so many events are gathered at most.
  explicit EventStream(std::unique_ptr<codec::EventReader> reader, std::size_t most = kBatch)
      : reader_(std::move(reader)), most_(most) {}
  ~EventStream();
  EventStream(const EventStream&) = delete;
  EventStream& operator=(const EventStream&) = delete;

  /// `path` is "-" for standard input.
  Result<void> open(const std::string& path);
  /// Reads until the end or until a callback says no. An error: nothing behind it can be read.
  /// `full` and `pause` must take the events; unless a callback says no, the last call is `pause`.
  Result<void> read(const Callbacks& callbacks);
  /// The events that were read since the last call, in their order. They stand before the tick or
  /// the bad line at hand.
  ReadEvents take();
  /// How much of the file has been read, from 0 to 1; 0 where nobody knows its size.
  double share_read() const {
    return size_ == 0 ? 0
                      : static_cast<double>(read_) / static_cast<double>(std::max(size_, read_));
  }
  /// Whether it is a file, which ends without anybody's doing.
  bool has_end() const { return size_ > 0; }
  /// The number of the line of the tick at hand.
  std::uint64_t line() const { return reader_->line(); }

 private:
  Result<bool> take_line(std::string_view line, const Callbacks& callbacks);
  Result<bool> read_all(const Callbacks& callbacks);
  Result<bool> read_block(const Callbacks& callbacks);
  bool is_full() const;

  std::unique_ptr<codec::EventReader> reader_;
  const std::size_t most_;
  codec::LineCutter lines_;
  ReadEvents gathered_;
  std::string path_;
  int file_ = -1;
  std::uint64_t size_ = 0;  // of the file, bytes; 0: unknown
  std::uint64_t read_ = 0;
};

}  // namespace gorgo::tools
