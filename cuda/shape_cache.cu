#include "cuda/shape_cache.cuh"

#include "cuda/nvrtc.hpp"

namespace gorgo::cuda {
namespace {

constexpr const char* kNames[kKernelKinds] = {
    "gorgo::cuda::pick<gorgo::cuda::Shape, true>",
    "gorgo::cuda::pick<gorgo::cuda::Shape, false>",
    "gorgo::cuda::select<gorgo::cuda::Shape, true>",
    "gorgo::cuda::select<gorgo::cuda::Shape, false>",
    "gorgo::cuda::list<gorgo::cuda::Shape>",
    "gorgo::cuda::reduce<gorgo::cuda::Shape>",
    "gorgo::cuda::sum<gorgo::cuda::Shape>"};

std::size_t index(KernelKind kind) { return static_cast<std::size_t>(kind); }

}  // namespace

ShapeCache::ShapeCache(int capability, Compile compile)
    : capability_(capability), compile_(nvrtc::version().empty() ? Compile::never : compile) {
  entries_.push_back({.text = "", .kernels = kernels_of<AnyShape>()});
  entries_.push_back({.text = "", .kernels = kernels_of<OneTest<false>>()});
  entries_.push_back({.text = "", .kernels = kernels_of<OneTest<true>>()});
  if (compile_ == Compile::in_background) {
    worker_ = std::jthread([this](const std::stop_token& stop) { work(stop); });
  }
}

std::uint32_t ShapeCache::number(const std::string& text) {
  if (compile_ == Compile::never) return kAnyShape;
  const std::lock_guard lock(mutex_);
  const auto next = static_cast<std::uint32_t>(entries_.size());
  const auto [it, is_new] = numbers_.emplace(text, next);
  if (is_new) {
    entries_.push_back({.text = text});
    ++counters_.shapes;
  }
  return it->second;
}

const void* ShapeCache::kernel(std::uint32_t shape, KernelKind kind) {
  std::unique_lock lock(mutex_);
  Entry& entry = entries_[shape];
  if (entry.kernels[index(kind)] == nullptr && !entry.wanted[index(kind)]) {
    entry.wanted[index(kind)] = true;
    if (compile_ == Compile::at_once) {
      fulfil({shape, kind}, lock);
    } else {
      orders_.push_back({shape, kind});
      ordered_.notify_one();
    }
  }
  const void* const own = entry.kernels[index(kind)];
  return own != nullptr ? own : entries_[kAnyShape].kernels[index(kind)];
}

ShapeCounters ShapeCache::counters() const {
  const std::lock_guard lock(mutex_);
  return counters_;
}

void ShapeCache::work(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  while (ordered_.wait(lock, stop, [&] { return !orders_.empty(); }) && !stop.stop_requested()) {
    const Order order = orders_.front();
    orders_.pop_front();
    fulfil(order, lock);
  }
}

void ShapeCache::fulfil(const Order& order, std::unique_lock<std::mutex>& lock) {
  const std::string& text = entries_[order.shape].text;  // stays
  lock.unlock();
  const void* const kernel = compile(text, order.kind);
  lock.lock();
  entries_[order.shape].kernels[index(order.kind)] = kernel;
  ++(kernel != nullptr ? counters_.compiled : counters_.failed);
}

const void* ShapeCache::compile(const std::string& text, KernelKind kind) const {
  const std::string name = kNames[index(kind)];
  const nvrtc::Compiled compiled = nvrtc::compile(
      "#include \"cuda/kernels.cuh\"\nnamespace gorgo::cuda {\n" + text + "}\n", {&name, 1},
      capability_);
  cudaLibrary_t library = nullptr;  // stays for as long as the process
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

}  // namespace gorgo::cuda
