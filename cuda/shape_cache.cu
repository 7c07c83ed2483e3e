#include "cuda/shape_cache.cuh"

#include <cstdlib>

#include "cuda/nvrtc.hpp"
#include "cuda/workshop.hpp"

namespace gorgo::gpu {
namespace {

constexpr const char* kBodies[kKernelKinds] = {
    "Pick<gorgo::gpu::Shape, true>",   "Pick<gorgo::gpu::Shape, false>",
    "Select<gorgo::gpu::Shape, true>", "Select<gorgo::gpu::Shape, false>",
    "List<gorgo::gpu::Shape>",         "Reduce<gorgo::gpu::Shape>",
    "Sum<gorgo::gpu::Shape>"};

std::string name_of(KernelKind kind, Sent sent) {
  const char* const apart = kind == KernelKind::sum ? "apart_by_three" : "apart";
  return std::string("gorgo::gpu::") + (sent == Sent::along ? "along" : apart) +
         "<gorgo::gpu::" + kBodies[static_cast<std::size_t>(kind)] + ">";
}

Workshop& workshop();

/// Has the workshop stop when the process ends, so that nothing is compiled while NVRTC and the
/// driver take themselves down. Handlers of `atexit` run in the opposite order of their
/// registration, and those two register theirs when they first need something. So this is called
/// after every job.
void stop_workshop_at_exit() {
  std::atexit([] { workshop().stop(); });
}

/// The workshop that compiles kernels in the background. It lives as long as the process.
Workshop& workshop() {
  static auto* const workshop = [] {
    stop_workshop_at_exit();
    return new Workshop();
  }();
  return *workshop;
}

/// Compiles a kernel; null when that fails.
const void* compiled_kernel(const std::string& text, const std::string& name, int capability) {
  const nvrtc::Compiled compiled =
      nvrtc::compile("#include \"cuda/kernels.cuh\"\nnamespace gorgo::gpu {\n" + text + "}\n",
                     {&name, 1}, capability);
  cudaLibrary_t library = nullptr;  // lives as long as the process
  if (compiled.cubin.empty() ||
      cudaLibraryLoadData(&library, compiled.cubin.data(), nullptr, nullptr, 0, nullptr, nullptr,
                          0) != cudaSuccess) {
    return nullptr;
  }
  cudaKernel_t kernel = nullptr;
  if (cudaLibraryGetKernel(&kernel, library, compiled.names[0].c_str()) != cudaSuccess) {
    return nullptr;
  }
  return reinterpret_cast<const void*>(kernel);
}

/// Has NVRTC and the driver make, once, what they need when they first compile and load, which
/// takes some tenths of a second. Call it with a device as the current one.
void warm_up(int capability) {
  static const void* const kernel =
      compiled_kernel("struct Shape : OneTest<false> {};\n",
                      name_of(KernelKind::pick_newest, Sent::along), capability);
  static_cast<void>(kernel);
}

}  // namespace

ShapeCache::ShapeCache(int capability, Compile compile)
    : capability_(capability), compile_(nvrtc::version().empty() ? Compile::never : compile) {
  for (const ShapeKernels& kernels :
       {kernels_of<AnyShape>(), kernels_of<OneTest<false>>(), kernels_of<OneTest<true>>(),
        kernels_of<AnyShapeUnless>(), kernels_of<NoTest>()}) {
    state_->entries.push_back({.text = "", .kernels = kernels});
  }
  if (compile_ == Compile::in_background) warm_up(capability);
}

std::uint32_t ShapeCache::number(const std::string& text, std::uint32_t meanwhile) {
  if (compile_ == Compile::never) return meanwhile;
  const std::lock_guard lock(state_->mutex);
  const auto next = static_cast<std::uint32_t>(state_->entries.size());
  const auto [it, is_new] = state_->numbers.emplace(text, next);
  if (is_new) {
    state_->entries.push_back({.text = text, .meanwhile = meanwhile});
    ++state_->counters.shapes;
  }
  return it->second;
}

const void* ShapeCache::kernel(std::uint32_t shape, KernelKind kind, Sent sent) {
  const std::size_t index = index_of(kind, sent);
  std::unique_lock lock(state_->mutex);
  Entry& entry = state_->entries[shape];  // a deque never moves it
  const void*& own = entry.kernels[index];
  if (own == nullptr && !entry.wanted[index]) {
    entry.wanted[index] = true;
    ++state_->counters.ordered;
    lock.unlock();
    const auto job = [state = state_, capability = capability_, shape, kind, sent] {
      compile(*state, capability, shape, kind, sent);
    };
    if (compile_ == Compile::at_once) {
      job();
    } else {
      workshop().order([job] {
        job();
        stop_workshop_at_exit();
      });
    }
    lock.lock();
  }
  if (own == nullptr && compile_ == Compile::at_once) {
    state_->was_tried.wait(lock, [&] { return entry.tried[index]; });
  }
  return own != nullptr ? own : state_->entries[entry.meanwhile].kernels[index];
}

ShapeCounters ShapeCache::counters() const {
  const std::lock_guard lock(state_->mutex);
  return state_->counters;
}

void ShapeCache::compile(State& state, int capability, std::uint32_t shape, KernelKind kind,
                         Sent sent) {
  std::unique_lock lock(state.mutex);
  Entry& entry = state.entries[shape];
  lock.unlock();
  const void* const kernel = compiled_kernel(entry.text, name_of(kind, sent), capability);
  lock.lock();
  entry.kernels[index_of(kind, sent)] = kernel;
  entry.tried[index_of(kind, sent)] = true;
  state.was_tried.notify_all();
  --state.counters.ordered;
  ++(kernel != nullptr ? state.counters.compiled : state.counters.failed);
}

}  // namespace gorgo::gpu
