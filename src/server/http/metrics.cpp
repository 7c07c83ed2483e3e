#include "server/http/metrics.hpp"

#include <prometheus/text_serializer.h>

#include <algorithm>
#include <array>
#include <map>

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
      {"subscription_texts", "Different texts of subscriptions"},
  });
  const auto found = std::ranges::find(kHelp, statistic, &Help::name);
  return found == kHelp.end() ? "" : found->text;
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
  for (const auto& [key, text] : labels) metric.label.push_back({key, text});
  (gauge ? metric.gauge.value : metric.counter.value) = value;
  family("gorgo_" + name + (gauge ? "" : "_total"), help, gauge).metric.push_back(metric);
}

void Metrics::add(const wire::Statistics& statistics, const ServerCounters& server) {
  if (statistics.list() == nullptr) return;
  for (const auto* statistic : *statistics.list()) {
    const std::string name = protocol::text_of(statistic->name());
    const std::uint64_t malformed = name == "events_refused" ? server.malformed_lines : 0;
    put(name, help_of(name), statistic->gauge(),
        static_cast<double>(statistic->value() + malformed));
  }
  const auto counter = [&](const char* name, const char* help, std::uint64_t value) {
    put(name, help, false, static_cast<double>(value));
  };
  counter("sessions", "Connections that were served", server.sessions);
  counter("sessions_refused", "Connections beyond max_sessions", server.refused_sessions);
  counter("malformed_messages", "Messages that broke a protocol", server.malformed);
  counter("stalled_reads",
          "Times a connection was not read because its share of the queue was full",
          server.stalled_reads);
  counter("slow_consumers", "Clients disconnected because too much waited for them",
          server.slow_consumers);
  counter("lost_rows", "Deliveries that subscribers did not get", server.lost_rows);
  counter("dropped_requests", "Requests of clients that had gone", server.dropped_requests);
  counter("tls_handshakes_failed", "TLS handshakes that came to nothing", server.failed_handshakes);
  put("memory_bytes", "What all clients have the server hold", true,
      static_cast<double>(server.memory_bytes));
  put("queue_bytes", "Requests that wait for the engine", true,
      static_cast<double>(server.queue_bytes));
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

void Metrics::add(const wire::RuleInfo& rule) {
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
  put_type("type_events", "Events of the type that are kept", true, type.events());
  put_type("type_bytes", "Memory of its events and of columns over them", true, type.bytes());
}

std::string Metrics::text() const { return prometheus::TextSerializer().Serialize(families_); }

}  // namespace gorgo::server::http
