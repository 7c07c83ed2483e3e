#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "protocol/framing.hpp"
#include "server/outbox.hpp"

namespace gorgo::server {

/// What the engine thread is asked to do.
struct Command {
  enum class Kind : std::uint8_t {
    request,     ///< `frame`: opened and, for a Publish, its batch checked
    disconnect,  ///< `client` sends nothing more
    reload,      ///< read the rule files again
  };

  Kind kind = Kind::request;
  std::shared_ptr<Outbox> client;
  protocol::Bytes frame;
  std::chrono::steady_clock::time_point received = std::chrono::steady_clock::now();
};

/// Requests on their way to the engine thread: many producers, one consumer that takes everything
/// there is. Bounded in bytes and frames; a producer that finds it full stops reading from its
/// client.
class CommandQueue {
 public:
  /// `on_space` is called by the consumer, without a lock held, when a producer was refused
  /// before and there is room again.
  CommandQueue(const Limits& limits, std::function<void()> on_space);

  enum class Push : std::uint8_t { queued, full, closed };
  /// Takes `request` only when the answer is `queued`.
  Push push(Command& request);
  /// Disconnects and reloads are few and small: they always find room, unless it is closed.
  void push_control(Command command);
  /// Nothing more is taken; what is queued is still handed out.
  void close();
  /// Forgets what is queued, too. Returns how many requests.
  std::size_t discard();

  /// Waits for commands, not longer than `patience` when that is set, and appends all of them to
  /// the empty `out`; false: closed and empty.
  bool take(std::vector<Command>& out, std::optional<std::chrono::nanoseconds> patience = {});

 private:
  const std::size_t max_bytes_;
  const std::size_t max_frames_;
  const std::function<void()> on_space_;

  std::mutex mutex_;  // guards all below; no other lock is taken while it is held
  std::condition_variable ready_;
  std::vector<Command> commands_;
  std::size_t bytes_ = 0;
  bool refused_ = false;  // a producer waits for space
  bool closed_ = false;
};

}  // namespace gorgo::server
