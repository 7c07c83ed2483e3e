#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "bench/declined.hpp"
#include "bench/subject.hpp"
#include "bench/workload.hpp"

namespace gorgo::bench {

/// The pseudo engine of the programs in bench/handwritten.
inline constexpr const char* kHandwritten = "handwritten";

/// Limits::batch, if nothing else is asked for.
inline constexpr std::size_t kBatch = 1024;

/// How long a cell may take. A repetition ends at `events` or `seconds`, whichever comes first.
struct Limits {
  std::uint64_t events = 100'000;
  double seconds = 5;
  int repetitions = 3;
  double engine_seconds = 12;    ///< no further repetition of an engine that took so long already
  double baseline_seconds = 30;  ///< a baseline that would take longer for `events` is skipped
  unsigned threads = 1;          ///< threads that evaluate rules
  bool small = false;            ///< small workloads, for the quick grid
  std::size_t batch = kBatch;    ///< events that are appended before each evaluation
  bool latency = false;          ///< `Run::latencies` are wanted
};

/// The limits of a grid: "quick", "full" or "gpu".
Limits limits_of(const std::string& grid);
/// The values of a sweep in a grid.
const std::vector<double>& values_of(const Sweep& sweep, const std::string& grid);

/// One repetition under one engine.
struct Run {
  std::vector<Tally> after;        ///< what had been produced after each measured batch
  std::uint64_t events = 0;        ///< measured
  double seconds = 0;              ///< for them
  double cpu_seconds = 0;          ///< of all threads for them: other processes do not disturb it
  double total_seconds = 0;        ///< with deployment, filling and generating
  std::uint64_t terminators = 0;   ///< that the rules evaluated for them
  std::vector<Declined> declined;  ///< among those terminators
  Memory memory;                   ///< at the end of the run
  std::int64_t rss_growth = 0;     ///< of the process, bytes
  bool complete = false;           ///< false: interrupted
  /// Seconds of each batch that brought a rule a terminator, if they are wanted.
  std::vector<double> latencies;

  double ns_per_event() const { return per_event(seconds); }
  double cpu_ns_per_event() const { return per_event(cpu_seconds); }

 private:
  double per_event(double time) const {
    return events == 0 ? 0 : time * 1e9 / static_cast<double>(events);
  }
};

/// What one engine did in one cell.
struct EngineResult {
  std::string engine;
  std::vector<Run> runs;  ///< complete ones
  std::string skipped;  ///< why there are none; empty: there are, or an interruption prevented them
};

struct CellResult {
  const Sweep* sweep = nullptr;
  double x = 0;
  std::vector<EngineResult> engines;
  std::string mismatch;  ///< empty: all runs agree
};

/// Says which engine and repetition runs next.
using Announce = std::function<void(const std::string& engine, int repetition)>;
/// Returns false when a user has asked to stop.
using KeepGoing = std::function<bool()>;

/// Runs a cell: the repetitions of all engines interleaved, so that a change of the machine's pace
/// meets all of them. An error: an engine refuses the rules or an event of the workload.
Result<CellResult> measure(const Sweep& sweep, double x, const std::vector<std::string>& engines,
                           const Limits& limits, const Announce& announce,
                           const KeepGoing& keep_going);

/// Compares count and checksum of runs over the batches that both of a pair measured. Returns what
/// differs, or nothing.
std::optional<std::string> disagreement(const std::vector<EngineResult>& engines,
                                        std::size_t batch = kBatch);

/// Median and range; all are zero where there are no values.
struct Spread {
  double median = 0, min = 0, max = 0;
};
Spread spread_of(std::vector<double> values);
/// The spread of one figure over the runs.
Spread spread_of(const std::vector<Run>& runs, double (Run::*figure)() const);

/// What was declined in all runs.
struct Declines {
  std::uint64_t terminators = 0;  ///< evaluated in these runs, declined or not
  std::vector<Declined> all;
};
Declines declines_of(const std::vector<Run>& runs);

/// The latencies of all runs, in nanoseconds: `p50` and `p99` are the least values that 50 and 99
/// of 100 batches do not exceed.
struct Latency {
  double p50, p99;
  std::size_t batches;
};
/// Nothing where the runs have no latencies.
std::optional<Latency> latency_of(const std::vector<Run>& runs);

}  // namespace gorgo::bench
