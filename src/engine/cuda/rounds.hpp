#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "engine/cuda/paging.hpp"
#include "engine/cuda/round_writer.hpp"
#include "engine/cuda/work.hpp"

namespace gorgo::engine {

/// Calls `use`, holding the session's mutex. Returns false when the device, or memory, failed.
/// `during` says in words what was being evaluated.
bool caught(Session& session, const std::function<void()>& use,
            const std::function<std::string()>& during);

/// Works, by channel of the device and turn. Those of a turn go through their rounds together; the
/// turns of a channel follow each other.
class Works {
 public:
  using Turns = std::vector<std::vector<Work*>>;

  Works() = default;
  /// A single work, on the first channel.
  explicit Works(Work* work) { add(0, 0, work); }

  void add(std::uint32_t channel, std::uint32_t turn, Work* work) {
    if (channels_.size() <= channel) channels_.resize(channel + 1);
    Turns& turns = channels_[channel];
    if (turns.size() <= turn) turns.resize(turn + 1);
    turns[turn].push_back(work);
  }
  /// The first channel, which may have nothing to do, and the others.
  const Turns& first() const { return channels_.front(); }
  std::span<const Turns> others() const { return std::span(channels_).subspan(1); }

 private:
  std::vector<Turns> channels_ = {{}};
};

/// Rounds of one channel, for works that go together and, when they are done, for the next ones. On
/// any channel but the first the reports of works are prepared as far as that can be done ahead.
/// Whoever calls holds the session's mutex, or is one of the threads that its holder waits for.
class Rounds {
 public:
  Rounds(Session& session, std::uint32_t channel);

  /// Takes in works, which go together, behind those of earlier calls.
  void add(const std::vector<Work*>& together) { waiting_.push_back(together); }
  /// Begins the next round. Returns false when there is none. This and `finish` throw DeviceError.
  bool start();
  /// Waits for the round and takes its answers.
  void finish();
  /// Forgets all works. A round that is under way is given up.
  void clear();

 private:
  bool start_round();

  gpu::Channel& channel_;
  const bool alone_;
  std::deque<std::vector<Work*>> waiting_;
  RoundWriter writer_;
  std::vector<Work*> asking_;
};

/// Does all rounds of the works. The other channels are at it at the same time, on so many threads;
/// the first one begins when they are done. Works that consume are on the first channel, because
/// they change its marks between two rounds. Unless `next` is null, its pages are fetched during
/// the first channel's first round. Returns false when stopped. Whoever calls holds the session's
/// mutex. Throws DeviceError.
bool run(Session& session, const Works& works, unsigned threads, const std::atomic<bool>* stop,
         const Needs* next = nullptr);

/// Terminators of rules, in words.
std::string terminators_text(std::size_t terminators, std::size_t rules, const std::string& first);

}  // namespace gorgo::engine
