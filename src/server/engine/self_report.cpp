#include "server/engine/self_report.hpp"

#include <algorithm>
#include <string_view>
#include <type_traits>
#include <utility>

#include "server/rules/rule_load.hpp"

namespace gorgo::server {
namespace {

/// So many rules are reported at a time, lest their events are more than the server's work.
constexpr std::size_t kMostRules = 1000;

/// Builds one event.
class OwnEvent {
 public:
  OwnEvent(BatchBuilder& batch, std::string_view type, std::optional<Timestamp> timestamp)
      : batch_(batch) {
    batch_.add(type, timestamp);
  }

  template <class T>
  void put(std::string_view name, const T& value) {
    if constexpr (std::is_same_v<T, std::uint64_t>) {
      batch_.attribute(name, Datum::of(static_cast<std::int64_t>(value)));
    } else {
      batch_.attribute(name, Datum::of(value));
    }
  }

 private:
  BatchBuilder& batch_;
};

double seconds_between(SelfReport::Time before, SelfReport::Time now) {
  return std::chrono::duration<double>(now - before).count();
}

double rate(std::uint64_t before, std::uint64_t now, double seconds) {
  return seconds > 0 ? static_cast<double>(now - before) / seconds : 0;
}

double in_milliseconds(std::uint64_t nanoseconds) { return static_cast<double>(nanoseconds) / 1e6; }

}  // namespace

SelfReport::SelfReport(Parts parts, const OperationsOptions& options)
    : parts_(std::move(parts)),
      pause_(options.statistics),
      slow_load_(static_cast<double>(options.slow_rule_percent) / 100) {}

bool SelfReport::look(Time now) {
  if (now < due_) return false;
  due_ = now + pause_;
  const Wanted wanted = this->wanted();
  const auto changes = parts_.news.take(wanted.connections);
  if (!wanted.any()) {
    before_.reset();
    return false;
  }
  Sample fresh = sample(now, wanted.rules || wanted.slow_rules);
  BatchBuilder batch;
  if (wanted.connections) add_connections(batch, changes);
  if (before_) {
    if (wanted.stats) add_stats(batch, fresh);
    if (!before_->rules.empty()) add_rules(batch, fresh, wanted);
  }
  std::ranges::sort(fresh.rules, {}, &RuleCounters::serial);
  before_ = std::move(fresh);
  return batch.events() > 0 && parts_.admission.publish_own(batch) == Admission::Own::accepted;
}

bool SelfReport::wants(const std::string& type) const {
  return parts_.processor.reads(type) || parts_.is_subscribed(type);
}

SelfReport::Wanted SelfReport::wanted() const {
  return {.stats = wants("gorgo.Stats"),
          .rules = wants("gorgo.RuleStats"),
          .slow_rules = wants("gorgo.SlowRule"),
          .connections = wants("gorgo.Connection")};
}

RuleCounters SelfReport::Sample::rule(std::uint64_t serial) const {
  const auto found = std::ranges::lower_bound(rules, serial, {}, &RuleCounters::serial);
  const bool is_there = found != rules.end() && found->serial == serial;
  return is_there ? *found : RuleCounters{.serial = serial};
}

SelfReport::Sample SelfReport::sample(Time now, bool with_rules) const {
  Sample sample{now, parts_.processor.counters(), parts_.admission.latency().histogram(), {}};
  if (with_rules) sample.rules = parts_.processor.rule_counters();
  return sample;
}

void SelfReport::add_stats(BatchBuilder& batch, const Sample& now) const {
  const ProcessorCounters& counters = now.counters;
  const double seconds = seconds_between(before_->at, now.at);
  LogHistogram latency = now.latency;
  latency.subtract(before_->latency);
  OwnEvent event(batch, "gorgo.Stats", parts_.admission.own_stamp());
  event.put("seconds", seconds);
  event.put("accepted", counters.accepted);
  event.put("refused", parts_.admission.refused() + parts_.totals.malformed_lines.load());
  event.put("late", counters.late);
  event.put("composites", counters.composites);
  event.put("dropped", counters.dropped_composites);
  event.put("lost_rows", parts_.totals.lost_rows.load());
  event.put("accepted_per_second", rate(before_->counters.accepted, counters.accepted, seconds));
  event.put("composites_per_second",
            rate(before_->counters.composites, counters.composites, seconds));
  event.put("latency_p50_ms", in_milliseconds(latency.quantile(0.5)));
  event.put("latency_p99_ms", in_milliseconds(latency.quantile(0.99)));
  event.put("rules", parts_.processor.rule_count());
  event.put("connections", parts_.news.open());
  event.put("held", parts_.processor.held());
  event.put("queue_bytes", parts_.queue.bytes());
  event.put("memory_bytes", std::max<std::int64_t>(0, parts_.totals.memory.used()));
}

void SelfReport::add_rules(BatchBuilder& batch, const Sample& now, const Wanted& wanted) const {
  const double seconds = seconds_between(before_->at, now.at);
  std::size_t reported = 0;
  for (std::size_t i = 0; i < now.rules.size() && reported < kMostRules; ++i) {
    const RuleCounters& counters = now.rules[i];
    const RuleCounters then = before_->rule(counters.serial);
    if (counters.terminators == then.terminators) continue;
    const auto rule = parts_.processor.rules(i, 1);
    const RuleCounters since{.serial = counters.serial,
                             .events = counters.events - then.events,
                             .terminators = counters.terminators - then.terminators,
                             .composites = counters.composites - then.composites};
    add_rule(batch, since, rule.front(), seconds, wanted);
    ++reported;
  }
}

void SelfReport::add_rule(BatchBuilder& batch, const RuleCounters& since, const RuleInfo& rule,
                          double seconds, const Wanted& wanted) const {
  const double terminators = rate(0, since.terminators, seconds);
  const double load = load_of(rule, terminators);
  const auto put_common = [&](OwnEvent& event) {
    event.put("rule", rule.name);
    event.put("engine", rule.engine);
    event.put("load", load);
    event.put("terminators_per_second", terminators);
    event.put("passed_over", rule.passed_over);
    event.put("suspended", rule.suspended);
  };
  if (wanted.rules) {
    OwnEvent event(batch, "gorgo.RuleStats", parts_.admission.own_stamp());
    put_common(event);
    event.put("seconds", seconds);
    event.put("events", since.events);
    event.put("terminators", since.terminators);
    event.put("composites", since.composites);
    event.put("composites_per_second", rate(0, since.composites, seconds));
    event.put("pending", rule.pending);
    event.put("bytes", rule.bytes);
  }
  if (wanted.slow_rules && (load >= slow_load_ || rule.suspended)) {
    OwnEvent event(batch, "gorgo.SlowRule", parts_.admission.own_stamp());
    put_common(event);
  }
}

void SelfReport::add_connections(BatchBuilder& batch,
                                 const std::vector<ConnectionChange>& changes) const {
  for (const ConnectionChange& change : changes) {
    const ConnectionInfo& connection = change.connection;
    OwnEvent event(batch, "gorgo.Connection", parts_.admission.own_stamp());
    event.put("connection", connection.id);
    event.put("what", std::string_view(change.is_open ? "opened" : "closed"));
    event.put("door", connection.dialect);
    event.put("peer", connection.peer);
    event.put("name", connection.name);
    event.put("user", connection.user);
    event.put("reason", change.reason);
    event.put("seconds", connection.seconds);
    event.put("published", connection.published);
    event.put("delivered", connection.delivered);
  }
}

}  // namespace gorgo::server
