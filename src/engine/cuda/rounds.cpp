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
  if (works.size() > 1) {
    session.begin_round();
    for (const auto& of_channel : std::span(works).subspan(1)) {
      for (Work* work : of_channel) work->take_part();
    }
    session.fetch();
    session.device().publish();
    session.workers().run(works.size() - 1, [&](std::size_t i) {
      const auto number = static_cast<std::uint32_t>(i + 1);
      if (!run_rounds(session, number, works[number], stop, nullptr)) done = false;
    });
  }
  if (works.front().empty()) return done;
  return done && run_rounds(session, 0, works.front(), stop, next);
}

std::string terminators_text(std::size_t terminators, std::size_t rules, const std::string& first) {
  const std::string others =
      rules == 1 ? "" : " and " + std::to_string(rules - 1) + " other rules or parts";
  return std::to_string(terminators) + " terminators of '" + first + "'" + others;
}

}  // namespace gorgo::engine
