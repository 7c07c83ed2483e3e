#include "bench/timeline.hpp"

#include <algorithm>
#include <limits>

#include "bench/replay.hpp"

namespace gorgo::bench {
namespace {

constexpr double kEnough = 0.9;
constexpr double kAverage = 0.5;  // seconds

/// A timeline in the making.
class Recorder {
 public:
  Recorder(Replay& replay, const Limits& limits, const TimelineLimits& timeline_limits,
           std::string engine)
      : replay_(replay), limits_(limits), timeline_limits_(timeline_limits) {
    timeline_.engine = std::move(engine);
  }

  /// `shift`: in measured events; 0: there is none.
  Result<Timeline> record(std::uint64_t shift, const KeepGoing& keep_going) {
    before_ = replay_.subject().tally();
    rules_ = replay_.subject().rules();
    Run& run = timeline_.run;
    while (shift > run.events || run.seconds < timeline_.origin() + timeline_limits_.seconds) {
      if (const auto fed = feed(); !fed) return fed.error();
      const bool shifts = run.events == shift;
      if (shifts || run.seconds - slice_.start >= timeline_limits_.slice) end_slice();
      if (shifts) timeline_.shift = run.seconds;
      if (!keep_going()) break;
    }
    run.complete = keep_going();
    return std::move(timeline_);
  }

 private:
  Result<void> feed() {
    const auto fed = replay_.feed(limits_.batch);
    if (!fed) return fed.error();
    Run& run = timeline_.run;
    run.seconds += fed->seconds;
    run.cpu_seconds += fed->cpu_seconds;
    run.events += limits_.batch;
    run.after.push_back(replay_.subject().tally() - before_);
    slice_.events += limits_.batch;
    return {};
  }

  void end_slice() {
    slice_.seconds = timeline_.run.seconds - slice_.start;
    note_rules();
    timeline_.slices.push_back(std::move(slice_));
    slice_ = {.start = timeline_.run.seconds};
  }

  void note_rules() {
    auto rules = replay_.subject().rules();
    for (std::size_t i = 0; i < rules.size(); ++i) {
      slice_.engines.push_back(rules[i].engine);
      if (rules[i].engine == rules_[i].engine) continue;
      timeline_.moves.push_back({.seconds = timeline_.run.seconds,
                                 .rule = rules[i].name,
                                 .from = rules_[i].engine,
                                 .to = rules[i].engine,
                                 .because = rules[i].placed_because});
    }
    rules_ = std::move(rules);
  }

  Replay& replay_;
  const Limits& limits_;
  const TimelineLimits& timeline_limits_;
  Timeline timeline_;
  Slice slice_;
  Tally before_;
  std::vector<RuleInfo> rules_;
};

double median_rate(const Timeline& timeline, double from, double until) {
  std::vector<double> rates;
  for (const Slice& slice : timeline.slices) {
    if (slice.start >= from && slice.start < until) rates.push_back(slice.rate());
  }
  return spread_of(std::move(rates)).median;
}

std::string disagreement(const TimelineCell& cell, std::size_t batch) {
  std::vector<EngineResult> results;
  for (const Timeline& timeline : cell.timelines) {
    results.push_back({.engine = timeline.engine, .runs = {timeline.run}, .skipped = {}});
  }
  return disagreement(results, batch).value_or("");
}

}  // namespace

Result<TimelineCell> measure_timelines(const Sweep& sweep, double x,
                                       const std::vector<std::string>& engines,
                                       const Limits& limits, const TimelineLimits& timeline_limits,
                                       const Announce& announce, const KeepGoing& keep_going) {
  Workload workload = sweep.at(x, limits.small);
  if (workload.threads == 0) workload.threads = limits.threads;
  Limits unhurried = limits;
  unhurried.baseline_seconds = std::numeric_limits<double>::infinity();
  const std::uint64_t batches = (timeline_limits.shift_after + limits.batch - 1) / limits.batch;
  const std::uint64_t shift = workload.make_shifting ? batches * limits.batch : 0;
  TimelineCell cell{.sweep = &sweep, .x = x, .limits = timeline_limits};
  for (const auto& engine : engines) {
    if (!keep_going() || (engine == kHandwritten && !workload.handwritten)) continue;
    announce(engine, 1);
    Replay replay(workload, engine, unhurried, keep_going);
    const auto started = replay.start(shift);
    if (!started) return Error{sweep.id + ", " + engine + ": " + started.error().message, ""};
    if (!*started) break;
    auto timeline = Recorder(replay, limits, timeline_limits, engine).record(shift, keep_going);
    if (!timeline) return Error{sweep.id + ", " + engine + ": " + timeline.error().message, ""};
    cell.timelines.push_back(std::move(*timeline));
  }
  cell.mismatch = disagreement(cell, limits.batch);
  return cell;
}

std::optional<double> rate_between(const Timeline& timeline, double from, double until) {
  double events = 0, seconds = 0;
  for (const Slice& slice : timeline.slices) {
    const double part = std::min(until, slice.start + slice.seconds) - std::max(from, slice.start);
    if (part <= 0) continue;
    events += slice.rate() * part;
    seconds += part;
  }
  if (seconds == 0) return std::nullopt;
  return events / seconds;
}

double rate_before(const Timeline& timeline) { return median_rate(timeline, 0, timeline.origin()); }

double rate_after(const Timeline& timeline) {
  return median_rate(timeline, timeline.origin(), std::numeric_limits<double>::infinity());
}

double best_of_others(const TimelineCell& cell, const Timeline& timeline) {
  double best = 0;
  for (const Timeline& other : cell.timelines) {
    if (&other != &timeline) best = std::max(best, rate_after(other));
  }
  return best;
}

std::optional<double> settled(const Timeline& timeline, double rate) {
  std::optional<double> since;
  for (const Slice& slice : timeline.slices) {
    if (slice.start < timeline.origin() || slice.start + kAverage > timeline.end()) continue;
    const bool enough =
        rate_between(timeline, slice.start, slice.start + kAverage) >= kEnough * rate;
    if (!enough) since.reset();
    if (enough && !since) since = slice.start - timeline.origin();
  }
  return since;
}

}  // namespace gorgo::bench
