#include "gorgo/device.hpp"

#include <algorithm>

#include "engine/cuda/cuda.hpp"

namespace gorgo {
namespace engine {
namespace {

DeviceInfo info_of(DeviceContext& context) {
  DeviceInfo info{.problem = context.problem()};
  const DeviceContext::Failure failure = context.last_failure();
  info.failures = failure.count;
  info.failure = failure.what;
  info.failed_on = failure.during;
  const std::lock_guard lock(context.mutex());
  info.number = context.device().number();
  const gpu::DeviceCounters& did = context.device().counters();
  const PageCounters& pages = context.pages().counters();
  const gpu::ShapeCounters shapes = context.device().shapes();
  info.counters = {{"rounds", did.rounds},
                   {"searches", did.searches},
                   {"bytes uploaded with rounds", did.uploaded},
                   {"bytes fetched beside them", did.fetched},
                   {"pages", context.device().pages()},
                   {"pages in use", context.pages().in_use()},
                   {"page hits", pages.hits},
                   {"pages uploaded", pages.uploaded},
                   {"pages swapped in", pages.swapped_in},
                   {"pages prefetched", pages.prefetched},
                   {"pages swapped out", pages.swapped_out},
                   {"shapes", shapes.shapes},
                   {"shapes compiled", shapes.compiled},
                   {"shapes not compiled", shapes.failed}};
  return info;
}

}  // namespace

std::vector<DeviceInfo> CudaEngine::devices() const {
  std::vector<std::shared_ptr<DeviceContext>> contexts;
  std::vector<DeviceInfo> list;
  {
    const std::lock_guard lock(mutex_);
    if (is_at_fault_) list.push_back({.problem = unavailable_});
    for (const LeftOut& device : left_out_) {
      list.push_back({.number = device.number, .problem = device.problem});
    }
    contexts = contexts_;
  }
  for (const auto& context : contexts) list.push_back(info_of(*context));
  std::ranges::stable_sort(list, {}, &DeviceInfo::number);
  for (DeviceInfo& info : list) info.engine = name_;
  return list;
}

std::uint64_t CudaEngine::failures() const {
  const std::lock_guard lock(mutex_);
  std::uint64_t count = left_out_.size() + (is_at_fault_ ? 1 : 0);
  for (const auto& context : contexts_) count += context->last_failure().count;
  return count;
}

}  // namespace engine

std::vector<DeviceInfo> devices() {
  auto list = engine::cuda_engine().devices();
  for (DeviceInfo& info : engine::cuda_host_engine().devices()) list.push_back(std::move(info));
  return list;
}

std::uint64_t device_failures() {
  return engine::cuda_engine().failures() + engine::cuda_host_engine().failures();
}

}  // namespace gorgo
