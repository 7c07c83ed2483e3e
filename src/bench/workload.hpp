#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "bench/generated_events.hpp"
#include "bench/subject.hpp"
#include "gorgo/value.hpp"

namespace gorgo::bench {

/// From one event of a made-up stream to the next.
inline constexpr Duration kTick = 1'000'000;

/// Adds one event to the batch, the next of a stream that its seed determines.
using EventSource = std::function<void(GeneratedEvents&)>;

/// What one cell of a sweep replays: rules and a stream of events for them.
struct Workload {
  std::string rules;               ///< text
  std::vector<std::string> types;  ///< of the stream; declared by the rules, attributes in order
  std::function<EventSource()> make_source;
  /// For a load that shifts: the stream whose load is another behind so many events. Empty: the
  /// load does not shift.
  std::function<EventSource(std::uint64_t events)> make_shifting;
  std::uint64_t fill = 0;  ///< events that fill the windows before anything is measured
  /// Types that are left out of the filling, by index, because nothing remembers their events: they
  /// would only be evaluated.
  std::vector<std::uint32_t> passive;
  /// Rules that remember what `rules` reads without evaluating anything. Where the terminators
  /// themselves are remembered these are deployed while the windows fill, then replaced by `rules`.
  std::string keeper;
  /// How many batches are measured behind one to warm up, however many events that is; 0: as the
  /// limits say.
  std::uint64_t batches = 0;
  Duration max_late = 0;
  unsigned threads = 0;  ///< threads that evaluate rules; 0: as the limits say
  /// The program written by hand for this workload; empty: there is none.
  std::function<std::unique_ptr<Subject>()> handwritten;
};

/// One figure: a workload at several values of one parameter.
struct Sweep {
  std::string id;    ///< scenario/sweep or scenario/sweep/variant, "base/window/last"
  std::string axis;  ///< what x is, with its unit
  bool log_x = true;
  std::vector<double> quick, full, gpu;  ///< x by grid; an empty `gpu` is as `full`
  /// `small`: what x leaves open is small, too, for the quick grid.
  std::function<Workload(double x, bool small)> at;
};

/// Every sweep of the benches, in the order of WORKLOADS: base, reports, heavy, shift, linear road,
/// applications.
const std::vector<Sweep>& sweeps();

}  // namespace gorgo::bench
