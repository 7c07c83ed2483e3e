#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bench/measure.hpp"

namespace gorgo::bench {

/// How a timeline is measured.
struct TimelineLimits {
  double seconds = 5;                   ///< behind the shift; in all, where the load does not shift
  double slice = 0.1;                   ///< seconds, at least
  std::uint64_t shift_after = 500'000;  ///< events, in whole batches
};

/// What was done in a slice of time: whole batches, so that it may be longer than it was to be.
struct Slice {
  double start = 0;    ///< seconds since the beginning
  double seconds = 0;  ///< what it took
  std::uint64_t events = 0;
  std::vector<std::string> engines;  ///< of each rule, at the end of the slice

  double rate() const { return seconds > 0 ? static_cast<double>(events) / seconds : 0; }
};

/// A rule went to another engine, as seen at the end of a slice.
struct Move {
  double seconds = 0;  ///< since the beginning
  std::string rule, from, to, because;
};

/// One run under one engine. Time is what the subject took on the wall, so none passes while events
/// are generated.
struct Timeline {
  std::string engine;
  std::vector<Slice> slices;
  std::vector<Move> moves;
  std::optional<double> shift;  ///< seconds since the beginning; unset: it was not reached
  Run run;                      ///< events, times and what came out; complete: not interrupted

  double end() const { return slices.empty() ? 0 : slices.back().start + slices.back().seconds; }
  /// The time at which all timelines of the cell have the same load: the shift, or the beginning.
  double origin() const { return shift.value_or(0); }
};

/// All engines at one value of a sweep.
struct TimelineCell {
  const Sweep* sweep = nullptr;
  double x = 0;
  TimelineLimits limits;
  std::vector<Timeline> timelines;
  std::string mismatch;  ///< empty: all agree
};

/// Runs a workload under each engine, one after the other. `announce` is told repetition 1. An
/// error: an engine refuses the rules or an event of the workload.
Result<TimelineCell> measure_timelines(const Sweep& sweep, double x,
                                       const std::vector<std::string>& engines,
                                       const Limits& limits, const TimelineLimits& timeline_limits,
                                       const Announce& announce, const KeepGoing& keep_going);

/// Events per second in a part of the time; unset where no slice of it was measured.
std::optional<double> rate_between(const Timeline& timeline, double from, double until);

/// Median rate of the slices before the shift, or behind it; without a shift all are behind it.
double rate_before(const Timeline& timeline);
double rate_after(const Timeline& timeline);

/// The highest `rate_after` of the others in the cell; 0: there are none.
double best_of_others(const TimelineCell& cell, const Timeline& timeline);

/// Seconds from the shift, or from the beginning without one, after which the average of any half
/// second is at least nine tenths of `rate`; unset: never.
std::optional<double> settled(const Timeline& timeline, double rate);

/// Throughput over time in bars, a plot for each engine, with a table of before and after and the
/// moves behind them; ends with a newline.
std::string text_of(const TimelineCell& cell);

}  // namespace gorgo::bench
