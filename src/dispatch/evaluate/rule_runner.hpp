#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/workers.hpp"
#include "dispatch/placement/placer.hpp"
#include "dispatch/rules/rule_set.hpp"
#include "dispatch/rules/suspensions.hpp"
#include "engine/composite_sink.hpp"
#include "history/history.hpp"

namespace gorgo::dispatch {

/// Evaluates rules that do not feed each other, each on terminators that are stored already. It
/// only reads the history, so each pair of a rule and a chunk of its terminators may go to another
/// thread. The outcome is the same for any number of threads.
class RuleRunner {
 public:
  /// A run of one rule's terminators.
  struct Part {
    std::uint32_t rule = 0;
    EngineEntry* entry = nullptr;  ///< of the rule
    std::size_t first = 0;         ///< among the terminators of all rules
    std::size_t job = 0;
    std::size_t request = 0;  ///< of the job
  };

  /// `job_terminators`: of one thread at a time; 0: by what they cost.
  RuleRunner(RuleSet& rules, history::History& history, Placer& placer, Workers& workers,
             Suspensions& suspensions, std::size_t job_terminators, const std::atomic<bool>& stop)
      : rules_(rules),
        history_(history),
        placer_(placer),
        workers_(workers),
        suspensions_(suspensions),
        job_terminators_(job_terminators),
        stop_(stop) {}

  /// Starts on a batch.
  void start() { uses_device_ = false; }

  void clear();
  /// Notes a terminator of the rule; `tag` is the caller's. Terminators of a rule come together and
  /// in place order.
  void add(std::uint32_t rule, history::Slot slot, std::size_t tag);
  bool empty() const { return slots_.empty(); }

  /// The position of the terminator that is noted next.
  std::size_t size() const { return slots_.size(); }

  /// Evaluates what was noted, until `held` is full. The terminator at the position `certain` is
  /// evaluated in any case; it must be the first of its rule. `held` must stay until `clear`.
  void run(Timestamp ordered_before, engine::HeldBytes& held, std::size_t certain);

  /// Whether terminators of the batch went to a device, which wants as many as possible at once.
  bool uses_device() const { return uses_device_; }

  /// The parts, in the order of `add`.
  std::span<const Part> parts() const { return parts_; }
  /// The number of jobs: every `Part::job` is below it.
  std::size_t jobs() const { return used_jobs_; }
  /// What was asked of an engine for the part, and what came of it.
  const engine::Request& request(const Part& part) const {
    return jobs_[part.job].requests[part.request];
  }
  std::size_t tag(const Part& part, std::size_t terminator) const {
    return tags_[part.first + terminator];
  }

 private:
  using Clock = std::chrono::steady_clock;

  /// Requests that follow each other in a job and go to one engine.
  struct Call {
    const engine::Engine* engine;
    std::size_t requests;
  };
  /// What one thread evaluates.
  struct Job {
    const engine::Engine* device = nullptr;  ///< null: a job for the CPU
    std::vector<engine::Request> requests;
    std::vector<Call> calls;
    engine::CompositeSink sink;
    double took = 0;   ///< nanoseconds
    double ended = 0;  ///< nanoseconds after the run began
  };
  struct Load {
    std::uint32_t rule;
    std::size_t first, count;
    Routing routing;
  };
  /// The job that takes what comes next, and for how many terminators it has room.
  struct Opening {
    std::size_t job = 0, room = 0;
  };

  void share_out();
  void place_loads();
  std::size_t job_size() const;
  std::size_t begin_job(const engine::Engine* device);
  std::size_t job_of(const engine::Engine& device);
  void add_parts(const Load& load, EngineEntry& entry, std::size_t first, std::size_t count,
                 Opening& opening);
  void add_part(const Load& load, EngineEntry& entry, std::size_t first, std::size_t count,
                std::uint32_t evaluator, std::size_t job);
  void run_job(Job& job);
  /// Throws OutOfMemory.
  void evaluate(const Call& call, std::span<engine::Request> requests, unsigned threads) const;
  unsigned free_threads() const;
  void report_costs();
  void balance_shares();
  void watch_threads(double took);
  void try_elsewhere();
  Evaluated evaluated(std::size_t first) const;

  RuleSet& rules_;
  history::History& history_;
  Placer& placer_;
  Workers& workers_;
  Suspensions& suspensions_;
  const std::size_t job_terminators_;
  const std::atomic<bool>& stop_;
  std::vector<Load> loads_;
  std::vector<history::Slot> slots_;
  std::vector<std::size_t> tags_;
  std::vector<Part> parts_;
  std::vector<Job> jobs_;  // the first `used_jobs_`; the others are kept for their memory
  std::size_t used_jobs_ = 0;
  std::vector<Evaluated> evaluated_;  // scratch of try_elsewhere
  std::size_t divided_ = 0;           // terminators of the run in hand that go to no device
  double terminator_cost_ = 0;  // nanoseconds of a thread for such a terminator in the last run
  double device_took_ = 0;      // nanoseconds: the longest job of a device in the last run with one
  Clock::time_point began_;     // when the run in hand began
  Timestamp ordered_before_ = engine::kEndOfTime;  // of the run in hand
  bool uses_device_ = false;
  engine::HeldBytes* held_ = nullptr;  // of the run in hand
  std::size_t certain_ = 0;            // of the run in hand: position of the terminator
};

}  // namespace gorgo::dispatch
