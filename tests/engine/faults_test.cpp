#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "engine/cuda/cuda.hpp"
#include "engine/reference/reference.hpp"
#include "evaluation_of.hpp"
#include "failing_device.hpp"

namespace gorgo::engine {
namespace {

using Batches = std::vector<std::vector<TestEvent>>;
using Call = FailingDevice::Call;

/// All kinds of searches, and rules that consume; each reads A, B and C.
const std::vector<std::string> kRulesOfAllKinds = {
    "rule last: define L(k: int, v: float) from A(k = $k) and last B(k = $k) within 200 from A"
    " and not C(v > B.v) between B and A where k = A.k, v = B.v;\n",
    "rule each: define E(k: int, v: float) from A(s = $s) and each B(s = $s) within 60 from A"
    " and 2-last C(k = B.k) within 90 from B where k = B.k, v = C.v;\n",
    "rule sums: define S(a: float, b: int) from A(k = $k) and first C() within 90 from A and"
    " $a = Sum(B(k = $k).v within 200 from A) where a = $a, b = Max(C(v < A.v).k within 90 from "
    "A);\n",
    "rule once: define O(k: int, v: float) from A(k = $k) and last B(k = $k) within 200 from A"
    " and last C() within 9 from B where k = A.k, v = B.v consuming B;\n",
    "rule texts: define T(k: int, v: float) from A() and 2-last B(s < A.s) within 90 from A"
    " and not C(s > B.s, k = A.k) within 20 from B where k = B.k, v = B.v;\n",
    "rule pairs: define P(v: float, w: float) from A(k = $k) and each B(k = $k) within 90 from A"
    " and first C(v > B.v) within 90 from B where v = B.v, w = C.v consuming B, C;\n"};

int number(int low, int high) { return *rc::gen::inRange(low, high + 1); }

std::string random_rules() {
  std::string text = kTypes;
  const int chosen = number(1, (1 << kRulesOfAllKinds.size()) - 1);
  for (std::size_t i = 0; i < kRulesOfAllKinds.size(); ++i) {
    if ((chosen >> i & 1) != 0) text += kRulesOfAllKinds[i];
  }
  return text;
}

Batches random_batches() {
  Batches batches;
  Timestamp now = 0;
  for (int b = number(1, 8); b > 0; --b) {
    auto& batch = batches.emplace_back();
    for (int i = number(0, 60); i > 0; --i) {
      now += 1'000'000 * number(0, 2);
      batch.push_back({.type = std::string(1, static_cast<char>('A' + number(0, 2))),
                       .timestamp = now,
                       .k = number(0, 3),
                       .v = number(0, 8) / 4.0,
                       .s = std::string(1, static_cast<char>('a' + number(0, 1)))});
    }
  }
  return batches;
}

/// By kind of call and number.
using Faults = std::map<std::pair<Call, std::uint64_t>, Fault>;

Faults random_faults() {
  Faults faults;
  for (int i = number(1, 6); i > 0; --i) {
    const auto call = static_cast<Call>(number(0, 3));
    const int kind = number(0, 6);
    faults[{call, static_cast<std::uint64_t>(number(1, 40))}] = kind == 0   ? Fault::final_error
                                                                : kind <= 2 ? Fault::no_memory
                                                                            : Fault::error;
  }
  return faults;
}

CudaEngine engine_of(const std::vector<Faults>& faults, const gpu::DeviceOptions& options) {
  return {"failing",
          [=] {
            CudaEngine::Devices devices;
            for (const Faults& of_device : faults) {
              devices.push_back(
                  std::make_unique<FailingDevice>(options, [=](Call call, std::uint64_t n) {
                    const auto due = of_device.find({call, n});
                    return due == of_device.end() ? Fault::none : due->second;
                  }));
            }
            return devices;
          },
          [] { return std::vector<std::string>(); },
          {.least_terminators = 3}};
}

RC_GTEST_PROP(Faults, LoseAndRepeatNothing, ()) {
  const std::string rules = random_rules();
  const Batches batches = random_batches();
  std::vector<Faults> faults;
  const bool faulty = number(0, 3) > 0;
  for (int i = number(1, 2); i > 0; --i) faults.push_back(faulty ? random_faults() : Faults());
  // Mostly less than the columns need.
  gpu::DeviceOptions options{.page_shift = static_cast<std::uint32_t>(number(0, 4))};
  const auto events = static_cast<std::uint64_t>(number(0, 3) == 0 ? 1 << 13 : number(32, 600));
  options.bytes = events * sizeof(std::uint64_t);
  const auto expected = evaluation_of(ReferenceEngine(), rules, batches);
  const CudaEngine engine = engine_of(faults, options);
  RC_LOG() << rules;
  const auto threads = static_cast<unsigned>(number(1, kThreads));
  RC_ASSERT(evaluation_of(engine, rules, batches, threads) == expected);
  std::uint64_t failures = 0, swapped = 0;
  for (const auto& context : engine.contexts()) {
    failures += context->last_failure().count;
    swapped += context->pages().counters().swapped_in;
  }
  RC_ASSERT(faulty || failures == 0);
  RC_CLASSIFY(swapped > 0, "pages came back");
  RC_CLASSIFY(failures > 0, "devices failed");
  RC_CLASSIFY(engine.contexts().size() < faults.size(), "and were left");
  RC_CLASSIFY(expected.size() > 10, "many composites");
}

}  // namespace
}  // namespace gorgo::engine
