#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cuda/delta.hpp"
#include "cuda/device.hpp"

namespace gorgo::gpu {

/// What the channels of a HostDevice share.
struct HostResources {
  /// `finds` for a shape, compiled from its text; null when that fails.
  using Finds = bool (*)(const View&, const Scan&, const Search&, std::uint64_t position);

  HostResources(std::uint32_t shift, std::uint32_t count);
  void write_delta();

  const std::uint32_t page_shift;
  const std::uint32_t pages;
  std::unique_ptr<std::uint64_t[]> arena;
  std::vector<Finds> shapes;
  Delta delta;
  std::vector<std::uint64_t> staging;
};

class HostChannel final : public Channel {
 public:
  /// `shared` outlives the channel. `first`: its rounds see what is written.
  HostChannel(HostResources& shared, bool first) : shared_(shared), is_first_(first) {}

  /// Only `finish` searches, so that tests notice who overwrites pages in between.
  void start(const Round& round) override;
  Answers finish() override;

 private:
  void select(const Round& round);
  void select(const Search& search, bool newest, std::vector<std::uint32_t>& counts);
  void list(const Round& round);
  void reduce(const Round& round);
  void sum(const Round& round);
  bool finds(const Search& search, std::uint64_t position) const {
    const Scan& scan = view_.scans[search.scan];
    return shared_.shapes[scan.shape](view_, scan, search, position);
  }

  HostResources& shared_;
  const bool is_first_;
  const Round* round_ = nullptr;  // under way
  View view_;
  std::vector<std::uint32_t> oldest_, newest_, selected_, listed_;
  std::vector<std::uint64_t> every_;
  std::vector<Reduction> reductions_;
  std::vector<FloatSum> sums_;
};

/// Runs rounds on the CPU, by the functions that the kernels consist of: what the kernels decide
/// can be tested where there is no GPU.
class HostDevice final : public Device {
 public:
  explicit HostDevice(const DeviceOptions& options, std::uint32_t number = 0);

  std::uint32_t number() const override { return number_; }
  std::uint32_t page_shift() const override { return shared_.page_shift; }
  std::uint32_t pages() const override { return shared_.pages; }
  std::uint32_t channels() const override { return static_cast<std::uint32_t>(channels_.size()); }
  Channel& channel(std::uint32_t number) override { return channels_[number]; }
  void write(std::uint32_t page, std::uint32_t offset,
             std::span<const std::uint64_t> words) override;
  void publish() override { shared_.write_delta(); }
  std::uint64_t* pin(std::size_t words) override;
  std::uint64_t fetch(std::span<const Fetch> pages) override;
  std::uint32_t add_shape(const std::string& text, std::uint32_t fallback) override;

  using Finds = HostResources::Finds;
  using CompileShape = std::function<Finds(const std::string& text)>;
  /// Sets what compiles shapes that are added later. Without it they are tested as `fallback`
  /// says.
  void compile_shapes(CompileShape compile) { compile_shape_ = std::move(compile); }

 private:
  std::uint32_t number_;
  HostResources shared_;
  std::deque<HostChannel> channels_;
  CompileShape compile_shape_;
  std::map<std::string, std::uint32_t> shape_numbers_;
  std::vector<std::unique_ptr<std::uint64_t[]>> pinned_;
  std::uint64_t fetches_ = 0;
};

}  // namespace gorgo::gpu
