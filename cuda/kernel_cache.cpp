#include "cuda/kernel_cache.hpp"

#include <cuda_runtime.h>

#include <cstdlib>

#include "cuda/compiler_thread.hpp"
#include "cuda/nvrtc.hpp"
#include "cuda/profiling.hpp"

namespace gorgo::gpu {
namespace {

constexpr const char* kBodies[kKernelKinds] = {"SelectOne<gorgo::gpu::Shape, true>",
                                               "SelectOne<gorgo::gpu::Shape, false>",
                                               "SelectSeveral<gorgo::gpu::Shape, true>",
                                               "SelectSeveral<gorgo::gpu::Shape, false>",
                                               "SelectAll<gorgo::gpu::Shape>",
                                               "Reduce<gorgo::gpu::Shape>",
                                               "Sum<gorgo::gpu::Shape>"};

std::string expression_of(KernelKind kind, LaunchMode mode) {
  const char* const separate = kind == KernelKind::sum ? "separate_three_blocks" : "separate";
  return std::string("gorgo::gpu::") + (mode == LaunchMode::fused ? "fused" : separate) +
         "<gorgo::gpu::" + kBodies[static_cast<std::size_t>(kind)] + ">";
}

CompilerThread& compiler_thread();

/// Has the compiler thread stop when the process ends, so that nothing is compiled while NVRTC and
/// the driver take themselves down. Handlers of `atexit` run in the opposite order of their
/// registration, and those two register theirs when they first need something. So this is called
/// after every job.
void stop_compiler_thread_at_exit() {
  std::atexit([] { compiler_thread().stop(); });
}

/// It lives as long as the process.
CompilerThread& compiler_thread() {
  static auto* const thread = [] {
    stop_compiler_thread_at_exit();
    return new CompilerThread();
  }();
  return *thread;
}

/// Loads the one kernel that was compiled; null when that fails.
const void* loaded_kernel(const nvrtc::Compiled& compiled) {
  cudaLibrary_t library = nullptr;  // lives as long as the process
  cudaKernel_t kernel = nullptr;
  if (cudaLibraryLoadData(&library, compiled.cubin.data(), nullptr, nullptr, 0, nullptr, nullptr,
                          0) != cudaSuccess ||
      cudaLibraryGetKernel(&kernel, library, compiled.names[0].c_str()) != cudaSuccess) {
    cudaGetLastError();  // so that no launch of this thread seems to have failed
    return nullptr;
  }
  return reinterpret_cast<const void*>(kernel);
}

/// Compiles a kernel; null when that fails.
const void* compiled_kernel(const std::string& text, const std::string& name, int capability) {
  const ProfiledRange range("compile kernel");
  const nvrtc::Compiled compiled =
      nvrtc::compile("#include \"cuda/kernels.cuh\"\nnamespace gorgo::gpu {\n" + text + "}\n",
                     {&name, 1}, capability);
  return compiled.cubin.empty() ? nullptr : loaded_kernel(compiled);
}

/// Has NVRTC and the driver make, once, what they need when they first compile and load, which
/// takes some tenths of a second. Call it with a device as the current one.
void warm_up(int capability) {
  static const void* const kernel =
      compiled_kernel("struct Shape : OneTest<false> {};\n",
                      expression_of(KernelKind::select_one_newest, LaunchMode::fused), capability);
  static_cast<void>(kernel);
}

}  // namespace

KernelCache::KernelCache(int capability, Compile compile)
    : capability_(capability), compile_(nvrtc::version().empty() ? Compile::never : compile) {
  for (const KernelTable& kernels : built_in_kernels()) {
    state_->entries.push_back({.text = "", .kernels = kernels});
  }
  if (compile_ == Compile::in_background) warm_up(capability);
}

std::uint32_t KernelCache::number(const std::string& text, std::uint32_t fallback) {
  if (compile_ == Compile::never) return fallback;
  const std::lock_guard lock(state_->mutex);
  const auto next = static_cast<std::uint32_t>(state_->entries.size());
  const auto [it, is_new] = state_->numbers.emplace(text, next);
  if (is_new) {
    state_->entries.push_back({.text = text, .fallback = fallback});
    ++state_->counters.shapes;
  }
  return it->second;
}

const void* KernelCache::kernel(std::uint32_t shape, KernelKind kind, LaunchMode mode) {
  const std::size_t index = index_of(kind, mode);
  std::unique_lock lock(state_->mutex);
  Entry& entry = state_->entries[shape];  // a deque never moves it
  const void*& kernel = entry.kernels[index];
  if (kernel == nullptr && !entry.requested[index]) {
    entry.requested[index] = true;
    ++state_->counters.requested;
    lock.unlock();
    request(shape, kind, mode);
    lock.lock();
  }
  if (kernel == nullptr && compile_ == Compile::at_once) {
    state_->was_finished.wait(lock, [&] { return entry.finished[index]; });
  }
  return kernel != nullptr ? kernel : state_->entries[entry.fallback].kernels[index];
}

void KernelCache::request(std::uint32_t shape, KernelKind kind, LaunchMode mode) {
  const auto job = [state = state_, capability = capability_, shape, kind, mode] {
    compile(*state, capability, shape, kind, mode);
  };
  if (compile_ == Compile::at_once) return job();
  compiler_thread().submit([job] {
    job();
    stop_compiler_thread_at_exit();
  });
}

ShapeCounters KernelCache::counters() const {
  const std::lock_guard lock(state_->mutex);
  return state_->counters;
}

void KernelCache::compile(State& state, int capability, std::uint32_t shape, KernelKind kind,
                          LaunchMode mode) {
  std::unique_lock lock(state.mutex);
  Entry& entry = state.entries[shape];
  lock.unlock();
  const void* const kernel = compiled_kernel(entry.text, expression_of(kind, mode), capability);
  lock.lock();
  entry.kernels[index_of(kind, mode)] = kernel;
  entry.finished[index_of(kind, mode)] = true;
  state.was_finished.notify_all();
  --state.counters.requested;
  ++(kernel != nullptr ? state.counters.compiled : state.counters.failed);
}

}  // namespace gorgo::gpu
