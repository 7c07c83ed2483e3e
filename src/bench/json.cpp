#include <cstdio>
#include <nlohmann/json.hpp>

#include "bench/report.hpp"

namespace gorgo::bench {
namespace {

using Json = nlohmann::ordered_json;

/// Raised when a key changes its meaning.
constexpr int kFormat = 1;

std::string hex(std::uint64_t number) {
  char text[19];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(number));
  return text;
}

Json json_of(const Declines& declines) {
  Json list = Json::array();
  for (const Declined& declined : declines.all) {
    list.push_back({{"terminators", declined.terminators},
                    {"of", declines.terminators},
                    {"by", declined.by},
                    {"because", declined.because}});
  }
  return list;
}

Json json_of(const CellResult& cell, const EngineResult& result) {
  Json json = {{"scenario", cell.sweep->id.substr(0, cell.sweep->id.find('/'))},
               {"sweep", cell.sweep->id},
               {"x", cell.x},
               {"engine", result.engine}};
  if (!result.skipped.empty()) json["skipped"] = result.skipped;
  if (result.runs.empty()) return json;
  const Spread spread = spread_of(result.runs, &Run::ns_per_event);
  json["ns_per_event"] = {{"median", spread.median},
                          {"min", spread.min},
                          {"max", spread.max},
                          {"repetitions", result.runs.size()}};
  json["cpu_ns_per_event"] = spread_of(result.runs, &Run::cpu_ns_per_event).median;
  if (const auto latency = latency_of(result.runs)) {
    json["batch_ns"] = {
        {"p50", latency->p50}, {"p99", latency->p99}, {"batches", latency->batches}};
  }
  if (const Declines declines = declines_of(result.runs); !declines.all.empty()) {
    json["declined"] = json_of(declines);
  }
  const Run& run = result.runs.front();
  json["events"] = run.events;
  json["composites"] = run.after.back().composites;
  json["checksum"] = hex(run.after.back().checksum);
  json["remembered"] = run.memory.events;
  json["bytes"] = run.memory.bytes;
  json["bytes_per_event"] = run.memory.bytes_per_event();
  json["rule_bytes"] = run.memory.rule_bytes;
  json["rss_growth"] = run.rss_growth;
  return json;
}

Json json_of(const TimelineCell& cell, const Timeline& timeline) {
  Json slices = Json::array(), moves = Json::array();
  for (const Slice& slice : timeline.slices) {
    slices.push_back({{"start", slice.start},
                      {"seconds", slice.seconds},
                      {"events", slice.events},
                      {"engines", slice.engines}});
  }
  for (const Move& move : timeline.moves) {
    moves.push_back({{"seconds", move.seconds},
                     {"rule", move.rule},
                     {"from", move.from},
                     {"to", move.to},
                     {"because", move.because}});
  }
  const double best = best_of_others(cell, timeline);
  const auto since = settled(timeline, best);
  return {{"sweep", cell.sweep->id},
          {"x", cell.x},
          {"engine", timeline.engine},
          {"shift", timeline.shift ? Json(*timeline.shift) : Json()},
          {"settled", since && best > 0 ? Json(*since) : Json()},
          {"slices", slices},
          {"moves", moves}};
}

class Sweeps {
 public:
  void add(const Sweep& sweep, double x, const std::string& mismatch) {
    if (&sweep != last_) {
      last_ = &sweep;
      met_.push_back({{"sweep", sweep.id}, {"axis", sweep.axis}, {"log_x", sweep.log_x}});
    }
    if (mismatch.empty()) return;
    mismatches_.push_back({{"sweep", sweep.id}, {"x", x}, {"what", mismatch}});
  }
  const Json& met() const { return met_; }
  const Json& mismatches() const { return mismatches_; }

 private:
  const Sweep* last_ = nullptr;
  Json met_ = Json::array(), mismatches_ = Json::array();
};

}  // namespace

std::string to_json(const Report& report) {
  Json results = Json::array(), timelines = Json::array();
  Sweeps sweeps;
  for (const CellResult& cell : report.cells) {
    sweeps.add(*cell.sweep, cell.x, cell.mismatch);
    for (const EngineResult& result : cell.engines) results.push_back(json_of(cell, result));
  }
  for (const TimelineCell& cell : report.timelines) {
    sweeps.add(*cell.sweep, cell.x, cell.mismatch);
    for (const Timeline& timeline : cell.timelines) timelines.push_back(json_of(cell, timeline));
  }
  const Machine& machine = report.machine;
  const Json json = {{"format", kFormat},
                     {"machine",
                      {{"cpu", machine.cpu},
                       {"cores", machine.cores},
                       {"compiler", machine.compiler},
                       {"commit", machine.commit}}},
                     {"started", report.started},
                     {"complete", report.complete},
                     {"grid", report.grid},
                     {"events", report.limits.events},
                     {"seconds", report.limits.seconds},
                     {"threads", report.limits.threads},
                     {"batch", report.limits.batch},
                     {"sweeps", sweeps.met()},
                     {"mismatches", sweeps.mismatches()},
                     {"results", results},
                     {"timelines", timelines}};
  return json.dump(1) + "\n";
}

}  // namespace gorgo::bench
