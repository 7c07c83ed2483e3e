#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "gorgo/processor.hpp"
#include "server/engine/latency_watch.hpp"

namespace gorgo::server {

/// How long composites of each rule take of late, see `RuleLatency`. Composites that no publication
/// brings about, as those of a timer that is due, are left out. Belongs to the engine thread.
class RuleLatencies {
 public:
  using Moment = LatencyWatch::Moment;
  /// Latencies are of the last one or two stretches of this length in which the rule produced.
  static constexpr std::chrono::seconds kStretch{5};

  /// Counts the composites of a batch that stand in the queues of subscribers.
  /// Some go uncounted where there is no memory.
  void take(const OutputBatch& batch, const LatencyWatch& publications, Moment now) noexcept;
  /// By the rule's full name; unset: nothing is known.
  std::optional<RuleLatency> of(std::string_view rule) const;

 private:
  struct Sum {
    std::chrono::nanoseconds all{0}, longest{0};
    std::uint64_t composites = 0;

    void add(const Sum& other);
  };
  struct Recent {
    Moment began;
    Sum before, now;

    void add(const Sum& sum, Moment at);
  };
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view name) const {
      return std::hash<std::string_view>()(name);
    }
  };

  std::unordered_map<std::string, Recent, Hash, std::equal_to<>> recent_;
  std::vector<Sum> of_batch_;          // by the rule's number; empty but within `take`
  std::vector<std::uint32_t> firing_;  // the rules that have composites in the batch

  void note(const OutputBatch& batch, const LatencyWatch& publications, Moment now);
  void keep(std::string_view rule, const Sum& sum, Moment now);
};

}  // namespace gorgo::server
