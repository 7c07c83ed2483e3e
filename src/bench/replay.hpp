#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "bench/measure.hpp"
#include "bench/subject.hpp"
#include "bench/workload.hpp"

namespace gorgo::bench {

/// A subject and the stream that it is fed: what happens before anything is measured, and the
/// clocks. The arguments of the constructor must outlive it.
class Replay {
 public:
  struct Cost {
    double seconds = 0;      ///< on the wall
    double cpu_seconds = 0;  ///< of all threads of the process
  };

  Replay(const Workload& workload, const std::string& engine, const Limits& limits,
         const KeepGoing& keep_going)
      : workload_(workload), engine_(engine), limits_(limits), keep_going_(keep_going) {}

  /// Deploys the rules, fills the windows and warms up. `shift`: how many of the events that come
  /// next stand before the shift of a load that shifts. False: interrupted, or a baseline would
  /// take too long.
  Result<bool> start(std::uint64_t shift);
  /// The predicted time of a baseline that is too slow, in seconds; 0 otherwise.
  double predicted() const { return predicted_; }

  /// Feeds the next events of the stream in one batch. Returns what they cost, without generating
  /// them.
  Result<Cost> feed(std::size_t count);
  const Subject& subject() const { return *subject_; }
  /// How many events one run measures, if time allows.
  std::uint64_t measured() const {
    return workload_.batches == 0 ? limits_.events : workload_.batches * limits_.batch;
  }

 private:
  Result<void> make_subject();
  void open_stream(std::uint64_t shift);
  Result<bool> fill();
  Result<bool> warm_up();
  bool too_slow(double seconds, std::uint64_t done, std::uint64_t all);

  const Workload& workload_;
  const std::string& engine_;
  const Limits& limits_;
  const KeepGoing& keep_going_;
  std::unique_ptr<Subject> subject_;
  EventSource next_;
  GeneratedEvents events_;
  double predicted_ = 0;
};

}  // namespace gorgo::bench
