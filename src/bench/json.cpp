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

}  // namespace

std::string to_json(const Report& report) {
  Json results = Json::array(), sweeps_met = Json::array(), mismatches = Json::array();
  const Sweep* sweep = nullptr;
  for (const CellResult& cell : report.cells) {
    if (cell.sweep != sweep) {
      sweep = cell.sweep;
      sweeps_met.push_back({{"sweep", sweep->id}, {"axis", sweep->axis}, {"log_x", sweep->log_x}});
    }
    for (const EngineResult& result : cell.engines) results.push_back(json_of(cell, result));
    if (!cell.mismatch.empty()) {
      mismatches.push_back({{"sweep", sweep->id}, {"x", cell.x}, {"what", cell.mismatch}});
    }
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
                     {"sweeps", sweeps_met},
                     {"mismatches", mismatches},
                     {"results", results}};
  return json.dump(1) + "\n";
}

}  // namespace gorgo::bench
