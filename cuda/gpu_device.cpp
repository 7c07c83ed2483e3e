#include <algorithm>
#include <map>
#include <mutex>

#include "cuda/gpu_channel.hpp"

namespace gorgo::gpu {
namespace {

/// GPUs of a kind have their shapes compiled once.
std::shared_ptr<KernelCache> shared_kernels(int capability, Compile compile) {
  static std::mutex mutex;
  static std::map<std::pair<int, Compile>, std::weak_ptr<KernelCache>> known;
  const std::lock_guard lock(mutex);
  auto& shared = known[{capability, compile}];
  auto kernels = shared.lock();
  if (!kernels) shared = kernels = std::make_shared<KernelCache>(capability, compile);
  return kernels;
}

/// One GPU.
class GpuDevice final : public Device {
 public:
  GpuDevice(std::uint32_t index, int capability, const DeviceOptions& options)
      : shared_{.index = static_cast<int>(index),
                .page_shift = options.page_shift,
                .pages = static_cast<std::uint32_t>((options.bytes / sizeof(std::uint64_t)) >>
                                                    options.page_shift),
                .kernels = nullptr} {
    shared_.use();
    shared_.kernels = shared_kernels(capability, options.compile);
    shared_.arena.reserve_exactly(std::size_t{shared_.pages} << shared_.page_shift);
    shared_.fetcher.open();
    // Small rounds have the first channel for themselves, so only that one fuses them.
    for (std::uint32_t i = 0; i < options.channels; ++i) {
      channels_.push_back(
          std::make_unique<GpuChannel>(shared_, i == 0, i == 0 && options.fused_uploads));
    }
  }
  ~GpuDevice() override { cudaSetDevice(shared_.index); }
  GpuDevice(const GpuDevice&) = delete;
  GpuDevice& operator=(const GpuDevice&) = delete;

  std::uint32_t number() const override { return static_cast<std::uint32_t>(shared_.index); }
  std::uint32_t page_shift() const override { return shared_.page_shift; }
  std::uint32_t pages() const override { return shared_.pages; }
  std::uint32_t channels() const override { return static_cast<std::uint32_t>(channels_.size()); }
  Channel& channel(std::uint32_t number) override { return *channels_[number]; }
  std::uint32_t add_shape(const std::string& text, std::uint32_t fallback) override {
    return shared_.kernels->number(text, fallback);
  }
  ShapeCounters shapes() const override { return shared_.kernels->counters(); }

  void write(std::uint32_t page, std::uint32_t offset,
             std::span<const std::uint64_t> words) override {
    shared_.use();
    channels_[0]->write(page, offset, words);
  }

  void publish() override {
    shared_.use();
    const cudaEvent_t published = channels_[0]->publish();
    for (std::size_t i = 1; i < channels_.size(); ++i) channels_[i]->wait_for(published);
    // A page that is being written may be out of use when another page is fetched into its place,
    // so copies wait.
    shared_.fetcher.wait_for(published);
  }

  std::uint64_t* pin(std::size_t words) override {
    shared_.use();
    pinned_.emplace_back(std::make_unique<PinnedArray<std::uint64_t>>())->reserve_exactly(words);
    return pinned_.back()->data();
  }

  std::uint64_t fetch(std::span<const Fetch> pages) override {
    shared_.use();
    channels_[0]->guarded([&] {
      const bool again = std::any_of(pages.begin(), pages.end(), [&](const Fetch& page) {
        return channels_[0]->touches(page.page);
      });
      if (again) channels_[0]->flush();
      shared_.fetcher.start(pages, shared_.arena.data(), shared_.page_shift);
    });
    counters_.fetched += (pages.size() * sizeof(std::uint64_t)) << shared_.page_shift;
    return shared_.fetcher.started();
  }

 private:
  GpuResources shared_;
  std::vector<std::unique_ptr<GpuChannel>> channels_;
  std::vector<std::unique_ptr<PinnedArray<std::uint64_t>>> pinned_;
};

}  // namespace

std::unique_ptr<Device> open_gpu(std::uint32_t index, const DeviceOptions& options) {
  const auto gpus = describe_gpus();
  if (index >= gpus.size()) {
    throw DeviceError("this machine has no GPU " + std::to_string(index) + "; the last is " +
                          std::to_string(gpus.size() - 1),
                      true);
  }
  if (gpus[index].name.empty()) throw DeviceError(gpus[index].unavailable, true);
  return std::make_unique<GpuDevice>(index, gpus[index].capability, options);
}

}  // namespace gorgo::gpu
