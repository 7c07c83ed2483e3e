#include "bench/measure.hpp"

#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <fstream>

namespace gorgo::bench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::array<std::string_view, 3> kBaselines = {"reference", "column-scan", "automaton"};
/// Evaluated in front of the measured events, in small batches: to warm up, and to predict.
constexpr std::size_t kWarmUp = 256;
constexpr std::size_t kWarmUpBatch = 16;
constexpr std::size_t kFillBatch = 256;
/// A prediction needs so much of a sample, in seconds, or the whole warm-up.
constexpr double kSample = 0.3;

double since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// Of all threads of the process.
double cpu_seconds() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

struct Cost {
  double seconds = 0;
  double cpu_seconds = 0;
};

std::int64_t resident_bytes() {
  std::int64_t total = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> total >> resident;
  return resident * sysconf(_SC_PAGESIZE);
}

/// One repetition: a subject and its stream.
class Repetition {
 public:
  Repetition(const Workload& workload, const std::string& engine, const Limits& limits,
             const KeepGoing& keep_going)
      : workload_(workload), engine_(engine), limits_(limits), keep_going_(keep_going) {}

  /// A run that is not complete was interrupted, or is skipped if `predicted()`.
  Result<Run> go() {
    const auto start = Clock::now();
    malloc_trim(0);
    const std::int64_t resident = resident_bytes();
    if (const auto done = evaluate(); !done) return done.error();
    run_.memory = subject_->memory();
    run_.rss_growth = resident_bytes() - resident;
    run_.total_seconds = since(start);
    return run_;
  }

  /// The predicted time of a baseline that is too slow, in seconds; 0 otherwise.
  double predicted() const { return predicted_; }

 private:
  Result<void> evaluate() {
    if (engine_ == kHandwritten) {
      subject_ = workload_.handwritten();
    } else {
      auto subject = make_processor_subject(workload_, engine_);
      if (!subject) return subject.error();
      subject_ = std::move(*subject);
    }
    next_ = workload_.make_source();
    for (const auto step : {&Repetition::fill, &Repetition::warm_up, &Repetition::run}) {
      const auto done = (this->*step)();
      if (!done) return done.error();
      if (!*done) return {};
    }
    run_.complete = true;
    return {};
  }

  /// Each of these is false when the run ends before its time.
  Result<bool> fill() {
    std::vector<bool> passive(workload_.types.size());
    for (const auto type : workload_.passive) passive[type] = true;
    double seconds = 0;
    for (std::uint64_t done = 0; done < workload_.fill;) {
      batch_.clear();
      for (std::size_t i = 0; i < kFillBatch && done < workload_.fill; ++i, ++done) {
        next_(batch_);
        if (passive[batch_.rows().back().type]) batch_.drop_last();
      }
      const auto fed = feed_batch();
      if (!fed) return fed.error();
      seconds += fed->seconds;
      if (!keep_going_() || too_slow(seconds, done, workload_.fill)) return false;
    }
    if (const auto done = subject_->filled(); !done) return done.error();
    return true;
  }

  Result<bool> warm_up() {
    // The first takes in, under some engines, what the filling was.
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

  std::uint64_t measured() const {
    return workload_.batches == 0 ? limits_.events : workload_.batches * limits_.batch;
  }

  /// Whether a baseline that took so long for `done` events would take too long for `all` of them.
  bool too_slow(double seconds, std::uint64_t done, std::uint64_t all) {
    if (std::ranges::find(kBaselines, engine_) == kBaselines.end()) return false;
    const double predicted = seconds * static_cast<double>(all) / static_cast<double>(done);
    if (predicted > limits_.baseline_seconds) predicted_ = predicted;
    return predicted_ > 0;
  }

  Result<bool> run() {
    const Tally before = subject_->tally();
    while (run_.events < measured() && run_.seconds < limits_.seconds) {
      const auto count = std::min<std::uint64_t>(limits_.batch, measured() - run_.events);
      const auto fed = feed(count);
      if (!fed) return fed.error();
      run_.seconds += fed->seconds;
      run_.cpu_seconds += fed->cpu_seconds;
      run_.events += count;
      const Tally now = subject_->tally();
      run_.after.push_back({now.composites - before.composites, now.checksum - before.checksum});
      if (!keep_going_()) return false;
    }
    return true;
  }

  Result<Cost> feed(std::size_t count) {
    batch_.clear();
    for (std::size_t i = 0; i < count; ++i) next_(batch_);
    return feed_batch();
  }

  /// What the subject took, without generating.
  Result<Cost> feed_batch() {
    const double cpu = cpu_seconds();
    const auto start = Clock::now();
    if (const auto fed = subject_->feed(batch_); !fed) return fed.error();
    return Cost{.seconds = since(start), .cpu_seconds = cpu_seconds() - cpu};
  }

  const Workload& workload_;
  const std::string& engine_;
  const Limits& limits_;
  const KeepGoing& keep_going_;
  std::unique_ptr<Subject> subject_;
  EventSource next_;
  EventBatch batch_;
  Run run_;
  double predicted_ = 0;
};

bool goes_on(const EngineResult& result, const Limits& limits) {
  double seconds = 0;
  for (const Run& run : result.runs) seconds += run.total_seconds;
  return result.skipped.empty() && seconds < limits.engine_seconds;
}

std::string skipped_because(double predicted) {
  char text[64];
  std::snprintf(text, sizeof text, "predicted %.0f s", predicted);
  return text;
}

std::string text_of(const EngineResult& result, const Tally& tally) {
  char text[160];
  std::snprintf(text, sizeof text, "%s %llu composites, checksum %016llx", result.engine.c_str(),
                static_cast<unsigned long long>(tally.composites),
                static_cast<unsigned long long>(tally.checksum));
  return text;
}

}  // namespace

Limits limits_of(const std::string& grid) {
  Limits limits;
  if (grid == "quick") {
    limits.events = 8192;
    limits.seconds = 0.5;
    limits.repetitions = 1;
    limits.baseline_seconds = 5;
    limits.small = true;
  }
  return limits;
}

const std::vector<double>& values_of(const Sweep& sweep, const std::string& grid) {
  if (grid == "quick") return sweep.quick;
  return grid == "gpu" && !sweep.gpu.empty() ? sweep.gpu : sweep.full;
}

Result<CellResult> measure(const Sweep& sweep, double x, const std::vector<std::string>& engines,
                           const Limits& limits, const Announce& announce,
                           const KeepGoing& keep_going) {
  Workload workload = sweep.at(x, limits.small);
  if (workload.threads == 0) workload.threads = limits.threads;
  CellResult cell{.sweep = &sweep, .x = x};
  for (const auto& engine : engines) {
    if (engine == kHandwritten && !workload.handwritten) continue;
    cell.engines.push_back({.engine = engine});
  }
  for (int repetition = 1; repetition <= limits.repetitions; ++repetition) {
    for (EngineResult& result : cell.engines) {
      if (!keep_going() || !goes_on(result, limits)) continue;
      announce(result.engine, repetition);
      Repetition one(workload, result.engine, limits, keep_going);
      auto run = one.go();
      if (!run) return Error{sweep.id + ", " + result.engine + ": " + run.error().message, ""};
      if (one.predicted() > 0) result.skipped = skipped_because(one.predicted());
      if (run->complete) result.runs.push_back(std::move(*run));
    }
  }
  cell.mismatch = disagreement(cell.engines, limits.batch).value_or("");
  return cell;
}

std::optional<std::string> disagreement(const std::vector<EngineResult>& engines,
                                        std::size_t batch) {
  // The longest run decides, so that every batch that two runs measured is compared.
  const EngineResult* longest = nullptr;
  const Run* truth = nullptr;
  for (const EngineResult& result : engines) {
    for (const Run& run : result.runs) {
      if (truth != nullptr && run.after.size() <= truth->after.size()) continue;
      longest = &result;
      truth = &run;
    }
  }
  for (const EngineResult& result : engines) {
    for (const Run& run : result.runs) {
      for (std::size_t i = 0; i < run.after.size(); ++i) {
        if (run.after[i] == truth->after[i]) continue;
        return "after " + std::to_string((i + 1) * batch) +
               " events: " + text_of(*longest, truth->after[i]) + "; " +
               text_of(result, run.after[i]);
      }
    }
  }
  return std::nullopt;
}

Spread spread_of(std::vector<double> values) {
  if (values.empty()) return {};
  std::ranges::sort(values);
  const std::size_t middle = values.size() / 2;
  const double median =
      values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
  return {.median = median, .min = values.front(), .max = values.back()};
}

Spread spread_of(const std::vector<Run>& runs, double (Run::*figure)() const) {
  std::vector<double> values;
  for (const Run& run : runs) values.push_back((run.*figure)());
  return spread_of(std::move(values));
}

}  // namespace gorgo::bench
