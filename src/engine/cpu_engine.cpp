#include "engine/cpu_engine.hpp"

#include <algorithm>
#include <cstddef>

#include "engine/request.hpp"

namespace gorgo::engine {

void CpuEngine::evaluate(std::span<Request> requests, const Budget& budget) const {
  constexpr std::size_t kGroup = 8;  // requests whose cache misses overlap
  const auto evaluator = [](const Request& request) -> CpuEvaluator& {
    return static_cast<CpuEvaluator&>(*request.evaluator);
  };
  for (std::size_t first = 0; first < requests.size(); first += kGroup) {
    const auto group = requests.subspan(first, std::min(kGroup, requests.size() - first));
    for (const Request& request : group) evaluator(request).prefetch();
    for (Request& request : group) {
      carry_out(request, [&] {
        return evaluator(request).evaluate(request.terminators, *request.state, budget,
                                           *request.sink);
      });
    }
  }
}

}  // namespace gorgo::engine
