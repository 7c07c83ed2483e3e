#include "engine/cuda/rounds.hpp"

#include <algorithm>
#include <deque>
#include <new>
#include <utility>
#include <vector>

namespace gorgo::engine {

bool try_on_device(DeviceContext& context, const std::function<void()>& use,
                   const std::function<std::string()>& during) {
  const std::lock_guard lock(context.mutex());
  try {
    use();
    return true;
  } catch (const gpu::DeviceError& error) {
    context.fail(error, during());
  } catch (const std::bad_alloc&) {
    context.fail(gpu::DeviceError("no memory of the host", false), during());
  }
  return false;
}

Rounds::Rounds(DeviceContext& context, std::uint32_t channel)
    : channel_(context.device().channel(channel)),
      exclusive_(channel == 0),
      writer_(context, exclusive_ ? RoundWriter::Use::exclusive : RoundWriter::Use::shared) {}

bool Rounds::start() {
  while (!asking_.empty() || !waiting_.empty()) {
    if (asking_.empty()) {
      asking_ = std::move(waiting_.front());
      waiting_.pop_front();
    }
    if (start_round()) return true;
  }
  return false;
}

void Rounds::finish() {
  const gpu::Answers answers = channel_.finish();
  for (RuleSearch* search : asking_) search->take(answers);
}

void Rounds::clear() {
  asking_.clear();
  waiting_.clear();
}

bool Rounds::start_round() {
  std::vector<RuleSearch*> done;
  writer_.begin();
  std::erase_if(asking_, [&](RuleSearch* search) {
    const bool goes_on = search->ask(writer_);
    if (!goes_on && !exclusive_ && !search->is_too_large()) done.push_back(search);
    return !goes_on;
  });
  const gpu::Round& round = writer_.finish();
  const bool goes_on = !asking_.empty();
  if (goes_on) channel_.start(round);
  for (RuleSearch* search : done) search->prepare_report();
  return goes_on;
}

namespace {

bool is_set(const std::atomic<bool>* stop) {
  return stop != nullptr && stop->load(std::memory_order_relaxed);
}

/// Does all rounds on one thread. Returns false when stopped.
bool run_rounds(std::deque<Rounds>& all, const std::atomic<bool>* stop) {
  std::deque<Rounds*> under_way;
  for (Rounds& rounds : all) {
    if (is_set(stop)) return false;
    if (rounds.start()) under_way.push_back(&rounds);
  }
  while (!under_way.empty()) {
    if (is_set(stop)) return false;
    Rounds& oldest = *under_way.front();
    under_way.pop_front();
    oldest.finish();
    if (oldest.start()) under_way.push_back(&oldest);
  }
  return true;
}

/// Deals the channels out to the threads in turn. Returns false when stopped.
bool run_shared(DeviceContext& context, std::span<const ChannelSchedule::Turns> channels,
                unsigned threads, const std::atomic<bool>* stop) {
  std::atomic<bool> done = true;
  context.workers().run(threads, [&](std::size_t first) {
    std::deque<Rounds> rounds;
    for (std::size_t i = first; i < channels.size(); i += threads) {
      Rounds& own = rounds.emplace_back(context, static_cast<std::uint32_t>(i + 1));
      for (const auto& turn : channels[i]) own.add(turn);
    }
    if (!run_rounds(rounds, stop)) done = false;
  });
  return done;
}

bool run_exclusive(DeviceContext& context, const ChannelSchedule::Turns& turns,
                   const std::atomic<bool>* stop, const WorkingSet* next) {
  Rounds rounds(context, 0);
  for (const auto& turn : turns) rounds.add(turn);
  while (!is_set(stop)) {
    if (!rounds.start()) return true;
    if (next != nullptr) prefetch(context, *std::exchange(next, nullptr));
    rounds.finish();
  }
  return false;
}

}  // namespace

bool run(DeviceContext& context, const ChannelSchedule& searches, unsigned threads,
         const std::atomic<bool>* stop, const WorkingSet* next) {
  const auto others = searches.others();
  if (!others.empty()) {
    context.pages().begin_round();
    for (const ChannelSchedule::Turns& turns : others) {
      for (const auto& turn : turns) {
        for (RuleSearch* search : turn) search->take_part();
      }
    }
    threads = std::min(threads, static_cast<unsigned>(others.size()));
    if (threads > 1) context.workers().rouse();
    context.pages().fetch();
    context.device().publish();
    if (!run_shared(context, others, threads, stop)) return false;
  }
  return searches.first().empty() || run_exclusive(context, searches.first(), stop, next);
}

std::string terminators_text(std::size_t terminators, std::size_t rules, const std::string& first) {
  const std::string others =
      rules == 1 ? "" : " and " + std::to_string(rules - 1) + " other rules or parts";
  return std::to_string(terminators) + " terminators of '" + first + "'" + others;
}

}  // namespace gorgo::engine
