#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "gorgo/client.hpp"
#include "gorgo/loop.hpp"

namespace gorgo {

/// The connection is lost. The client tries to get it back until the subscription is closed.
struct Disconnected {
  Error reason;
};

/// The connection is back, and subscribed again.
struct Reconnected {
  Duration after = 0;          ///< nanoseconds without a connection
  std::uint64_t attempts = 0;  ///< to connect; the last one succeeded
};

/// Events did not come.
struct Gap {
  std::string reason;
  std::optional<std::uint64_t> lost;  ///< absent: nobody knows how many, as after a reconnection
  Place first, last;                  ///< of the lost events; they mean nothing without `lost`
};

/// The server is about to stop, and serves on until then. The subscription comes back with the next
/// server.
struct Leaving {
  Duration grace = 0;  ///< nanoseconds until it stops
};

/// The stream is over, after `drain` or `close`. It comes again however often one asks.
struct Ended {};

/// What a subscription yields. Where something may be missing, a notice stands in the stream.
using Item = std::variant<Delivery, Disconnected, Reconnected, Gap, Leaving, Ended>;
/// What a subscription yields to those who want events in columns, as they came.
using BatchItem = std::variant<DeliveredBatch, Disconnected, Reconnected, Gap, Leaving, Ended>;

struct StreamOptions {
  ClientOptions client = {.name = "libgorgo", .heartbeats = true};
  SubscribeOptions subscribe = {};
  /// Bytes of events that wait for `next`. Beyond, the client stops reading, and the server takes
  /// it for slow (`SlowPolicy`).
  std::size_t receive_bytes = std::size_t{16} << 20;
  /// The pauses between attempts to reconnect double up to this, and vary by half of themselves.
  Duration longest_pause = 10'000'000'000;
  /// An earlier run of the program dealt with the events up to this place, so they do not come
  /// again. Only durable subscriptions heed it.
  std::optional<Place> seen = {};
};

/// A stream of the events that satisfy some texts, in place order, over a connection of its own. It
/// survives the connection and the server: it connects anew for ever, subscribes again, and says so
/// in the stream.
///
/// With `SubscribeOptions::durable` the server keeps every event until it is acknowledged. Then a
/// lost connection leaves no gap, and an event that comes a second time is left out: within one
/// `Subscription` each comes once.
///
/// Bytes move while a call waits or, where it shares a loop, while that runs. The end of the stream
/// by an error (a text that the server takes no more, a user that it does not know) is the error of
/// every later call.
///
/// Thread-safety: one thread at a time. What is returned is owned by the caller.
class Subscription {
 public:
  /// Connects and subscribes. `texts`: see `Client::subscribe`. `Delivery::subscription` is the
  /// position of the text, from 1. An error: the server is not there, or refuses a text.
  static Result<Subscription> open(const std::string& address, std::vector<std::string> texts,
                                   StreamOptions options = {});
  /// For coroutines that `loop` runs. The loop must outlive the subscription.
  /// Make the texts and options before the `co_await`: GCC 12 miscompiles braces within.
  static Awaited<Result<Subscription>> async_open(Loop& loop, const std::string& address,
                                                  const std::vector<std::string>& texts);
  static Awaited<Result<Subscription>> async_open(Loop& loop, const std::string& address,
                                                  const std::vector<std::string>& texts,
                                                  const StreamOptions& options);
  ~Subscription();
  Subscription(Subscription&&) noexcept;
  Subscription& operator=(Subscription&&) noexcept;

  /// The next item; nothing when none comes within `timeout` nanoseconds. Not within a task.
  Result<std::optional<Item>> next(Duration timeout);
  Awaited<Result<Item>> async_next();
  /// The next events together. What `next` has returned of them stands before `first`.
  Result<std::optional<BatchItem>> next_batch(Duration timeout);
  Awaited<Result<BatchItem>> async_next_batch();

  /// The program is done with every event up to this place. Returns at once; the server is told
  /// while the loop runs, and again on a new connection where it has not answered. Precondition:
  /// the subscription is durable.
  void acknowledge(const Place& place);
  /// Up to where the server has answered that an acknowledgement survives a crash; 0-0: nowhere
  /// yet.
  Place acknowledged() const;

  /// Unsubscribes, once the server has answered the last acknowledgement. What was delivered before
  /// is still to come, and `Ended` behind it.
  Result<void> drain();
  Awaited<Result<void>> async_drain();
  /// Ends the stream at once.
  void close();

  /// Warnings about the texts, as of the first time that they were subscribed.
  const Diagnostics& warnings() const;
  bool is_connected() const;
  /// Whether the server has said that it is about to stop.
  bool is_leaving() const;
  /// How often the client stopped reading because `receive_bytes` were waiting.
  std::uint64_t times_full() const;

  struct Impl;

 private:
  std::shared_ptr<Loop::Impl> loop_;
  std::shared_ptr<Impl> impl_;

  Subscription(std::shared_ptr<Loop::Impl> loop, std::shared_ptr<Impl> impl);
};

}  // namespace gorgo
