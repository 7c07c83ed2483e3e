#include "tools/top_view.hpp"

#include <algorithm>
#include <cstdio>
#include <map>
#include <utility>

#include "base/time_text.hpp"
#include "server/rules/rule_load.hpp"

namespace gorgo::tools {
namespace {

using Json = nlohmann::ordered_json;

/// The sum over all labels; 0 where the server does not tell.
std::uint64_t value_of(const TopSample& sample, std::string_view name) {
  std::uint64_t sum = 0;
  for (const Statistic& statistic : sample.statistics) {
    if (statistic.name == name) sum += statistic.value;
  }
  return sum;
}

/// Nothing before a restart of the server is subtracted.
double per_second(const TopSample& before, const TopSample& now, std::string_view name,
                  double seconds) {
  const std::uint64_t first = value_of(before, name), last = value_of(now, name);
  return seconds <= 0 || last < first ? 0 : static_cast<double>(last - first) / seconds;
}

/// What was counted between two histograms. A server that was restarted begins anew.
Histogram between(const Histogram& before, const Histogram& now) {
  std::map<std::uint64_t, std::uint64_t> old;
  for (std::size_t i = 0; i < before.bounds.size(); ++i) old[before.bounds[i]] = before.counts[i];
  Histogram result = now;
  for (std::size_t i = 0; i < now.bounds.size(); ++i) {
    const auto found = old.find(now.bounds[i]);
    const std::uint64_t earlier = found == old.end() ? 0 : found->second;
    if (earlier > now.counts[i]) return now;
    result.counts[i] -= earlier;
  }
  return result;
}

/// The least bound that this part of the values does not exceed; nothing without values.
std::optional<std::uint64_t> quantile(const Histogram& histogram, double part) {
  std::uint64_t total = 0, seen = 0;
  for (const std::uint64_t count : histogram.counts) total += count;
  for (std::size_t i = 0; i < histogram.counts.size(); ++i) {
    seen += histogram.counts[i];
    if (seen > 0 && static_cast<double>(seen) >= part * static_cast<double>(total)) {
      return histogram.bounds[i];
    }
  }
  return std::nullopt;
}

std::string latency_text(const std::optional<std::uint64_t>& nanoseconds) {
  return nanoseconds ? time_text(static_cast<double>(*nanoseconds)) : "-";
}

std::string number(double value) {
  constexpr std::pair<double, const char*> kUnits[] = {{1e9, "G"}, {1e6, "M"}, {1e3, "k"}};
  char text[32];
  for (const auto& [unit, name] : kUnits) {
    if (value < unit) continue;
    std::snprintf(text, sizeof text, "%.1f%s", value / unit, name);
    return text;
  }
  std::snprintf(text, sizeof text, value == 0 || value >= 10 ? "%.0f" : "%.1f", value);
  return text;
}

std::string percent(double share) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f%%", share * 100);
  return text;
}

std::string or_dash(const std::string& text) { return text.empty() ? "-" : text; }

/// What is asked for, or a sentence in `hidden` about why it is not there.
template <class List>
List allowed(Result<List> answer, const char* what, std::string& hidden) {
  if (answer) return *std::move(answer);
  hidden += std::string(hidden.empty() ? "" : "; ") + what + ": " + answer.error().message;
  return {};
}

}  // namespace

void cut_to(std::string& line, std::size_t width) {
  if (line.size() <= width) return;
  const auto is_inside = [&](std::size_t at) {
    return (static_cast<unsigned char>(line[at]) & 0xC0U) == 0x80;
  };
  while (width > 0 && is_inside(width)) --width;
  line.resize(width);
}

Result<TopSample> take_sample(Client& client) {
  TopSample sample;
  auto rules = client.rules();
  if (!rules) return rules.error();
  sample.rules = *std::move(rules);
  const auto round_trip = client.ping();
  if (!round_trip) return round_trip.error();
  sample.round_trip = *round_trip;
  sample.statistics = allowed(client.statistics(), "statistics", sample.hidden);
  if (auto latency = client.latency()) sample.latency = *std::move(latency);
  sample.devices = allowed(client.devices(), "devices", sample.hidden);
  sample.connections = allowed(client.connections(), "connections", sample.hidden);
  sample.at = std::chrono::steady_clock::now();
  return sample;
}

TopView::TopView(const TopSample& before, const TopSample& now, TopOrder order) : now_(now) {
  seconds_ = std::chrono::duration<double>(now.at - before.at).count();
  accepted_ = per_second(before, now, "events_accepted", seconds_);
  refused_ = per_second(before, now, "events_refused", seconds_);
  composites_ = per_second(before, now, "composites", seconds_);
  const Histogram latency = between(before.latency, now.latency);
  p50_ = quantile(latency, 0.5);
  p99_ = quantile(latency, 0.99);
  for (const RuleInfo& info : now.rules) {
    const RuleRates rates = info.rates.value_or(RuleRates());
    const Rule rule{&info, rates.terminators, rates.composites,
                    server::load_of(info, rates.terminators)};
    rules_.push_back(rule);
    auto engine = std::ranges::find(engines_, info.engine, &Engine::name);
    if (engine == engines_.end()) engine = engines_.insert(engine, Engine{info.engine});
    ++engine->rules;
    engine->terminators += rule.terminators;
    engine->load += rule.load;
  }
  std::ranges::stable_sort(rules_, [order](const Rule& a, const Rule& b) {
    if (order == TopOrder::name) return a.info->name < b.info->name;
    if (order == TopOrder::memory) return a.info->bytes > b.info->bytes;
    return order == TopOrder::rate ? a.terminators > b.terminators : a.load > b.load;
  });
  std::ranges::stable_sort(engines_, std::ranges::greater(), &Engine::load);
}

std::vector<std::string> TopView::summary() const {
  std::vector<std::string> lines = {
      "events/s " + number(accepted_) + "  refused/s " + number(refused_) + "  composites/s " +
          number(composites_),
      "latency p50 " + latency_text(p50_) + "  p99 " + latency_text(p99_) + "  round trip " +
          time_text(static_cast<double>(now_.round_trip)),
      "held " + number(static_cast<double>(value_of(now_, "held_events"))) + "  durable backlog " +
          number(static_cast<double>(value_of(now_, "durable_backlog_rows"))) + "  rules " +
          std::to_string(rules_.size()) + "  connections " +
          std::to_string(now_.connections.size())};
  if (!now_.hidden.empty()) lines.push_back("not shown: " + now_.hidden);
  for (const DeviceInfo& device : now_.devices) {
    lines.push_back(device.engine + " " + std::to_string(device.number) + ": " +
                    (device.problem.empty() ? "in use" : "not in use, " + device.problem));
  }
  return lines;
}

Table TopView::engine_table() const {
  Table rows = {{"ENGINE", "RULES", "TERM/S", "LOAD"}};
  for (const Engine& engine : engines_) {
    rows.push_back({or_dash(engine.name), std::to_string(engine.rules), number(engine.terminators),
                    percent(engine.load)});
  }
  return rows;
}

Table TopView::connection_table() const {
  constexpr std::size_t kShown = 5;
  auto busiest = now_.connections;
  const auto weight = [](const ClientConnection& connection) {
    return std::pair(connection.backlog,
                     connection.published_per_second + connection.delivered_per_second);
  };
  std::ranges::stable_sort(busiest, std::ranges::greater(), weight);
  busiest.resize(std::min(busiest.size(), kShown));
  Table rows = {{"CONNECTION", "NAME", "PEER", "BACKLOG", "IN/S", "OUT/S"}};
  for (const ClientConnection& c : busiest) {
    rows.push_back({std::to_string(c.id), or_dash(c.name), c.peer,
                    number(static_cast<double>(c.backlog)), number(c.published_per_second),
                    number(c.delivered_per_second)});
  }
  return rows;
}

Table TopView::rule_table() const {
  Table rows = {{"LOAD", "TERM/S", "COMP/S", "BYTES", "ENGINE", "RULE"}};
  for (const Rule& rule : rules_) {
    rows.push_back({percent(rule.load), number(rule.terminators), number(rule.composites),
                    number(static_cast<double>(rule.info->bytes)), or_dash(rule.info->engine),
                    rule.info->name + (rule.info->suspended ? " (suspended)" : "")});
  }
  return rows;
}

std::vector<std::string> TopView::lines(std::size_t width, std::size_t height) const {
  std::vector<std::string> all = summary();
  for (const Table& table : {engine_table(), connection_table(), rule_table()}) {
    if (table.size() == 1) continue;
    all.emplace_back();
    for (std::string& line : table_lines(table)) all.push_back(std::move(line));
  }
  if (all.size() > height) all.resize(height);
  for (std::string& line : all) cut_to(line, width);
  return all;
}

Json TopView::json() const {
  Json rules = Json::array(), engines = Json::array(), connections = Json::array();
  for (const Rule& rule : rules_) {
    rules.push_back({{"name", rule.info->name},
                     {"engine", rule.info->engine},
                     {"load", rule.load},
                     {"terminators_per_second", rule.terminators},
                     {"composites_per_second", rule.composites},
                     {"bytes", rule.info->bytes},
                     {"pending", rule.info->pending},
                     {"suspended", rule.info->suspended}});
  }
  for (const Engine& engine : engines_) {
    engines.push_back({{"name", engine.name},
                       {"rules", engine.rules},
                       {"terminators_per_second", engine.terminators},
                       {"load", engine.load}});
  }
  for (const ClientConnection& c : now_.connections) {
    connections.push_back({{"id", c.id},
                           {"name", c.name},
                           {"peer", c.peer},
                           {"backlog", c.backlog},
                           {"published_per_second", c.published_per_second},
                           {"delivered_per_second", c.delivered_per_second}});
  }
  return {{"seconds", seconds_},
          {"events_per_second", accepted_},
          {"refused_per_second", refused_},
          {"composites_per_second", composites_},
          {"latency_p50_ns", p50_ ? Json(*p50_) : Json()},
          {"latency_p99_ns", p99_ ? Json(*p99_) : Json()},
          {"round_trip_ns", now_.round_trip},
          {"held_events", value_of(now_, "held_events")},
          {"durable_backlog_events", value_of(now_, "durable_backlog_rows")},
          {"engines", std::move(engines)},
          {"connections", std::move(connections)},
          {"rules", std::move(rules)},
          {"not_shown", now_.hidden}};
}

}  // namespace gorgo::tools
