#pragma once

#include <chrono>
#include <optional>

#include "gorgo/diagnostics.hpp"
#include "server/options.hpp"
#include "server/sessions/dialect.hpp"

namespace gorgo::server {

/// Knows when bytes came from a client and went to it, and so which time-out the client lets pass.
/// Asks no clock by itself. Belongs to the I/O thread.
class Liveness {
 public:
  using Time = std::chrono::steady_clock::time_point;

  /// What the server is waiting for, besides the client.
  struct Situation {
    bool awaits_engine = false;  ///< requests of the client are still to be carried out
    bool is_deaf = false;        ///< nothing that the client says is heard at the moment
    bool is_backed_up = false;   ///< something waits for the client to read it
    Dialect::Heartbeat heartbeat = Dialect::Heartbeat::none;
  };
  enum class Beat : std::uint8_t { none, ping, dead };

  explicit Liveness(Time opened) : received_(opened), sent_(opened) {}

  /// A byte came.
  void received(Time now);
  /// Bytes are on their way to the client until `sent`.
  void sending(Time now);
  void sent(Time now);
  /// Bytes of a message that is not complete are there; its time-out runs from the first call.
  void message_begun(Time now);
  void message_over() { begun_.reset(); }
  bool in_message() const { return begun_.has_value(); }
  /// Whether there is no memory for what the client sends.
  void set_starved(bool starved) { starved_ = starved; }
  bool is_starved() const { return starved_; }

  /// Why the client is to be disconnected, as far as what it sends is concerned.
  std::optional<Error> late(const ServerOptions& options, const Situation& situation,
                            Time now) const;
  /// Whether the client takes nothing of what is on its way to it.
  bool is_stalled(const Limits& limits, Time now) const;
  /// Whether a heartbeat is due, or one was not answered in time. After `ping` the answer is
  /// awaited where the client's protocol has one.
  Beat beat(const Limits& limits, const Situation& situation, Time now);

 private:
  std::optional<Time> begun_;  // when the first byte of an unfinished message was there
  Time received_;              // when a byte came
  Time sent_;                  // when a byte went, or the wait for that began
  bool is_sending_ = false;
  bool starved_ = false;
  std::optional<Time> pinged_;  // since when a sign of life is awaited
};

}  // namespace gorgo::server
