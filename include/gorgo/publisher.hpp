#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "gorgo/client.hpp"
#include "gorgo/loop.hpp"

namespace gorgo {

/// What became of a publication.
struct Outcome {
  enum class Kind : std::uint8_t {
    accepted,  ///< every event has its place, and its composites will be delivered
    refused,   ///< some events were refused; `published.refusals` says which and why
    /// No answer came in time. The publisher goes on sending the events, under a number by which
    /// the server recognises them: do not publish them again. `flush` tells what became of them.
    unknown,
  };
  Kind kind = Kind::accepted;
  Published published = {};
  Error reason = {};  ///< of an unknown outcome
};

struct PublisherOptions {
  ClientOptions client = {.name = "libgorgo", .heartbeats = true};
  Acknowledge acknowledge = Acknowledge::by_default;  ///< any but `none`
  std::size_t batch = 1000;                           ///< events that `send` puts together at most
  /// Bytes of publications without an outcome. Beyond, `publish` and `send` wait, at most
  /// `client.timeout`; then an error says that nothing was sent.
  std::size_t publish_bytes = std::size_t{16} << 20;
  /// As `StreamOptions::longest_pause`.
  Duration longest_pause = 10'000'000'000;
  /// The number of the first publication; each has the next one. A program that publishes the same
  /// events again under its `client.producer` gives them the same numbers, and they are applied
  /// once. Unset: 1. With a `client.producer` it has to be set, because the server takes what is
  /// not above the last number of a producer for a repetition.
  std::optional<std::uint64_t> first_sequence;
};

/// Publishes events over a connection of its own, which it gets back for ever. A publication that
/// was not answered when the connection was lost is sent again under its number, which the server
/// recognises until it ends, so it is applied once.
///
/// Bytes move while a call waits or, where it shares a loop, while that runs.
///
/// Thread-safety: one thread at a time.
class Publisher {
 public:
  /// Connects. An error: the server is not there, or does not let this user in.
  static Result<Publisher> open(const std::string& address, PublisherOptions options = {});
  /// For coroutines that `loop` runs. The loop must outlive the publisher.
  /// Make the options before the `co_await`: GCC 12 miscompiles braces within.
  static Awaited<Result<Publisher>> async_open(Loop& loop, const std::string& address);
  static Awaited<Result<Publisher>> async_open(Loop& loop, const std::string& address,
                                               const PublisherOptions& options);
  /// What has no outcome is given up: call `drain` before.
  ~Publisher();
  Publisher(Publisher&&) noexcept;
  Publisher& operator=(Publisher&&) noexcept;

  /// Publishes events in their order, behind what was sent before, and waits for the outcome. An
  /// error: nothing was sent, as where one of the events has a name or a text that is not UTF-8.
  /// Not within a task.
  Result<Outcome> publish(std::span<const Event> events);
  Result<Outcome> publish(const EventBatch& batch);
  /// The events are copied before these return.
  Awaited<Result<Outcome>> async_publish(std::span<const Event> events);
  Awaited<Result<Outcome>> async_publish(const EventBatch& batch);

  /// Publishes an event and does not wait, unless `publish_bytes` are without an outcome: the fast
  /// way for single events, since those that are sent while an answer is due share a frame. An
  /// error: the event was not taken, and the others are sent.
  Result<void> send(const Event& event);
  /// Publishes a batch as it is, without waiting, as `send` does with an event.
  Result<void> send(const EventBatch& batch);
  Awaited<Result<void>> async_send(const Event& event);

  /// Moves the server's clock behind everything that was published before, as `Client::tick`. A
  /// refusal is one of the outcome that `flush` returns.
  Result<void> tick(Timestamp timestamp);

  /// Waits for all that `send` has taken and all that was unknown, and tells what became of it
  /// since the last call. Indexes of refusals count the events in the order in which they were
  /// sent since then; of refusals the first thousand are kept.
  Outcome flush();
  Awaited<Outcome> async_flush();
  /// Flushes and closes.
  Outcome drain();
  Awaited<Outcome> async_drain();

  /// Lets bytes move for so many nanoseconds. Not within a task.
  void run_for(Duration time);

  bool is_connected() const;
  /// Whether the server has said that it is about to stop.
  bool is_leaving() const;
  /// How often the connection came back.
  std::uint64_t reconnections() const;
  /// Bytes of publications without an outcome.
  std::size_t waiting_bytes() const;

  struct Impl;

 private:
  std::shared_ptr<Loop::Impl> loop_;
  std::shared_ptr<Impl> impl_;

  Publisher(std::shared_ptr<Loop::Impl> loop, std::shared_ptr<Impl> impl);
};

}  // namespace gorgo
