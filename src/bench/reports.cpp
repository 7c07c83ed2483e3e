#include "bench/reports.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "bench/random.hpp"

namespace gorgo::bench {
namespace {

constexpr std::uint64_t kReportsSeed = 6;

/// What a cell of these sweeps is about.
struct GroupReport {
  std::string value;      ///< type of what is summed
  std::int64_t rate = 0;  ///< events in a second
  double seconds = 1;     ///< of the window
  std::int64_t keys = 0;  ///< 0: the report is not by key
  bool panes = false;     ///< it has `@panes`; keys are those of a table then
};

std::string rule_of(const GroupReport& report) {
  const std::string window =
      " within " + std::to_string(std::llround(report.seconds * 1000)) + " ms inclusive from Timer";
  const bool keyed = report.keys > 0;
  const std::string condition = keyed ? "k = $k" : "";
  const bool is_table = keyed && report.panes;
  const std::string groups = is_table ? "and table E(" + condition + ")\n"
                             : keyed  ? "and last E(" + condition + ") per k" + window + "\n"
                                      : "";
  return (is_table ? "table E(k: int key, v: " : "event E(k: int, v: ") + report.value + ");\n" +
         (report.panes ? "@panes " : "") + "define R(k: int, n: int, sum: " + report.value +
         ")\nfrom Timer(every = 1 s)\n" + groups + "where k = " + (keyed ? "$k" : "0") +
         ", n = Count(E(" + condition + ")" + window + "), sum = Sum(E(" + condition + ").v" +
         window + ");\n";
}

EventSource source_of(const GroupReport& report) {
  const Duration tick = 1'000'000'000 / report.rate;
  const std::int64_t keys = std::max<std::int64_t>(1, report.keys);
  const bool whole = report.value == "int";
  return [=, random = Random(kReportsSeed), now = Timestamp{0}](GeneratedEvents& batch) mutable {
    const std::int64_t key = random.between(0, keys - 1);
    const Datum value = whole ? Datum::of(random.between(0, 1000)) : Datum::of(random.unit());
    batch.add(0, now += tick, {Datum::of(key), value});
  };
}

Workload report_workload(const GroupReport& report) {
  Workload workload;
  workload.rules = rule_of(report);
  workload.types = {"E"};
  workload.fill = static_cast<std::uint64_t>(report.seconds * static_cast<double>(report.rate));
  workload.make_source = [report] { return source_of(report); };
  return workload;
}

/// A second has few events where all is small, so that there are reports.
constexpr std::int64_t kFew = 200, kMany = 100'000;

void add_sweeps(const std::string& value, bool panes, std::vector<Sweep>& sweeps) {
  const std::string kind = panes ? " from panes" : "";
  sweeps.push_back(
      {.id = (panes ? "reports/panes/" : "reports/window/") + value,
       .axis = "window of a report each second" + kind + " (s), without a key",
       .quick = {1, 3},
       .full = {1, 10, 60},
       .gpu = {},
       .at = [value, panes](double x, bool small) {
         return report_workload(
             {.value = value, .rate = small ? kFew : kMany, .seconds = x, .panes = panes});
       }});
  sweeps.push_back({.id = (panes ? "reports/panes-keys/" : "reports/keys/") + value,
                    .axis = "keys of a report each second" + kind + " over 10 s",
                    .quick = {10},
                    .full = {10, 1000, 100'000},
                    .gpu = {},
                    .at = [value, panes](double x, bool small) {
                      return report_workload({.value = value,
                                              .rate = small ? kFew : kMany,
                                              .seconds = small ? 2.0 : 10.0,
                                              .keys = static_cast<std::int64_t>(x),
                                              .panes = panes});
                    }});
}

}  // namespace

void add_report_sweeps(std::vector<Sweep>& sweeps) {
  for (const bool panes : {false, true}) {
    for (const std::string value : {"int", "float"}) {
      add_sweeps(value, panes, sweeps);
    }
  }
}

}  // namespace gorgo::bench
