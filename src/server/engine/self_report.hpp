#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/log_histogram.hpp"
#include "gorgo/processor.hpp"
#include "server/command_queue.hpp"
#include "server/engine/admission.hpp"
#include "server/options.hpp"
#include "server/sessions/client_totals.hpp"
#include "server/sessions/connection_news.hpp"

namespace gorgo::server {

/// Publishes the events that the server has about itself (docs/statistics.md), each type while
/// somebody reads it. They take the way of all publications, so the journal has them, too. Belongs
/// to the engine thread.
class SelfReport {
 public:
  using Time = std::chrono::steady_clock::time_point;
  struct Parts {
    Processor& processor;
    Admission& admission;
    CommandQueue& queue;
    const ClientTotals& totals;
    ConnectionNews& news;
    std::function<bool(const std::string& type)> is_subscribed;
  };

  SelfReport(Parts parts, const OperationsOptions& options);

  /// To be called between batches: publishes what is due. Returns whether anything was accepted.
  bool look(Time now);
  /// How long until `look` has something to do.
  std::chrono::nanoseconds due_in(Time now) const { return std::max(due_, now) - now; }

 private:
  struct Wanted {
    bool stats = false, rules = false, slow_rules = false, connections = false;
    bool any() const { return stats || rules || slow_rules || connections; }
  };
  /// Counters when the last events were published.
  struct Sample {
    Time at;
    ProcessorCounters counters;
    LogHistogram latency;
    std::vector<RuleCounters> rules;  ///< empty where nobody wanted them

    /// The counters of a rule; zeros where it was not there. Precondition: `rules` is sorted by
    /// serial.
    RuleCounters rule(std::uint64_t serial) const;
  };

  const Parts parts_;
  const std::chrono::milliseconds pause_;
  const double slow_load_;
  Time due_ = {};
  std::optional<Sample> before_;

  bool wants(const std::string& type) const;
  Wanted wanted() const;
  Sample sample(Time now, bool with_rules) const;
  void add_stats(BatchBuilder& batch, const Sample& now) const;
  /// Those that have evaluated something since.
  void add_rules(BatchBuilder& batch, const Sample& now, const Wanted& wanted) const;
  void add_rule(BatchBuilder& batch, const RuleCounters& since, const RuleInfo& rule,
                double seconds, const Wanted& wanted) const;
  void add_connections(BatchBuilder& batch, const std::vector<ConnectionChange>& changes) const;
};

}  // namespace gorgo::server
