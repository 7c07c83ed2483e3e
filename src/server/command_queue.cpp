#include "server/command_queue.hpp"

#include <utility>

namespace gorgo::server {

CommandQueue::CommandQueue(const Limits& limits, std::function<void()> on_space)
    : max_bytes_(limits.queue_bytes),
      max_frames_(limits.queue_frames),
      on_space_(std::move(on_space)) {}

CommandQueue::Push CommandQueue::push(Command& request) {
  {
    std::lock_guard lock(mutex_);
    if (closed_) return Push::closed;
    // A single frame always fits into an empty queue, whatever the limits.
    const bool full = !commands_.empty() && (commands_.size() >= max_frames_ ||
                                             bytes_ + request.frame.size() > max_bytes_);
    if (full) {
      refused_ = true;
      return Push::full;
    }
    bytes_ += request.frame.size();
    commands_.push_back(std::move(request));
  }
  ready_.notify_one();
  return Push::queued;
}

void CommandQueue::push_control(Command command) {
  {
    std::lock_guard lock(mutex_);
    if (closed_) return;
    commands_.push_back(std::move(command));
  }
  ready_.notify_one();
}

void CommandQueue::close() {
  {
    std::lock_guard lock(mutex_);
    closed_ = true;
  }
  ready_.notify_one();
}

std::size_t CommandQueue::discard() {
  std::vector<Command> discarded;
  {
    std::lock_guard lock(mutex_);
    closed_ = true;
    discarded.swap(commands_);
    bytes_ = 0;
  }
  ready_.notify_one();
  return discarded.size();
}

bool CommandQueue::take(std::vector<Command>& out,
                        std::optional<std::chrono::nanoseconds> patience) {
  bool refused = false;
  bool closed = false;
  {
    std::unique_lock lock(mutex_);
    const auto ready = [&] { return closed_ || !commands_.empty(); };
    if (patience) {
      ready_.wait_for(lock, *patience, ready);
    } else {
      ready_.wait(lock, ready);
    }
    out.swap(commands_);
    bytes_ = 0;
    refused = std::exchange(refused_, false);
    closed = closed_;
  }
  if (refused) on_space_();
  return !closed || !out.empty();
}

}  // namespace gorgo::server
