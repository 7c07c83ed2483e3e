#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/workers.hpp"
#include "dispatch/rule_set.hpp"
#include "engine/composite_sink.hpp"
#include "history/history.hpp"

namespace gorgo::dispatch {

/// Evaluates rules that do not feed each other, each on terminators that are stored already: reads
/// the history only, so (rule, chunk of terminators) go to several threads. What comes out is the
/// same for any number of threads.
class RuleRunner {
 public:
  struct Sharing {
    unsigned threads = 1;             ///< the caller's included
    std::size_t job_terminators = 0;  ///< of one thread at a time; 0: by what they cost
  };
  /// A run of one rule's terminators.
  struct Part {
    std::uint32_t rule = 0;
    std::uint32_t evaluator = 0;  ///< of the rule: no two parts share one
    std::size_t first = 0;        ///< among the terminators of all rules
    std::size_t count = 0;
    std::size_t job = 0;

    // Afterwards.
    std::size_t done = 0;  ///< terminators evaluated: all but when the room did not suffice
    std::size_t first_composite = 0, end_composite = 0;  ///< in the job's sink
    std::uint64_t overflows = 0;
  };

  RuleRunner(RuleSet& rules, history::History& history, const Sharing& sharing,
             const std::atomic<bool>& stop)
      : rules_(rules),
        history_(history),
        sharing_(sharing),
        stop_(stop),
        workers_(sharing.threads) {}

  void clear();
  /// Notes a terminator of the rule; `tag` is the caller's. Terminators of a rule come together and
  /// in place order.
  void add(std::uint32_t rule, history::Slot slot, std::size_t tag);
  bool empty() const { return slots_.empty(); }

  /// Evaluates what was noted, and stops in time when there come to be more composites than `room`,
  /// roughly.
  void run(bool in_order, std::size_t room);

  /// In the order of `add`.
  std::span<const Part> parts() const { return parts_; }
  const engine::CompositeSink& sink(const Part& part) const { return jobs_[part.job].sink; }
  std::size_t tag(const Part& part, std::size_t terminator) const {
    return tags_[part.first + terminator];
  }

 private:
  /// Parts that one thread evaluates one after the other.
  struct Job {
    std::size_t first_part = 0, last_part = 0;
    engine::CompositeSink sink;
  };
  struct Load {
    std::uint32_t rule;
    std::size_t first, count;
  };

  void share_out();
  std::size_t job_size() const;
  void begin_job();
  void add_part(const Load& load, std::size_t first, std::size_t count, std::uint32_t evaluator);
  void announce();
  void run_job(Job& job);
  void run_part(Job& job, Part& part);
  engine::Evaluator& evaluator(const Part& part) {
    return *rules_.rules()[part.rule].evaluators[part.evaluator];
  }

  RuleSet& rules_;
  history::History& history_;
  const Sharing sharing_;
  const std::atomic<bool>& stop_;
  Workers workers_;
  std::vector<Load> loads_;
  std::vector<history::Slot> slots_;
  std::vector<std::size_t> tags_;
  std::vector<Part> parts_;
  std::vector<Job> jobs_;  // the first `used_jobs_`; the others are kept for their memory
  std::size_t used_jobs_ = 0;
  std::vector<const engine::Engine*> engines_;  // scratch of announce
  std::vector<engine::Announcement> announced_;
  double terminator_cost_ = 0;  // seconds, in the last run
  bool in_order_ = true;        // of the run in hand
  std::size_t share_ = 0;       // of the run in hand: composites for each job
};

}  // namespace gorgo::dispatch
