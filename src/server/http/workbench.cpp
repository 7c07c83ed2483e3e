#include "server/http/workbench.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "protocol/info.hpp"

namespace gorgo::server::http {
namespace {

// The engine thread gathers the rows. One row in this time keeps its share small, however many
// rules and types there are.
constexpr std::chrono::microseconds kEachRow{500};

// So the text of a row begins that tells the shape of a rule.
constexpr std::string_view kShape = R"({"kind":"shape")";

/// With three digits, so that a row does not change with every breath of a rate.
double rounded(double value) {
  if (!(std::abs(value) > 0) || !std::isfinite(value)) return 0;
  const double unit = std::pow(10, std::floor(std::log10(std::abs(value))) - 2);
  const double digits = std::round(value / unit);
  return unit < 1 ? digits / std::round(1 / unit) : digits * unit;
}

std::string key_of(const Json& row) {
  return row["kind"].get<std::string>() + ' ' + row.value("name", "");
}

/// By engine, what was estimated, what was measured, and upkeep, in nanoseconds; null: unknown.
Json costs_of(const wire::RuleInfo& rule) {
  Json costs = Json::object();
  if (rule.costs() == nullptr) return costs;
  const auto known = [](const auto& value) { return value ? Json(rounded(*value)) : Json(); };
  for (const auto* cost : *rule.costs()) {
    costs[protocol::text_of(cost->engine())] = {known(cost->estimate()), known(cost->measured()),
                                                known(cost->upkeep())};
  }
  return costs;
}

/// The mean and the longest, in milliseconds; null: no composite came of late.
Json latency_of(const wire::RuleLatency* latency) {
  if (latency == nullptr) return {};
  return {rounded(latency->mean() * 1e3), rounded(latency->longest() * 1e3)};
}

}  // namespace

Workbench::Gathering::Gathering(Workbench& workbench, Time now) : workbench_(workbench), now_(now) {
  workbench_.gathering_ = true;
  ++workbench_.gatherings_;
}

Workbench::Gathering::~Gathering() {
  workbench_.gathering_ = false;
  if (complete_) workbench_.drop_missing();
  const auto work = kEachRow * static_cast<std::int64_t>(workbench_.rows_.size());
  workbench_.next_ = now_ + std::max<Time::duration>(kTick, work);
  if (workbench_.views_ == 0) workbench_.forget();
}

void Workbench::Gathering::put(Json row) {
  const auto [place, is_new] = workbench_.places_.try_emplace(key_of(row), workbench_.rows_.size());
  if (is_new) workbench_.rows_.emplace_back();
  Row& known = workbench_.rows_[place->second];
  known.gathering = workbench_.gatherings_;
  known.gone = false;
  workbench_.set(known, to_text(row));
}

double Workbench::Gathering::rate(const std::string& of, std::uint64_t total) {
  const Rate first{RecentRate(now_), total, 0};
  Rate& rate = workbench_.rates_.try_emplace(of, first).first->second;
  if (total < rate.total) rate.total = total;  // it counts anew
  rate.recent.add(total - rate.total);
  rate.recent.look(now_);
  rate.total = total;
  rate.gathering = workbench_.gatherings_;
  return rounded(rate.recent.per_second());
}

void Workbench::Gathering::put(const wire::Statistics& statistics, const ServerCounters& server) {
  Json row = {{"kind", "totals"}};
  Json refused = {{"kind", "refused"}, {"malformed_line", server.malformed_lines}};
  if (statistics.list() != nullptr) {
    for (const auto* statistic : *statistics.list()) {
      const std::string name = protocol::text_of(statistic->name()),
                        label = protocol::text_of(statistic->label());
      if (label.empty()) row[name] = statistic->value();
      if (label == "reason")
        refused[protocol::text_of(statistic->label_value())] = statistic->value();
    }
  }
  row["events_refused"] = row.value("events_refused", std::uint64_t{0}) + server.malformed_lines;
  for (const char* of : {"events_accepted", "events_refused", "composites"}) {
    row[std::string(of) + "_per_second"] = rate(of, row.value(of, std::uint64_t{0}));
  }
  row["lost_rows"] = server.lost_rows;
  row["slow_consumers"] = server.slow_consumers;
  row["subscriber_waits"] = server.subscriber_waits;
  row["stalled_reads"] = server.stalled_reads;
  row["sessions_refused"] = server.refused_sessions;
  row["logins_failed"] = server.failed_logins;
  row["requests_forbidden"] = server.forbidden_requests;
  row["malformed_messages"] = server.malformed;
  row["memory_bytes"] = server.memory_bytes;
  row["queue_bytes"] = server.queue_bytes;
  put(std::move(row));
  put(std::move(refused));
  if (statistics.histograms() == nullptr) return;
  for (const auto* histogram : *statistics.histograms()) {
    if (protocol::text_of(histogram->name()) == "latency") put_latency(*histogram);
  }
}

/// Percentiles of what came since the last gathering; without any the row stays as it was.
void Workbench::Gathering::put_latency(const wire::Histogram& histogram) {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> recent;  // bounds and counts
  std::uint64_t total = 0;
  const auto buckets = histogram.bounds() == nullptr ? 0 : histogram.bounds()->size();
  for (flatbuffers::uoffset_t i = 0; i < buckets; ++i) {
    const std::uint64_t count = histogram.counts()->Get(i);
    std::uint64_t& before = workbench_.latencies_[histogram.bounds()->Get(i)];
    const std::uint64_t came = count - std::exchange(before, count);
    if (came > 0) recent.emplace_back(histogram.bounds()->Get(i), came);
    total += came;
  }
  Json row = {
      {"kind", "latency"}, {"name", protocol::text_of(histogram.name())}, {"events", total}};
  constexpr auto kShares = std::to_array<std::pair<const char*, double>>(
      {{"p50_us", 0.5}, {"p99_us", 0.99}, {"p999_us", 0.999}, {"most_us", 1}});
  for (const auto& [name, share] : kShares) {
    row[name] = nullptr;
    double left = std::ceil(share * static_cast<double>(total));
    for (const auto& [bound, count] : recent) {
      if (left > 0) row[name] = rounded(static_cast<double>(bound) / 1000);
      left -= static_cast<double>(count);
    }
  }
  put(std::move(row));
}

void Workbench::Gathering::put_connections(std::size_t open, const ClosedConnections& closed) {
  Json row = {{"kind", "connections"}, {"open", open}, {"closed", Json::object()}};
  for (std::size_t i = 0; i < kEndReasons; ++i) {
    const auto reason = static_cast<EndReason>(i);
    if (closed.count(reason) > 0)
      row["closed"][std::string(name_of(reason))] = closed.count(reason);
  }
  put(std::move(row));
}

void Workbench::Gathering::put(const wire::RuleInfo& rule) {
  const auto* rates = rule.rates();
  put(Json{{"kind", "shape"},
           {"name", protocol::text_of(rule.name())},
           {"type", protocol::text_of(rule.type())},
           {"reads", protocol::texts_of(rule.reads())}});
  put(Json{{"kind", "rule"},
           {"name", protocol::text_of(rule.name())},
           {"engine", protocol::text_of(rule.engine())},
           {"automatic", rule.automatic()},
           {"moves", rule.moves()},
           {"because", protocol::text_of(rule.placed_because())},
           {"events_per_second", rates == nullptr ? 0 : rounded(rates->events())},
           {"terminators_per_second", rates == nullptr ? 0 : rounded(rates->terminators())},
           {"composites_per_second", rates == nullptr ? 0 : rounded(rates->composites())},
           {"latency", latency_of(rule.latency())},
           {"terminators", rule.terminators()},
           {"composites", rule.composites()},
           {"pending", rule.pending()},
           {"overflows", rule.overflows()},
           {"declined", rule.declined()},
           {"suspended", rule.suspended()},
           {"passed_over", rule.passed_over()},
           {"alarm", protocol::text_of(rule.alarm())},
           {"bytes", rule.bytes()},
           {"costs", costs_of(rule)}});
}

void Workbench::Gathering::put(const wire::TypeInfo& type) {
  const std::string name = protocol::text_of(type.name());
  const std::uint64_t came = std::max(type.seen(), type.accepted());
  put(Json{{"kind", "type"},
           {"name", name},
           {"per_second", rate("type " + name, came)},
           {"accepted", type.accepted()},
           {"seen", type.seen()},
           {"events", type.events()},
           {"bytes", type.bytes()},
           {"kept_ms", static_cast<double>(type.reach()) / 1e6},
           {"late", type.late()},
           {"too_late", type.too_late()},
           {"no_value", type.no_value()},
           {"unread", type.unread()},
           {"subscribed", type.subscribed()}});
}

void Workbench::Gathering::put(const wire::DeviceInfo& device) {
  Json row = {{"kind", "device"},
              {"name", protocol::text_of(device.engine()) + ' ' + std::to_string(device.number())},
              {"problem", protocol::text_of(device.problem())},
              {"failures", device.failures()},
              {"failure", protocol::text_of(device.failure())},
              {"failed_on", protocol::text_of(device.failed_on())},
              {"counters", Json::object()}};
  if (device.counters() != nullptr) {
    for (const auto* counter : *device.counters()) {
      row["counters"][protocol::text_of(counter->name())] = counter->value();
    }
  }
  put(std::move(row));
}

void Workbench::set(Row& row, std::string text) {
  if (row.text == text) return;
  row.text = std::move(text);
  row.version = ++version_;
}

void Workbench::drop_missing() {
  for (const auto& [key, place] : places_) {
    Row& row = rows_[place];
    if (row.gone || row.gathering == gatherings_) continue;
    row.gone = true;
    const auto space = key.find(' ');
    set(row,
        to_text({{"kind", key.substr(0, space)}, {"name", key.substr(space + 1)}, {"gone", true}}));
  }
  std::erase_if(rates_, [this](const auto& rate) { return rate.second.gathering != gatherings_; });
}

void Workbench::forget() {
  if (gathering_) return;
  rows_.clear();
  places_.clear();
  rates_.clear();
  latencies_.clear();
  next_ = {};
}

WorkbenchView::WorkbenchView(std::shared_ptr<Workbench> workbench)
    : workbench_(std::move(workbench)) {
  ++workbench_->views_;
}

WorkbenchView::~WorkbenchView() {
  if (--workbench_->views_ == 0) workbench_->forget();
}

bool WorkbenchView::lacks(std::size_t row) const {
  const Workbench::Row& known = workbench_->rows_[row];
  // A browser need not hear of the end of what it never got.
  if (versions_[row] == 0 && known.gone) return false;
  return versions_[row] != known.version;
}

std::string WorkbenchView::next(std::chrono::system_clock::time_point now) {
  constexpr std::size_t kMost = kBytesPerSecond * Workbench::kTick.count() / 1000;
  const auto& rows = workbench_->rows_;
  versions_.resize(rows.size());
  std::string list;
  bool more = false;
  const auto add = [&](std::size_t row) {
    if (!lacks(row)) return;
    more = !list.empty() && list.size() + rows[row].text.size() > kMost - 100;
    if (more) return;
    if (!list.empty()) list += ',';
    list += rows[row].text;
    versions_[row] = rows[row].version;
  };
  // Shapes seldom change, and the graph is of no use without all of them, so they come first.
  for (std::size_t row = 0; row < rows.size() && !more; ++row) {
    if (rows[row].text.starts_with(kShape)) add(row);
  }
  for (std::size_t looked = 0; looked < rows.size() && !more; ++looked) {
    const std::size_t row = turn_ % rows.size();
    add(row);
    if (!more) turn_ = row + 1;
  }
  const auto at = std::chrono::duration_cast<std::chrono::milliseconds>(now.time_since_epoch());
  return "{\"at\":" + std::to_string(at.count()) + ",\"more\":" + (more ? "true" : "false") +
         ",\"rows\":[" + list + "]}";
}

}  // namespace gorgo::server::http
