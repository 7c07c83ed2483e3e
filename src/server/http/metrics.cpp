#include "server/http/metrics.hpp"

#include <prometheus/text_serializer.h>

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <utility>

#include "protocol/info.hpp"

namespace gorgo::server::http {
namespace {

/// What the engine's statistics are; docs/server.md has the same words.
std::string_view help_of(std::string_view statistic) {
  struct Help {
    std::string_view name, text;
  };
  static constexpr auto kHelp = std::to_array<Help>({
      {"events_accepted", "Events that have their place"},
      {"events_refused", "Events that were refused, malformed lines included"},
      {"composites", "Composite events, delivered or not"},
      {"events_refused_by_reason", "Events that were refused, by reason"},
      {"type_events_refused", "Events that were refused, by type; an empty name stands for others"},
      {"publications_without_room",
       "Times that a publication was put off because the disk or a backlog had no room"},
      {"events_late", "Events accepted behind the clock"},
      {"events_too_late", "Events refused because they were too far behind the clock"},
      {"events_ahead", "Events accepted whose timestamps were ahead of the server's clock"},
      {"events_too_ahead", "Events refused because they were too far ahead"},
      {"composites_dropped", "Composites beyond max_composites of their root"},
      {"composites_too_deep", "Composites that brought about nothing, at max_depth"},
      {"terminators_passed_over", "Terminators of suspended rules"},
      {"oversize_rows", "Deliveries that no frame could hold"},
      {"memory_shortages", "Times that the memory set aside was given up"},
      {"changes_dropped", "Changes of rules whose client had gone"},
      {"held_events", "Events that lateness holds back"},
      {"held_bytes_peak", "The most that composites took between evaluation and delivery"},
      {"rules", "Rules in force"},
      {"user_subscriptions_refused", "Subscriptions beyond the limit of the user"},
      {"subscription_texts", "Different texts of subscriptions"},
      {"journal_records", "Records that the journal has had"},
      {"journal_durable_records", "Records that are on the disk"},
      {"durable_events_dropped",
       "Events that went before a durable subscription had acknowledged them"},
      {"durable_backlog_rows", "Events that durable subscriptions have not acknowledged"},
      {"durable_backlog_bytes", "The same in bytes"},
      {"latency", "From reading an event until its composites are on their way"},
      {"turn", "How long the engine thread works without looking for new requests"},
  });
  const auto found = std::ranges::find(kHelp, statistic, &Help::name);
  return found == kHelp.end() ? "" : found->text;
}

/// Four buckets for each power of two, from 16 us to 17 s: quantiles are right to within a quarter.
/// They are buckets of the server's own histogram, sixteen of them together, so none is divided.
/// Prometheus' client library for C++ knows no native histograms.
std::vector<std::uint64_t> shown_bounds() {
  constexpr unsigned kFirst = 14, kLast = 34;  // powers of two, nanoseconds
  std::vector<std::uint64_t> bounds;
  for (unsigned power = kFirst; power < kLast; ++power) {
    for (std::uint64_t quarter = 4; quarter < 8; ++quarter) {
      bounds.push_back(quarter << (power - 2));
    }
  }
  bounds.push_back(std::uint64_t{1} << kLast);
  return bounds;
}

/// Names may have control characters, which no label can show: they are spelt out, so that names
/// that differ have labels that differ.
std::string label_text(const std::string& name) {
  std::string text;
  for (const char c : name) {
    if (static_cast<unsigned char>(c) >= 0x20 && c != 0x7F) {
      text += c;
    } else {
      constexpr std::string_view kDigits = "0123456789abcdef";
      const auto byte = static_cast<unsigned char>(c);
      text += {'\\', 'x', kDigits[byte >> 4], kDigits[byte & 15]};
    }
  }
  return text;
}

}  // namespace

prometheus::MetricFamily& Metrics::family(const std::string& name, std::string_view help,
                                          bool gauge) {
  const auto known = std::ranges::find(families_, name, &prometheus::MetricFamily::name);
  if (known != families_.end()) return *known;
  const auto type = gauge ? prometheus::MetricType::Gauge : prometheus::MetricType::Counter;
  return families_.emplace_back(prometheus::MetricFamily{name, std::string(help), type, {}});
}

void Metrics::put(const std::string& name, std::string_view help, bool gauge, double value,
                  const std::vector<Label>& labels) {
  prometheus::ClientMetric metric;
  for (const auto& [key, text] : labels) metric.label.push_back({key, label_text(text)});
  (gauge ? metric.gauge.value : metric.counter.value) = value;
  family("gorgo_" + name + (gauge ? "" : "_total"), help, gauge).metric.push_back(metric);
}

void Metrics::add(const wire::Statistics& statistics, const ServerCounters& server) {
  if (statistics.list() == nullptr) return;
  for (const auto* statistic : *statistics.list()) {
    const std::string name = protocol::text_of(statistic->name());
    const std::uint64_t malformed = name == "events_refused" ? server.malformed_lines : 0;
    std::vector<Label> labels;
    const std::string label = protocol::text_of(statistic->label());
    if (!label.empty()) labels.emplace_back(label, protocol::text_of(statistic->label_value()));
    put(name, help_of(name), statistic->gauge(),
        static_cast<double>(statistic->value() + malformed), labels);
  }
  put("events_refused_by_reason", "", false, static_cast<double>(server.malformed_lines),
      {{"reason", "malformed_line"}});
  if (statistics.histograms() != nullptr) {
    for (const auto* histogram : *statistics.histograms()) add_histogram(*histogram);
  }
  const auto counter = [&](const char* name, const char* help, std::uint64_t value) {
    put(name, help, false, static_cast<double>(value));
  };
  counter("sessions", "Connections that were served", server.sessions);
  counter("sessions_refused", "Connections beyond max_sessions or max_newcomers",
          server.refused_sessions);
  counter("malformed_messages", "Messages that broke a protocol", server.malformed);
  counter("stalled_reads",
          "Times a connection was not read because its share of the queue was full",
          server.stalled_reads);
  counter("slow_consumers", "Clients disconnected because too much waited for them",
          server.slow_consumers);
  counter("subscriber_waits", "Times publishers waited for a slow subscriber",
          server.subscriber_waits);
  counter("lost_rows", "Deliveries that subscribers did not get", server.lost_rows);
  counter("dropped_requests", "Requests of clients that had gone", server.dropped_requests);
  counter("tls_handshakes_failed", "TLS handshakes that came to nothing", server.failed_handshakes);
  if (server.certificate_expires != 0) {
    put("tls_certificate_expires_seconds",
        "When the server's certificate expires, in seconds since the Unix epoch", true,
        static_cast<double>(server.certificate_expires));
  }
  counter("logins_failed", "Logins whose user, password or token was wrong", server.failed_logins);
  counter("requests_forbidden", "Requests of users who lack the permission",
          server.forbidden_requests);
  put("memory_bytes", "What all clients have the server hold", true,
      static_cast<double>(server.memory_bytes));
  put("queue_bytes", "Requests that wait for the engine", true,
      static_cast<double>(server.queue_bytes));
}

void Metrics::add_histogram(const wire::Histogram& histogram) {
  constexpr double kNanosecond = 1e-9;
  prometheus::ClientMetric metric;
  const std::size_t buckets = histogram.bounds() == nullptr ? 0 : histogram.bounds()->size();
  std::size_t next = 0;
  const auto take_until = [&](std::uint64_t bound) {
    for (; next < buckets; ++next) {
      const auto i = static_cast<flatbuffers::uoffset_t>(next);
      if (histogram.bounds()->Get(i) > bound) break;
      metric.histogram.sample_count += histogram.counts()->Get(i);
    }
  };
  const auto put_bucket = [&](double bound) {
    metric.histogram.bucket.push_back({metric.histogram.sample_count, bound});
  };
  static const std::vector<std::uint64_t> kBounds = shown_bounds();
  for (const std::uint64_t bound : kBounds) {
    take_until(bound);
    put_bucket(static_cast<double>(bound) * kNanosecond);
  }
  take_until(std::numeric_limits<std::uint64_t>::max());
  put_bucket(std::numeric_limits<double>::infinity());
  metric.histogram.sample_sum = histogram.sum() * kNanosecond;
  const std::string name = protocol::text_of(histogram.name());
  auto& times = family("gorgo_" + name + "_seconds", help_of(name), true);
  times.type = prometheus::MetricType::Histogram;
  times.metric.push_back(std::move(metric));
}

void Metrics::add(const std::vector<ConnectionInfo>& connections) {
  std::map<std::string_view, double> open;
  for (const ConnectionInfo& connection : connections) ++open[connection.dialect];
  for (const auto& [dialect, count] : open) {
    put("connections", "Open connections", true, count, {{"dialect", std::string(dialect)}});
  }
}

void Metrics::add(const ClosedConnections& closed) {
  for (std::size_t i = 0; i < kEndReasons; ++i) {
    const auto reason = static_cast<EndReason>(i);
    put("connections_closed", "Connections that have ended, by reason", false,
        static_cast<double>(closed.count(reason)), {{"reason", std::string(name_of(reason))}});
  }
}

void Metrics::add(const std::vector<Door>& doors) {
  for (const Door& door : doors) {
    const Label name("door", door.name);
    const auto count = [&](const char* what, const char* help, std::uint64_t value) {
      put(what, help, false, static_cast<double>(value), {name});
    };
    count("door_events", "Events that came or left through the door", door.events);
    count("door_events_refused", "Events of the door that the engine has refused", door.refused);
    count("door_dead_letters", "What came through the door and was no event", door.dead_letters);
    count("door_events_lost", "Events that did not leave, because too much waited", door.lost);
    count("door_failures", "Times that the door could not go on", door.failures);
    put("door_up", "Whether the door works", true, door.state == "failing" ? 0 : 1, {name});
  }
}

void Metrics::add(const cluster::Node& node) {
  put("cluster_up", "Whether the node reaches the brokers of its cluster", true,
      node.problem().empty() ? 1 : 0);
  std::uint32_t added = 0;
  const auto partitions = node.partitions();
  for (const auto& [name, state] : partitions) {
    if (++added > kMostSeries) break;
    const std::vector<Label> labels = {{"family", name.family},
                                       {"partition", std::to_string(name.number)}};
    const auto add = [&](const char* what, const char* help, std::uint64_t value, bool gauge) {
      put(std::string("cluster_partition_") + what, help, gauge, static_cast<double>(value),
          labels);
    };
    const auto& counters = state.counters;
    add("owned", "Whether the node owns the partition; 0: it is a standby",
        state.role == cluster::Role::owner, true);
    add("lag_messages", "Messages of the input stream that it has not evaluated", state.lag, true);
    add("waiting_messages", "Messages that the output stream may not have yet", state.waiting,
        true);
    add("unsaved_messages", "Messages of the input stream since its last snapshot",
        state.sequence - state.snapshot, true);
    add("fenced", "Times that it found another node publishing", state.fenced, false);
    add("events", "Events that it has taken", counters.events, false);
    add("events_refused", "Events that its rules could not take, such as those that were too late",
        counters.refused, false);
    add("composites", "Composites that it has made", counters.composites, false);
    add("problems",
        "Messages that it could not take whole, composites that it had to leave out, and messages "
        "of its output stream that no node wrote",
        counters.problems, false);
  }
  if (partitions.size() > kMostSeries) left_out("partitions", partitions.size() - kMostSeries);
}

void Metrics::add(const std::vector<ActionTarget>& targets) {
  for (const ActionTarget& target : targets) {
    const Label name("target", target.name);
    const auto count = [&](const char* what, const char* help, std::uint64_t value) {
      put(what, help, false, static_cast<double>(value), {name});
    };
    count("action_events_done", "Events whose action was carried out", target.done);
    count("action_attempts", "Attempts at actions", target.attempts);
    count("action_failures", "Attempts at actions that failed", target.failures);
    count("action_dead_letters", "Events whose action was given up", target.dead);
    count("action_events_lost", "Events that never came, because too much waited", target.lost);
    count("action_events_silenced", "Events that a silence has taken", target.silenced);
    count("action_events_inhibited", "Events about which nothing was done because of others",
          target.inhibited);
    put("action_events_waiting", "Events whose action is not done with", true,
        static_cast<double>(target.waiting), {name});
    put("action_up", "Whether the target works", true, target.state == "running" ? 1 : 0, {name});
  }
}

void Metrics::add(const Accounts& accounts) {
  std::size_t users = 0;
  for (const auto& [name, account] : accounts.all()) {
    if (++users > kMostSeries) break;
    const Label user("user", name);
    put("user_connections", "Open connections of the user", true,
        static_cast<double>(account->connections), {user});
    put("user_connections_refused", "Connections beyond the limit of the user", false,
        static_cast<double>(account->refused_connections), {user});
    const auto waits = [&](const char* limit, std::uint64_t times) {
      put("user_waits", "Requests that waited because of a rate of the user", false,
          static_cast<double>(times), {user, {"limit", limit}});
    };
    waits("events_per_second", account->event_waits);
    waits("bytes_per_second", account->byte_waits);
  }
}

void Metrics::add(const wire::RuleInfo& rule) {
  ++rules_by_engine_[protocol::text_of(rule.engine())];
  const std::vector<Label> labels = {{"rule", protocol::text_of(rule.name())}};
  const auto put_rule = [&](const char* name, const char* help, bool gauge, std::uint64_t value) {
    put(name, help, gauge, static_cast<double>(value), labels);
  };
  put_rule("rule_terminators", "Terminators evaluated", false, rule.terminators());
  put_rule("rule_composites", "Composites of the rule", false, rule.composites());
  put_rule("rule_declined", "Terminators that its engine left to column-scan", false,
           rule.declined());
  put_rule("rule_overflows", "Terminators given up at max_sequences", false, rule.overflows());
  put_rule("rule_passed_over", "Terminators while the rule was suspended", false,
           rule.passed_over());
  put_rule("rule_pending", "Composites that wait for a deadline", true, rule.pending());
  put_rule("rule_bytes", "Memory of the rule and its share of what rules share", true,
           rule.bytes());
}

void Metrics::add(const wire::TypeInfo& type) {
  const std::vector<Label> labels = {{"type", protocol::text_of(type.name())}};
  const auto put_type = [&](const char* name, const char* help, bool gauge, std::uint64_t value) {
    put(name, help, gauge, static_cast<double>(value), labels);
  };
  put_type("type_late", "Events of the type accepted behind the clock", false, type.late());
  put_type("type_too_late", "Events of the type refused: too far behind", false, type.too_late());
  put_type("type_events_accepted", "Published events of the type that were accepted", false,
           type.accepted());
  put_type("type_no_value", "Times that an accepted event lacked an attribute that rules name",
           false, type.no_value());
  put_type("type_seen", "Events of the type since a rule reads it", false, type.seen());
  put_type("type_events", "Events of the type that are kept", true, type.events());
  put_type("type_bytes", "Memory of its events and of columns over them", true, type.bytes());
}

void Metrics::add(const wire::Devices& devices) {
  if (devices.devices() == nullptr) return;
  for (const auto* device : *devices.devices()) {
    const std::vector<Label> labels = {{"engine", protocol::text_of(device->engine())},
                                       {"device", std::to_string(device->number())}};
    put("device_in_use", "Whether rules can run on the device", true,
        protocol::text_of(device->problem()).empty() ? 1 : 0, labels);
    put("device_failures", "Failures of the device", false, static_cast<double>(device->failures()),
        labels);
    if (device->counters() == nullptr) continue;
    for (const auto* counter : *device->counters()) {
      auto named = labels;
      named.emplace_back("what", protocol::text_of(counter->name()));
      put("device_counters", "What the device did, see `gorgo engines --to`", true,
          static_cast<double>(counter->value()), named);
    }
  }
}

void Metrics::left_out(const char* of, std::uint64_t count) {
  put("series_left_out", "Rules and types beyond the first thousand, which have no series", true,
      static_cast<double>(count), {{"of", of}});
}

std::string Metrics::text() {
  for (const auto& [engine, rules] : std::exchange(rules_by_engine_, {})) {
    put("engine_rules", "Rules that the engine evaluates, of those that have series", true,
        static_cast<double>(rules), {{"engine", engine}});
  }
  return prometheus::TextSerializer().Serialize(families_);
}

}  // namespace gorgo::server::http
