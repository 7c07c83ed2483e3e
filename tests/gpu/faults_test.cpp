#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <random>
#include <sstream>

#include "break_gpu.hpp"
#include "cuda/device.hpp"
#include "engine/cuda/options.hpp"
#include "gorgo/device.hpp"
#include "gorgo/processor.hpp"

// What real failures of a GPU do. Without one there is nothing to break, and the tests are skipped.
namespace gorgo {
namespace {

using ::testing::HasSubstr;

constexpr const char* kRules =
    "event A(k: int, v: int); event B(k: int, v: int);\n"
    "rule last: define L(k: int, v: int) from A(k = $k) and last B(k = $k, v > A.v)"
    " within 500 from A where k = A.k, v = B.v;\n"
    "rule once: define O(k: int, v: int) from A(k = $k) and last B(k = $k) within 500 from A"
    " where k = A.k, v = B.v consuming B;\n";

/// A processor on the GPU and one beside it that never sees one.
class GpuFaults : public ::testing::Test {
 protected:
  void SetUp() override {
    if (gpu::describe_gpus().front().name.empty()) GTEST_SKIP() << "this machine has no GPU";
    engine::set_cuda_options({.devices = {0}, .memory = std::uint64_t{64} << 20, .least_pairs = 0});
    on_gpu_.emplace(ProcessorOptions{.engine = "cuda"});
    on_cpu_.emplace(ProcessorOptions{.engine = "column"});
    for (Processor* processor : {&*on_gpu_, &*on_cpu_}) {
      ASSERT_FALSE(processor->deploy("rules.tesla", kRules).failed());
    }
  }

  /// So many events go through both, which must agree.
  void process(int events) {
    for (int i = 0; i < events; ++i) {
      const char* type = random_() % 4 == 0 ? "A" : "B";
      const auto below = [&](unsigned n) { return static_cast<std::int64_t>(random_() % n); };
      const Event event{type, ++now_ * 1'000'000, {{"k", below(50)}, {"v", below(100)}}};
      ASSERT_FALSE(on_gpu_->append(event).has_error());
      ASSERT_FALSE(on_cpu_->append(event).has_error());
    }
    EXPECT_EQ(outputs(*on_gpu_), outputs(*on_cpu_));
  }

  static DeviceInfo device() {
    for (const DeviceInfo& info : devices()) {
      if (info.engine == "cuda") return info;
    }
    return {};
  }
  static std::uint64_t rounds() {
    for (const auto& counter : device().counters) {
      if (counter.name == "rounds") return counter.value;
    }
    return 0;
  }

 private:
  static std::string outputs(Processor& processor) {
    std::ostringstream lines;
    processor.process([&](const OutputBatch& batch) {
      for (const auto& row : batch.rows) {
        lines << row.place.root << "." << row.place.ordinal << " " << batch.type_name(row);
        batch.for_each_attribute(row, [&](std::string_view name, const Datum& value) {
          lines << " " << name << "=" << value.integer;
        });
        lines << "\n";
      }
    });
    return lines.str();
  }

  std::optional<Processor> on_gpu_, on_cpu_;  // made when the options are set
  std::mt19937 random_{1};
  Timestamp now_ = 0;
};

TEST_F(GpuFaults, WithoutMemoryABatchGoesToTheCpuAndTheNextDoesNot) {
  process(1000);
  EXPECT_GT(rounds(), 0u);
  EXPECT_EQ(device().failures, 0u);
  {
    const testing::AllMemory all;
    process(200'000);  // far more than there was room for
  }
  EXPECT_GT(device().failures, 0u);
  EXPECT_THAT(device().failure, HasSubstr("out of memory"));
  EXPECT_THAT(device().failed_on, HasSubstr("terminators of"));
  EXPECT_EQ(device().problem, "");
  const std::uint64_t before = rounds(), failures = device().failures;
  process(1000);
  EXPECT_GT(rounds(), before);
  EXPECT_EQ(device().failures, failures);
}

TEST_F(GpuFaults, AfterATrapTheDeviceIsOutOfUse) {
  process(1000);
  EXPECT_EQ(device().problem, "");
  testing::trap_gpu();
  for (int i = 0; i < 5; ++i) process(1000);
  EXPECT_NE(device().problem, "");
  std::printf("out of use: %s\n", device().problem.c_str());
  const std::uint64_t before = rounds();
  process(1000);
  EXPECT_EQ(rounds(), before);
}

}  // namespace
}  // namespace gorgo
