#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "doors/nats/connection.hpp"
#include "gorgo/diagnostics.hpp"

namespace gorgo::doors::nats {

/// What there is of a stream.
struct StreamState {
  std::int64_t created = 0;  ///< when it was made: another time is another stream
  std::uint64_t first = 0, last = 0;
  std::chrono::nanoseconds keeps{};  ///< how long it keeps a message; 0: without end
};

/// Reads a stream of JetStream from a sequence on, each message once and in order. The server keeps
/// nothing for it: whoever reads remembers the sequence of the last message. One thread.
class StreamReader {
 public:
  struct Message {
    Owned<natsMsg> content;
    std::uint64_t sequence = 0;  ///< in the stream
    std::int64_t stored = 0;     ///< when the stream got it, nanoseconds since the Unix epoch
    std::uint64_t behind = 0;    ///< messages that the stream had behind it when it was sent
  };

  /// `subjects`: those of the stream that are read, with the wildcards of NATS.
  StreamReader(std::string stream, std::string subjects)
      : stream_(std::move(stream)), subjects_(std::move(subjects)) {}

  /// Ends reading.
  Result<StreamState> look(const Connection& connection);
  /// Begins at this sequence. Precondition: `look` of the same connection has succeeded.
  Result<void> begin(std::uint64_t sequence);
  /// The next message; nothing: none came within `patience`. An error: messages behind it may be
  /// missing, and reading has to begin again.
  Result<std::optional<Message>> next(std::chrono::milliseconds patience);
  /// How many messages of the subjects the stream has that have not come yet. Asks the server.
  Result<std::uint64_t> left() const;
  /// How many messages have come since `begin`.
  std::uint64_t delivered() const { return delivered_; }
  bool has_begun() const { return subscription_ != nullptr; }
  void end();

 private:
  const std::string stream_, subjects_;
  Owned<jsCtx> context_;
  Owned<natsSubscription> subscription_;
  std::uint64_t delivered_ = 0;  // messages of this subscription
  std::chrono::steady_clock::time_point heard_ = {};

  /// Whether the server still has something to read for us: it says nothing when a stream goes.
  Result<void> check_alive();

  Error in_stream(natsStatus status) const;
};

}  // namespace gorgo::doors::nats
