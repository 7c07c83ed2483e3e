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
#include "engine/cuda/rule_search.hpp"

namespace gorgo::engine {

/// Calls `use`, holding the context's mutex. Returns false when the device, or memory, failed.
/// `during` says in words what was being evaluated.
bool try_on_device(DeviceContext& context, const std::function<void()>& use,
                   const std::function<std::string()>& during);

/// Searches of rules, by channel of the device and turn. Those of a turn go through their rounds
/// together; the turns of a channel follow each other.
class ChannelSchedule {
 public:
  using Turns = std::vector<std::vector<RuleSearch*>>;

  ChannelSchedule() = default;
  /// A single search, on the first channel.
  explicit ChannelSchedule(RuleSearch* search) { add(0, 0, search); }

  void add(std::uint32_t channel, std::uint32_t turn, RuleSearch* search) {
    if (channels_.size() <= channel) channels_.resize(channel + 1);
    Turns& turns = channels_[channel];
    if (turns.size() <= turn) turns.resize(turn + 1);
    turns[turn].push_back(search);
  }
  /// The first channel, which may have nothing to do, and the others.
  const Turns& first() const { return channels_.front(); }
  std::span<const Turns> others() const { return std::span(channels_).subspan(1); }

 private:
  std::vector<Turns> channels_ = {{}};
};

/// Rounds of one channel, for searches that go together and, when they are done, for the next ones.
/// On any channel but the first the reports of searches are prepared as far as that can be done
/// ahead. Whoever calls holds the context's mutex, or is one of the threads that its holder waits
/// for.
class Rounds {
 public:
  Rounds(DeviceContext& context, std::uint32_t channel);

  /// Takes in searches, which go together, behind those of earlier calls.
  void add(const std::vector<RuleSearch*>& together) { waiting_.push_back(together); }
  /// Begins the next round. Returns false when there is none. This and `finish` throw DeviceError.
  bool start();
  /// Waits for the round and takes its answers.
  void finish();
  /// Forgets all searches. A round that is under way is given up.
  void clear();

 private:
  bool start_round();

  gpu::Channel& channel_;
  const bool exclusive_;
  std::deque<std::vector<RuleSearch*>> waiting_;
  RoundWriter writer_;
  std::vector<RuleSearch*> asking_;
};

/// Does all rounds of the searches. The other channels are at it at the same time, on so many
/// threads; the first one begins when they are done. Those of rules that consume are on the first
/// channel, because they change its marks between two rounds. Unless `next` is null, its pages are
/// fetched during the first channel's first round. Returns false when stopped. Whoever calls holds
/// the context's mutex. Throws DeviceError.
bool run(DeviceContext& context, const ChannelSchedule& searches, unsigned threads,
         const std::atomic<bool>* stop, const WorkingSet* next = nullptr);

/// Terminators of rules, in words.
std::string terminators_text(std::size_t terminators, std::size_t rules, const std::string& first);

}  // namespace gorgo::engine
