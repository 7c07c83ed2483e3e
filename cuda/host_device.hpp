#pragma once

#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "cuda/delta.hpp"
#include "cuda/device.hpp"

namespace gorgo::cuda {

/// Runs rounds on the CPU, by the functions that the kernels consist of: what the kernels decide
/// can be tested where there is no GPU.
class HostDevice final : public Device {
 public:
  explicit HostDevice(const DeviceOptions& options, std::uint32_t number = 0);

  std::uint32_t number() const override { return number_; }
  std::uint32_t page_shift() const override { return page_shift_; }
  std::uint32_t pages() const override { return pages_; }
  void write(std::uint32_t page, std::uint32_t offset,
             std::span<const std::uint64_t> words) override;
  std::uint64_t* pin(std::size_t words) override;
  std::uint64_t fetch(std::span<const Fetch> pages) override;
  /// Searches no earlier than `finish`, so that tests notice who overwrites pages in between.
  void start(const Round& round) override;
  Answers finish() override;
  std::uint32_t add_shape(const std::string& text, std::uint32_t meanwhile) override;

  /// `finds` for a shape, compiled from its text; null when that fails.
  using Finds = bool (*)(const View&, const Scan&, const Search&, std::uint64_t position);
  using CompileShape = std::function<Finds(const std::string& text)>;
  /// Has shapes that are added from now on compiled; without it they are taken for any.
  void compile_shapes(CompileShape compile) { compile_shape_ = std::move(compile); }

 private:
  void write_delta();
  void select(const Round& round);
  void select(const Search& search, bool newest, std::vector<std::uint32_t>& counts);
  void list(const Round& round);
  void reduce(const Round& round);
  void sum(const Round& round);

  std::uint32_t number_;
  std::uint32_t page_shift_;
  std::uint32_t pages_;
  std::unique_ptr<std::uint64_t[]> arena_;
  CompileShape compile_shape_;
  std::map<std::string, std::uint32_t> shape_numbers_;
  std::vector<Finds> shapes_;
  Delta delta_;
  std::vector<std::uint64_t> staging_;
  std::vector<std::unique_ptr<std::uint64_t[]>> pinned_;
  const Round* round_ = nullptr;  // under way
  View view_;
  std::vector<std::uint32_t> oldest_, newest_, selected_, listed_;
  std::vector<std::uint64_t> every_;
  std::vector<Reduction> reductions_;
  std::vector<FloatSum> sums_;
};

}  // namespace gorgo::cuda
