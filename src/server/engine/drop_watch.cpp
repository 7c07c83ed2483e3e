#include "server/engine/drop_watch.hpp"

namespace gorgo::server {

void DropWatch::look_at_composites(const ProcessorCounters& counters, const DroppedComposite& last,
                                   Time now) {
  const std::uint64_t sum = counters.dropped_composites + counters.dropped_depth;
  if (const auto dropped = composites_.note(sum, now)) {
    log_.warning(
        "composites dropped: an event brought about more than engine.max_composites, or "
        "deeper ones than engine.max_depth",
        {{"composites", *dropped},
         {"too_many_so_far", counters.dropped_composites},
         {"too_deep_so_far", counters.dropped_depth},
         {"last_rule", last.rule},
         {"last_event", last.event}});
  }
}

void DropWatch::look_at_terminators(const ProcessorCounters& counters, const std::string& last_rule,
                                    Time now) {
  if (const auto passed_over = terminators_.note(counters.passed_over, now)) {
    log_.warning(
        "terminators passed over: a rule took longer than dispatch.max_rule_time_ms in a second, "
        "or found no memory",
        {{"terminators", *passed_over}, {"last_rule", last_rule}});
  }
}

void DropWatch::look_at_durables(std::uint64_t dropped, const std::string& last, Time now) {
  if (const auto events = durables_.note(dropped, now)) {
    log_.warning(
        "events are lost: more than journal.backlog_bytes waits for a durable subscription, so the "
        "oldest go",
        {{"events", *events}, {"last_subscription", last}});
  }
}

}  // namespace gorgo::server
