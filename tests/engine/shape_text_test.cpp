#include "engine/cuda/shape_text.hpp"

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <map>
#include <random>

#include "cuda/host_device.hpp"
#include "cuda/nvrtc.hpp"
#include "engine/cuda/cuda.hpp"
#include "engine/reference/reference.hpp"
#include "evaluation_of.hpp"

namespace gorgo::engine {
namespace {

/// Rules whose scans have shapes of their own: several tests, arithmetic of both kinds and across
/// them, logic, strings, aggregates, negations.
std::vector<std::string> rules() {
  const auto rule = [](const std::string& condition, const std::string& selection = "each") {
    return "define O(k: int, v: float) from A() and " + selection + " B(" + condition +
           ") within 400 from A where k = B.k, v = B.v;";
  };
  return {
      rule("k = A.k, v < A.v, s != A.s"),
      rule("(v - A.v) * (v - A.v) + (k - A.k) * (k - A.k) < 0.5"),
      rule("k * A.k < 6 and v / A.v > 0.25 or s = A.s", "last"),
      rule("9223372036854775807 - k * A.k > 9223372036854775805 - A.k * 3"),
      rule("k / A.k = 1 or not (k - 3 < A.k)", "first"),
      rule("v = A.k or k > A.v or -v * 3.0 < A.k - 4", "3-last"),
      rule("k * 3.0 < A.v and k * 1.0 > A.v - 2.0"),
      "define O(n: int, w: float, m: float) from A() where "
      "n = Sum(B(k + A.k > 3, v < A.v).k within 400 from A), "
      "w = Avg(B(v * v < A.v).v within 400 from A), "
      "m = Min(B(v * 2.0 > A.v, k != A.k).v within 400 from A);",
      "define O(s: float, a: float) from A() where "
      "s = Sum(B(v < A.v or v >= A.v).v within 60 from A), "
      "a = Avg(B(k - 5 < A.k).v within 25 from A);",
      "define O(k: int) from A() and last B(k = A.k, v > A.v - 0.7) within 400 from A "
      "and not C(k * A.k > 4, v < B.v) between B and A where k = B.k;",
      "define O(k: int) from A() and each B() within 60 from A and not C(k = B.k, s = B.s) "
      "between B and A and not C() within 2 from B where k = B.k;",
      "define O(k: int) from A(k = $k) and last B(k = $k) within 400 from A where k = B.k "
      "consuming B;",
      rule("s < A.s, k < A.k"),
      rule("s contains A.s or not (A.s >= s)", "3-last"),
      "define O(k: int) from A() and last C() within 90 from A and each B(s >= A.s, C.s > s) "
      "within 90 from A where k = B.k;",
      "define O(k: int) from A() and each B(k != A.k, s >= A.s) within 90 from A "
      "and not C(s > B.s) within 4 from B and not C(B.s contains s, A.s >= B.s) within 3 from B "
      "where k = B.k;",
  };
}

/// Batches of events of the types that the rule reads.
std::vector<std::vector<TestEvent>> stream_for(const std::string& rule) {
  const bool with_c = rule.find("C(") != rule.npos;
  std::mt19937 random(7);
  const auto below = [&](int n) { return static_cast<std::int64_t>(random() % n); };
  const auto number = [&]() -> double {
    constexpr double kOdd[] = {0.0, -0.0, 1e308, -1e308, 5e-324, 1.0, 2.0, 3.0};
    if (below(10) > 0) return static_cast<double>(below(100)) / 32 - 0.5;
    return below(4) == 0 ? std::numeric_limits<double>::quiet_NaN() : kOdd[below(8)];
  };
  std::vector<std::vector<TestEvent>> batches(3);
  Timestamp now = 0;
  for (auto& batch : batches) {
    for (int i = 0; i < 150; ++i) {
      now += 1'000'000;
      const char* type = i % 10 == 9 ? "A" : with_c && below(3) == 0 ? "C" : "B";
      batch.push_back({.type = type,
                       .timestamp = now,
                       .k = below(7) - 1,
                       .v = number(),
                       .s = std::string(static_cast<std::size_t>(below(2) * 9), 'b') +
                            static_cast<char>('a' + below(3))});
    }
  }
  return batches;
}

/// Compiles shapes with the compiler that this was built with.
class Shapes {
 public:
  Shapes() {
    std::string folder = testing::TempDir() + "gorgo-shapes-XXXXXX";
    EXPECT_NE(mkdtemp(folder.data()), nullptr);
    folder_ = folder;
  }
  ~Shapes() { std::filesystem::remove_all(folder_); }
  Shapes(const Shapes&) = delete;
  Shapes& operator=(const Shapes&) = delete;

  gpu::HostDevice::Finds compile(const std::string& text) {
    texts_.push_back(text);
    const std::string base = folder_ / std::to_string(texts_.size());
    std::ofstream(base + ".cpp") << "#include \"cuda/negation.hpp\"\nnamespace gorgo::gpu {\n"
                                 << text
                                 << "extern \"C\" bool found(const View& view, const Scan& scan,\n"
                                    "    const Search& search, std::uint64_t position) {\n"
                                    "  return finds<Shape>(view, scan, search, position);\n"
                                    "}\n}\n";
    const std::string command = std::string(GORGO_CXX) + " -std=c++20 -O1 -ffp-contract=off " +
                                "-shared -fPIC " + GORGO_INCLUDES + " -o " + base + ".so " + base +
                                ".cpp";
    EXPECT_EQ(std::system(command.c_str()), 0) << text;
    void* const library = dlopen((base + ".so").c_str(), RTLD_NOW | RTLD_LOCAL);
    EXPECT_NE(library, nullptr) << dlerror();
    if (library == nullptr) return nullptr;
    return reinterpret_cast<gpu::HostDevice::Finds>(dlsym(library, "found"));
  }

  const std::vector<std::string>& texts() const { return texts_; }

 private:
  std::filesystem::path folder_;
  std::vector<std::string> texts_;
};

/// The engine on a device that tests events by compiled shapes.
std::vector<std::string> by_shapes(Shapes& shapes, const std::string& rule) {
  const CudaEngine engine(
      "shapes",
      [&] {
        auto device = std::make_unique<gpu::HostDevice>(
            gpu::DeviceOptions{.bytes = 1 << 20, .page_shift = 5});
        device->compile_shapes([&](const std::string& text) { return shapes.compile(text); });
        CudaEngine::Devices devices;
        devices.push_back(std::move(device));
        return devices;
      },
      [] { return std::vector<std::string>(); }, {});
  return evaluation_of(engine, kTypes + rule, stream_for(rule));
}

TEST(ShapeText, DecidesLikeTheReference) {
  Shapes shapes;
  for (const std::string& rule : rules()) {
    const std::size_t before = shapes.texts().size();
    const auto expected = evaluation_of(ReferenceEngine(), kTypes + rule, stream_for(rule));
    EXPECT_THAT(expected, testing::Not(testing::IsEmpty())) << rule;
    EXPECT_EQ(by_shapes(shapes, rule), expected) << rule;
    EXPECT_GT(shapes.texts().size(), before) << rule;
  }
}

TEST(ShapeText, IsTheSameForRulesThatDifferInValues) {
  Shapes shapes;
  for (const char* limit : {"0.5", "0.75"}) {
    by_shapes(shapes, std::string("define O(v: float) from A() and each B(v * A.v < ") + limit +
                          ") within 400 from A where v = B.v;");
  }
  ASSERT_EQ(shapes.texts().size(), 2u);
  EXPECT_EQ(shapes.texts()[0], shapes.texts()[1]);
}

TEST(ShapeText, CompilesForAGpu) {
  if (gpu::nvrtc::version().empty()) GTEST_SKIP() << gpu::nvrtc::unavailable();
  Shapes shapes;
  by_shapes(shapes, rules()[2]);
  by_shapes(shapes, rules()[7]);
  by_shapes(shapes, rules()[10]);
  by_shapes(shapes, rules().back());
  for (const std::string& text : shapes.texts()) {
    const std::vector<std::string> kernels = {
        "gorgo::gpu::separate<gorgo::gpu::SelectAll<gorgo::gpu::Shape>>",
        "gorgo::gpu::separate<gorgo::gpu::Reduce<gorgo::gpu::Shape>>",
        "gorgo::gpu::separate_three_blocks<gorgo::gpu::Sum<gorgo::gpu::Shape>>",
        "gorgo::gpu::fused<gorgo::gpu::SelectOne<gorgo::gpu::Shape, true>>",
        "gorgo::gpu::fused<gorgo::gpu::SelectSeveral<gorgo::gpu::Shape, false>>"};
    const auto compiled = gpu::nvrtc::compile(
        "#include \"cuda/kernels.cuh\"\nnamespace gorgo::gpu {\n" + text + "}\n", kernels, 90);
    EXPECT_EQ(compiled.problem, "") << text;
    EXPECT_FALSE(compiled.cubin.empty());
  }
}

}  // namespace
}  // namespace gorgo::engine
