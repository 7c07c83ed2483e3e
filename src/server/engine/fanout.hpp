#pragma once

#include <cstdint>
#include <string_view>

#include "gorgo/processor.hpp"
#include "server/actions/inhibitions.hpp"
#include "server/durability/durable_subscriptions.hpp"
#include "server/durability/journal_writer.hpp"
#include "server/durability/result_hash.hpp"
#include "server/engine/latency_watch.hpp"
#include "server/rules/rule_latencies.hpp"
#include "server/rules/shadows.hpp"
#include "server/subscriptions/subscriptions.hpp"

namespace gorgo::server {

/// Hands what comes out of the processor to everybody who gets it: subscriptions, durable ones,
/// actions and shadows, and to what counts it. Belongs to the engine thread.
class Fanout {
 public:
  struct Parts {
    JournalWriter& journal;
    Subscriptions& subscriptions;
    DurableSubscriptions& durables;
    Inhibitions& inhibitions;
    Shadows& shadows;
    ResultHash& results;
    RuleLatencies& latencies;
    const LatencyWatch& publications;
  };
  explicit Fanout(const Parts& parts) : parts_(parts) {}

  /// Returns how many events were queued, counted for each client.
  std::uint64_t deliver(const OutputBatch& batch);
  /// Whether anybody gets published events of the type.
  bool is_wanted(std::string_view type) const;
  /// Whether a subscription takes events of the type, a durable one or that of a door included.
  bool is_subscribed(std::string_view type) const;

  /// Has events of every type come out of the processor, as long as it lives.
  class Tracing {
   public:
    explicit Tracing(Fanout& fanout) : fanout_(fanout) { fanout_.is_tracing_ = true; }
    ~Tracing() { fanout_.is_tracing_ = false; }
    Tracing(const Tracing&) = delete;
    Tracing& operator=(const Tracing&) = delete;

   private:
    Fanout& fanout_;
  };

 private:
  const Parts parts_;
  bool is_tracing_ = false;
};

}  // namespace gorgo::server
