#include "engine/cuda/rounds.hpp"

#include <algorithm>
#include <deque>
#include <new>
#include <utility>
#include <vector>

namespace gorgo::engine {

bool caught(Session& session, const std::function<void()>& use,
            const std::function<std::string()>& during) {
  const std::lock_guard lock(session.mutex());
  try {
    use();
    return true;
  } catch (const gpu::DeviceError& error) {
    session.fail(error, during());
  } catch (const std::bad_alloc&) {
    session.fail(gpu::DeviceError("no memory of the host", false), during());
  }
  return false;
}

Rounds::Rounds(Session& session, std::uint32_t channel)
    : channel_(session.device().channel(channel)),
      alone_(channel == 0),
      writer_(session, alone_ ? RoundWriter::Use::alone : RoundWriter::Use::shared) {}

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
  for (Work* work : asking_) work->take(answers);
}

void Rounds::clear() {
  asking_.clear();
  waiting_.clear();
}

bool Rounds::start_round() {
  std::vector<Work*> done;
  writer_.begin();
  std::erase_if(asking_, [&](Work* work) {
    const bool goes_on = work->ask(writer_);
    if (!goes_on && !alone_ && !work->is_too_large()) done.push_back(work);
    return !goes_on;
  });
  const gpu::Round& round = writer_.finish();
  const bool goes_on = !asking_.empty();
  if (goes_on) channel_.start(round);
  for (Work* work : done) work->prepare_report();
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
bool run_shared(Session& session, std::span<const Works::Turns> channels, unsigned threads,
                const std::atomic<bool>* stop) {
  std::atomic<bool> done = true;
  session.workers().run(threads, [&](std::size_t first) {
    std::deque<Rounds> rounds;
    for (std::size_t i = first; i < channels.size(); i += threads) {
      Rounds& own = rounds.emplace_back(session, static_cast<std::uint32_t>(i + 1));
      for (const auto& turn : channels[i]) own.add(turn);
    }
    if (!run_rounds(rounds, stop)) done = false;
  });
  return done;
}

bool run_alone(Session& session, const Works::Turns& turns, const std::atomic<bool>* stop,
               const Needs* next) {
  Rounds rounds(session, 0);
  for (const auto& turn : turns) rounds.add(turn);
  while (!is_set(stop)) {
    if (!rounds.start()) return true;
    if (next != nullptr) prefetch(session, *std::exchange(next, nullptr));
    rounds.finish();
  }
  return false;
}

}  // namespace

bool run(Session& session, const Works& works, unsigned threads, const std::atomic<bool>* stop,
         const Needs* next) {
  const auto others = works.others();
  if (!others.empty()) {
    session.pages().begin_round();
    for (const Works::Turns& turns : others) {
      for (const auto& turn : turns) {
        for (Work* work : turn) work->take_part();
      }
    }
    threads = std::min(threads, static_cast<unsigned>(others.size()));
    if (threads > 1) session.workers().rouse();
    session.pages().fetch();
    session.device().publish();
    if (!run_shared(session, others, threads, stop)) return false;
  }
  return works.first().empty() || run_alone(session, works.first(), stop, next);
}

std::string terminators_text(std::size_t terminators, std::size_t rules, const std::string& first) {
  const std::string others =
      rules == 1 ? "" : " and " + std::to_string(rules - 1) + " other rules or parts";
  return std::to_string(terminators) + " terminators of '" + first + "'" + others;
}

}  // namespace gorgo::engine
