#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "server/command_queue.hpp"
#include "server/sessions/client_totals.hpp"
#include "server/sessions/outbox.hpp"

namespace gorgo::server {

/// A door's way to the engine thread and back: the one that sessions take, so that doors take turns
/// with clients and find the same limits. The door's thread calls; `stop` any.
class EngineLink {
 public:
  struct Parts {
    CommandQueue& queue;
    ClientTotals& totals;
    Limits limits;
  };

  /// `id` is no session's. `on_news` is called on another thread when `take` may have something, or
  /// the door stops; it must not call back.
  EngineLink(const Parts& parts, std::uint64_t id, const std::string& door,
             std::function<void(bool is_stopped)> on_news);
  /// The engine forgets what it has of the door.
  ~EngineLink();

  /// Hands a request to the engine, and waits until there is room, unless the door stops. False:
  /// there was none, or the server stops.
  bool push(protocol::Bytes frame);
  /// What has come, in its order. What was taken before counts as done.
  std::vector<OutFrame> take();
  /// Waits for news, at most so long.
  void wait(std::chrono::milliseconds patience);
  /// Has a `wait` return. Any thread.
  void wake() { bell_->ring(); }
  bool is_stopped();
  void stop();
  /// Has `done` called on the engine thread when the link is gone and everything that was pushed is
  /// carried out.
  void at_end(std::function<void()> done) { at_end_ = std::move(done); }
  /// Nothing more will come than what waits already.
  bool is_finishing();
  void finish();

 private:
  CommandQueue& queue_;
  std::shared_ptr<Outbox> outbox_;
  std::function<void()> at_end_;

  struct Bell {
    std::mutex mutex;  // guards what follows
    std::condition_variable rung;
    bool is_rung = false, is_stopped = false, is_finishing = false;
    std::function<void(bool)> on_news;

    void ring();
  };
  std::shared_ptr<Bell> bell_;  // the engine thread may hold the outbox longer than the link lives
};

}  // namespace gorgo::server
