#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "bench/generated_events.hpp"
#include "bench/tally.hpp"
#include "gorgo/diagnostics.hpp"
#include "gorgo/processor.hpp"

namespace gorgo::bench {

struct Workload;

struct Memory {
  std::uint64_t events = 0;      ///< remembered
  std::uint64_t bytes = 0;       ///< of them, with columns and indexes, as allocated
  std::uint64_t rule_bytes = 0;  ///< of rules, with their shares of columns

  double bytes_per_event() const {
    return events == 0 ? 0 : static_cast<double>(bytes) / static_cast<double>(events);
  }
};

/// What is measured: an engine behind a processor, or a program written by hand for one workload.
class Subject {
 public:
  virtual ~Subject() = default;

  /// Takes the events of a batch and evaluates them. An error: it refuses an event.
  virtual Result<void> feed(GeneratedBatch batch) = 0;
  /// Called once, between the events that fill the windows and those that count.
  virtual Result<void> filled() = 0;
  /// The tally of all composites so far.
  virtual Tally tally() const = 0;
  virtual Memory memory() const = 0;
  /// How many terminators its rules have evaluated; a program written by hand does not say.
  virtual std::uint64_t terminators() const { return 0; }
  /// Its rules, in order; a program written by hand has none.
  virtual std::vector<RuleInfo> rules() const { return {}; }
};

/// A processor whose rules run under `engine`, with the rules of `workload` deployed. The workload
/// must outlive it.
Result<std::unique_ptr<Subject>> make_processor_subject(const Workload& workload,
                                                        const std::string& engine);

}  // namespace gorgo::bench
