#include "engine/cuda/rounds.hpp"

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
  } catch (const cuda::DeviceError& error) {
    session.fail(error, during());
  } catch (const std::bad_alloc&) {
    session.fail(cuda::DeviceError("no memory of the host", false), during());
  }
  return false;
}

namespace {

bool run_rounds(Session& session, std::uint32_t number, std::vector<Work*> asking,
                const std::atomic<bool>* stop, const Needs* next) {
  cuda::Channel& channel = session.device().channel(number);
  const bool alone = number == 0;
  RoundWriter writer(session, alone ? RoundWriter::Use::alone : RoundWriter::Use::shared);
  std::vector<Work*> done;
  for (;;) {
    if (stop != nullptr && stop->load(std::memory_order_relaxed)) return false;
    writer.begin();
    std::erase_if(asking, [&](Work* work) {
      const bool goes_on = work->ask(writer);
      if (!goes_on && !alone && !work->is_too_large()) done.push_back(work);
      return !goes_on;
    });
    const cuda::Round& round = writer.finish();
    if (!asking.empty()) channel.start(round);
    for (Work* work : std::exchange(done, {})) work->prepare_report();
    if (asking.empty()) return true;
    if (next != nullptr) prefetch(session, *std::exchange(next, nullptr));
    const cuda::Answers answers = channel.finish();
    for (Work* work : asking) work->take(answers);
  }
}

}  // namespace

bool run(Session& session, const Works& works, const std::atomic<bool>* stop, const Needs* next) {
  std::atomic<bool> done = true;
  const auto others = works.others();
  if (!others.empty()) {
    session.begin_round();
    for (const Works::Turns& turns : others) {
      for (const auto& turn : turns) {
        for (Work* work : turn) work->take_part();
      }
    }
    session.workers().rouse();
    session.fetch();
    session.device().publish();
    session.workers().run(others.size(), [&](std::size_t i) {
      for (const auto& turn : others[i]) {
        if (!run_rounds(session, static_cast<std::uint32_t>(i + 1), turn, stop, nullptr)) {
          done = false;
        }
      }
    });
  }
  for (const auto& turn : works.first()) {
    done = done && run_rounds(session, 0, turn, stop, next);
  }
  return done;
}

std::string terminators_text(std::size_t terminators, std::size_t rules, const std::string& first) {
  const std::string others =
      rules == 1 ? "" : " and " + std::to_string(rules - 1) + " other rules or parts";
  return std::to_string(terminators) + " terminators of '" + first + "'" + others;
}

}  // namespace gorgo::engine
