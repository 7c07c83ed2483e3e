#include "bench/measure.hpp"

#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <utility>

#include "bench/replay.hpp"

namespace gorgo::bench {
namespace {

using Clock = std::chrono::steady_clock;

double since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

std::int64_t resident_bytes() {
  std::int64_t total = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> total >> resident;
  return resident * sysconf(_SC_PAGESIZE);
}

/// One repetition: what is measured, behind what comes before.
class Repetition {
 public:
  Repetition(const Workload& workload, const std::string& engine, const Limits& limits,
             const KeepGoing& keep_going)
      : engine_(engine),
        replay_(workload, engine, limits, keep_going),
        limits_(limits),
        keep_going_(keep_going) {}

  /// A run that is not complete was interrupted, or is skipped if `predicted()`.
  Result<Run> go() {
    const auto start = Clock::now();
    malloc_trim(0);
    const std::int64_t resident = resident_bytes();
    const auto started = replay_.start(replay_.measured() / 2);
    if (!started) return started.error();
    if (!*started) return run_;
    const auto rules = replay_.subject().rules();
    const auto done = run();
    if (!done) return done.error();
    run_.complete = *done;
    note_declined(rules);
    run_.memory = replay_.subject().memory();
    run_.rss_growth = resident_bytes() - resident;
    run_.total_seconds = since(start);
    return run_;
  }

  double predicted() const { return replay_.predicted(); }

 private:
  Result<bool> run() {
    const Subject& subject = replay_.subject();
    const Tally before = subject.tally();
    std::uint64_t terminators = limits_.latency ? subject.terminators() : 0;
    while (run_.events < replay_.measured() && run_.seconds < limits_.seconds) {
      const auto count = std::min<std::uint64_t>(limits_.batch, replay_.measured() - run_.events);
      const auto fed = replay_.feed(count);
      if (!fed) return fed.error();
      run_.seconds += fed->seconds;
      run_.cpu_seconds += fed->cpu_seconds;
      run_.events += count;
      run_.after.push_back(subject.tally() - before);
      if (limits_.latency) {
        const std::uint64_t before_batch = std::exchange(terminators, subject.terminators());
        if (terminators > before_batch) run_.latencies.push_back(fed->seconds);
      }
      if (!keep_going_()) return false;
    }
    return true;
  }

  void note_declined(const std::vector<RuleInfo>& before) {
    const auto after = replay_.subject().rules();
    for (const RuleInfo& rule : after) run_.terminators += rule.terminators;
    for (const RuleInfo& rule : before) run_.terminators -= rule.terminators;
    run_.declined = declined_between(before, after, engine_);
  }

  const std::string engine_;
  Replay replay_;
  const Limits& limits_;
  const KeepGoing& keep_going_;
  Run run_;
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

Declines declines_of(const std::vector<Run>& runs) {
  Declines declines;
  for (const Run& run : runs) {
    declines.terminators += run.terminators;
    add(declines.all, run.declined);
  }
  return declines;
}

std::optional<Latency> latency_of(const std::vector<Run>& runs) {
  std::vector<double> all;
  for (const Run& run : runs) all.insert(all.end(), run.latencies.begin(), run.latencies.end());
  if (all.empty()) return std::nullopt;
  std::ranges::sort(all);
  const auto at = [&](std::size_t percent) {
    return all[(all.size() * percent + 99) / 100 - 1] * 1e9;
  };
  return Latency{.p50 = at(50), .p99 = at(99), .batches = all.size()};
}

}  // namespace gorgo::bench
