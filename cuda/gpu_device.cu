#include <algorithm>
#include <map>
#include <mutex>

#include "cuda/gpu_channel.cuh"

namespace gorgo::gpu {
namespace {

/// GPUs of a kind have their shapes compiled once.
std::shared_ptr<ShapeCache> shared_shapes(int capability, Compile compile) {
  static std::mutex mutex;
  static std::map<std::pair<int, Compile>, std::weak_ptr<ShapeCache>> known;
  const std::lock_guard lock(mutex);
  auto& shared = known[{capability, compile}];
  auto shapes = shared.lock();
  if (!shapes) shared = shapes = std::make_shared<ShapeCache>(capability, compile);
  return shapes;
}

/// One GPU.
class GpuDevice final : public Device {
 public:
  GpuDevice(std::uint32_t index, int capability, const DeviceOptions& options)
      : parts_{.index = static_cast<int>(index),
               .page_shift = options.page_shift,
               .pages = static_cast<std::uint32_t>((options.bytes / sizeof(std::uint64_t)) >>
                                                   options.page_shift),
               .shapes = nullptr} {
    parts_.use();
    parts_.shapes = shared_shapes(capability, options.compile);
    parts_.arena.reserve_exactly(std::size_t{parts_.pages} << parts_.page_shift);
    parts_.copies.open();
    // Small rounds have the first channel for themselves, so only that one sends them along.
    for (std::uint32_t i = 0; i < options.channels; ++i) {
      channels_.push_back(std::make_unique<GpuChannel>(parts_, i == 0, i == 0 && options.along));
    }
  }
  ~GpuDevice() override { cudaSetDevice(parts_.index); }
  GpuDevice(const GpuDevice&) = delete;
  GpuDevice& operator=(const GpuDevice&) = delete;

  std::uint32_t number() const override { return static_cast<std::uint32_t>(parts_.index); }
  std::uint32_t page_shift() const override { return parts_.page_shift; }
  std::uint32_t pages() const override { return parts_.pages; }
  std::uint32_t channels() const override { return static_cast<std::uint32_t>(channels_.size()); }
  Channel& channel(std::uint32_t number) override { return *channels_[number]; }
  std::uint32_t add_shape(const std::string& text, std::uint32_t meanwhile) override {
    return parts_.shapes->number(text, meanwhile);
  }
  ShapeCounters shapes() const override { return parts_.shapes->counters(); }

  void write(std::uint32_t page, std::uint32_t offset,
             std::span<const std::uint64_t> words) override {
    parts_.use();
    channels_[0]->write(page, offset, words);
  }

  void publish() override {
    parts_.use();
    const cudaEvent_t published = channels_[0]->publish();
    for (std::size_t i = 1; i < channels_.size(); ++i) channels_[i]->wait_for(published);
    // What is being written to a page may be out of use when another page is fetched into its
    // place, so copies wait.
    parts_.copies.wait_for(published);
  }

  std::uint64_t* pin(std::size_t words) override {
    parts_.use();
    pinned_.emplace_back(std::make_unique<PinnedArray<std::uint64_t>>())->reserve_exactly(words);
    return pinned_.back()->data();
  }

  std::uint64_t fetch(std::span<const Fetch> pages) override {
    parts_.use();
    channels_[0]->guarded([&] {
      const bool again = std::any_of(pages.begin(), pages.end(), [&](const Fetch& page) {
        return channels_[0]->writes(page.page);
      });
      if (again) channels_[0]->flush();
      parts_.copies.start(pages, parts_.arena.data(), parts_.page_shift);
    });
    counters_.fetched += (pages.size() * sizeof(std::uint64_t)) << parts_.page_shift;
    return parts_.copies.started();
  }

 private:
  GpuParts parts_;
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
