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

bool run(Session& session, std::span<Work* const> works, const std::atomic<bool>* stop,
         const Needs* next) {
  RoundWriter writer(session);
  std::vector<Work*> asking(works.begin(), works.end());
  for (;;) {
    if (stop != nullptr && stop->load(std::memory_order_relaxed)) return false;
    writer.begin();
    std::erase_if(asking, [&](Work* work) { return !work->ask(writer); });
    const cuda::Round& round = writer.finish();
    if (asking.empty()) return true;
    session.device().start(round);
    if (next != nullptr) prefetch(session, *std::exchange(next, nullptr));
    const cuda::Answers answers = session.device().finish();
    for (Work* work : asking) work->take(answers);
  }
}

std::string terminators_text(std::size_t terminators, std::size_t rules, const std::string& first) {
  const std::string others =
      rules == 1 ? "" : " and " + std::to_string(rules - 1) + " other rules or parts";
  return std::to_string(terminators) + " terminators of '" + first + "'" + others;
}

}  // namespace gorgo::engine
