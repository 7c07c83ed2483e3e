#pragma once

#include <cstdint>
#include <functional>

#include "gorgo/diagnostics.hpp"
#include "tools/event_stream.hpp"

namespace gorgo::tools {

/// A part of an event stream: events, and what stands behind them.
struct StreamPiece {
  enum class Kind : std::uint8_t {
    full,      ///< more events
    tick,      ///< one at `timestamp`, in `line`
    bad_line,  ///< one that is no event; `error` names the line
    pause,     ///< nothing yet: all that was there has been read
  };
  Kind kind = Kind::full;
  ReadEvents events;
  Timestamp timestamp = 0;
  std::uint64_t line = 0;
  Error error;
};

/// Reads a stream until its end or until `take`, which is called on this thread, says no. An error:
/// nothing behind it can be read. A file is read on a thread of its own, some pieces ahead; then
/// the reader of the stream must not share with `take` what either changes.
Result<void> read_pieces(EventStream& stream, const std::function<bool(StreamPiece)>& take);

}  // namespace gorgo::tools
