#include "bench/replay.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <ctime>
#include <utility>
#include <vector>

namespace gorgo::bench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::array<std::string_view, 3> kBaselines = {"reference", "column-scan", "automaton"};
/// Events that are evaluated before the measured ones, in small batches, to warm up and to predict.
constexpr std::size_t kWarmUp = 256;
constexpr std::size_t kWarmUpBatch = 16;
constexpr std::size_t kFillBatch = 256;
/// A prediction needs so much of a sample, in seconds, or the whole warm-up.
constexpr double kSample = 0.3;

/// Processor time of all threads of the process, in seconds.
double cpu_seconds() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

}  // namespace

Result<bool> Replay::start(std::uint64_t shift) {
  if (const auto made = make_subject(); !made) return made.error();
  open_stream(shift);
  const auto filled = fill();
  if (!filled || !*filled) return filled;
  return warm_up();
}

Result<void> Replay::make_subject() {
  if (engine_ == kHandwritten) {
    subject_ = workload_.handwritten();
    return {};
  }
  auto subject = make_processor_subject(workload_, engine_);
  if (!subject) return subject.error();
  subject_ = std::move(*subject);
  return {};
}

void Replay::open_stream(std::uint64_t shift) {
  const std::uint64_t extra = workload_.batches == 0 ? 0 : limits_.batch;
  const std::uint64_t before = workload_.fill + kWarmUpBatch + kWarmUp + extra;
  next_ =
      workload_.make_shifting ? workload_.make_shifting(before + shift) : workload_.make_source();
}

Result<bool> Replay::fill() {
  std::vector<bool> passive(workload_.types.size());
  for (const auto type : workload_.passive) passive[type] = true;
  events_.leave_out(std::move(passive));
  double seconds = 0;
  for (std::uint64_t done = 0; done < workload_.fill;) {
    const auto count = std::min<std::uint64_t>(kFillBatch, workload_.fill - done);
    const auto fed = feed(count);
    if (!fed) return fed.error();
    seconds += fed->seconds;
    done += count;
    if (!keep_going_() || too_slow(seconds, done, workload_.fill)) return false;
  }
  events_.leave_out({});
  if (const auto done = subject_->filled(); !done) return done.error();
  return true;
}

Result<bool> Replay::warm_up() {
  // Under some engines the first batch takes in the events that filled the windows.
  if (const auto first = feed(kWarmUpBatch); !first) return first.error();
  double seconds = 0;
  for (std::size_t events = 0; events < kWarmUp;) {
    const auto fed = feed(kWarmUpBatch);
    if (!fed) return fed.error();
    seconds += fed->seconds;
    events += kWarmUpBatch;
    const bool sampled = seconds >= kSample || events == kWarmUp;
    if (!keep_going_() || (sampled && too_slow(seconds, events, measured()))) return false;
  }
  if (workload_.batches == 0) return true;
  if (const auto fed = feed(limits_.batch); !fed) return fed.error();
  return keep_going_();
}

/// Whether a baseline that took so long for `done` events would take too long for `all` of them.
bool Replay::too_slow(double seconds, std::uint64_t done, std::uint64_t all) {
  if (std::ranges::find(kBaselines, engine_) == kBaselines.end()) return false;
  const double predicted = seconds * static_cast<double>(all) / static_cast<double>(done);
  if (predicted > limits_.baseline_seconds) predicted_ = predicted;
  return predicted_ > 0;
}

Result<Replay::Cost> Replay::feed(std::size_t count) {
  events_.clear();
  for (std::size_t i = 0; i < count; ++i) next_(events_);
  GeneratedBatch batch = events_.batch();
  const double cpu = cpu_seconds();
  const auto start = Clock::now();
  if (const auto fed = subject_->feed(std::move(batch)); !fed) return fed.error();
  const std::chrono::duration<double> took = Clock::now() - start;
  return Cost{.seconds = took.count(), .cpu_seconds = cpu_seconds() - cpu};
}

}  // namespace gorgo::bench
