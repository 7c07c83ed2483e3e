#include "bench/base.hpp"

namespace gorgo::bench {
namespace {

constexpr std::int64_t kSmallWindow = 2000;

using Vary = void (*)(BaseParameters&, double);

/// The values of one sweep; `quick` has a small window besides.
struct Range {
  std::vector<double> quick, full, gpu = {};
};

void add(std::vector<Sweep>& sweeps, const std::string& name, const std::string& axis, bool log_x,
         const Range& range, const std::vector<std::string>& selections, Vary vary) {
  for (const auto& selection : selections) {
    sweeps.push_back({.id = "base/" + name + "/" + selection,
                      .axis = axis,
                      .log_x = log_x,
                      .quick = range.quick,
                      .full = range.full,
                      .gpu = range.gpu,
                      .at = [selection, vary](double x, bool small) {
                        BaseParameters parameters{.selection = selection};
                        if (small) {
                          parameters.window = kSmallWindow;
                          parameters.values = 0;
                        }
                        vary(parameters, x);
                        return base_workload(parameters);
                      }});
  }
}

int to_int(double x) { return static_cast<int>(x); }

const std::vector<std::string> kLast = {"last"};
const std::vector<std::string> kEach = {"each"};
const std::vector<std::string> kBoth = {"last", "each"};

void add_stream_sweeps(std::vector<Sweep>& sweeps) {
  const auto values = [](BaseParameters& p, double x) { p.values = static_cast<std::int64_t>(x); };
  add(sweeps, "window", "window (events)", true,
      {{250, 1000}, {1e3, 4e3, 16e3, 100e3, 250e3, 1e6}, {16e3, 100e3, 250e3, 1e6, 4e6}}, kBoth,
      [](BaseParameters& p, double x) { p.window = static_cast<std::int64_t>(x); });
  add(sweeps, "values", "values of an attribute", true, {{10}, {10, 500, 5e3, 50e3}}, kLast,
      values);
  add(sweeps, "values", "values of an attribute", true, {{100}, {500, 5e3, 50e3}}, kEach, values);
  add(sweeps, "attributes", "attributes per event", false, {{10}, {10, 20, 30, 40, 50}}, kBoth,
      [](BaseParameters& p, double x) { p.attributes = to_int(x); });
  add(sweeps, "endurance", "events that went by before", true, {{5000}, {300e3, 2e6, 20e6}}, kLast,
      [](BaseParameters& p, double x) { p.passed = static_cast<std::int64_t>(x); });
  add(sweeps, "disorder", "events late by up to 1 s (%)", false, {{50}, {0, 50}}, kBoth,
      [](BaseParameters& p, double x) { p.late_share = to_int(x); });
}

void add_pattern_sweeps(std::vector<Sweep>& sweeps) {
  add(sweeps, "states", "states", false, {{2, 4}, {2, 3, 4, 5, 8}}, kBoth,
      [](BaseParameters& p, double x) { p.states = to_int(x); });
  add(sweeps, "each-states", "states with each, of 7 behind the terminator", false,
      {{3}, {1, 3, 5, 7}}, {"mixed"}, [](BaseParameters& p, double x) {
        p.states = 8;
        p.each_states = to_int(x);
      });
  add(sweeps, "aggregates", "aggregates", false, {{0, 3}, {0, 1, 2, 3}}, kBoth,
      [](BaseParameters& p, double x) { p.aggregates = to_int(x); });
  add(sweeps, "selectivity", "sequences that a filter on the aggregate accepts (%)", true,
      {{10}, {1, 10, 50, 90}}, kEach, [](BaseParameters& p, double x) {
        p.window = 1000;
        p.values = 100;
        p.accepted = to_int(x);
      });
  add(sweeps, "negations", "negations with the parameter", false, {{2}, {0, 1, 2}}, kBoth,
      [](BaseParameters& p, double x) { p.negations = to_int(x); });
  add(sweeps, "constant-negations", "negations with a constant condition", false, {{2}, {0, 1, 2}},
      kBoth, [](BaseParameters& p, double x) {
        p.negations = to_int(x);
        p.negation_parameter = false;
      });
  add(sweeps, "rejected", "candidates that a negation rejects (%)", false, {{50}, {0, 50, 90, 99}},
      kLast, [](BaseParameters& p, double x) {
        p.states = 2;
        p.parameters = p.aggregates = 0;
        p.negations = 1;
        p.rejected = to_int(x);
      });
  add(sweeps, "plain", "states, without parameters and aggregates", false, {{2}, {2, 3, 5}}, kLast,
      [](BaseParameters& p, double x) {
        p.states = to_int(x);
        p.parameters = p.aggregates = 0;
      });
  add(sweeps, "consuming", "states whose events are consumed", false, {{2}, {0, 1, 2}}, kBoth,
      [](BaseParameters& p, double x) { p.consumed = to_int(x); });
  const auto parameters = [](BaseParameters& p, double x) { p.parameters = to_int(x); };
  add(sweeps, "parameters", "parameters between states", false, {{0, 2}, {0, 1, 2}}, kLast,
      parameters);
  add(sweeps, "parameters", "parameters between states", false, {{2}, {1, 2}}, kEach, parameters);
}

void add_rule_sweeps(std::vector<Sweep>& sweeps) {
  add(sweeps, "rules", "rules, each event relevant to a tenth", true, {{1, 20}, {1, 10, 100}},
      kBoth, [](BaseParameters& p, double x) {
        p.groups = 10;
        p.rules = to_int(x);
      });
  add(sweeps, "more-rules", "rules, each event relevant to a hundredth", true,
      {{200}, {20, 100, 250, 1000}}, kBoth, [](BaseParameters& p, double x) {
        p.groups = 100;
        p.rules = to_int(x);
        if (p.values != 0) p.values = 1000;
      });
  add(sweeps, "own-types", "rules, each with types of its own", true, {{50}, {1, 50, 500}}, kBoth,
      [](BaseParameters& p, double x) { p.groups = p.rules = to_int(x); });
}

void add_thread_sweeps(std::vector<Sweep>& sweeps) {
  const Range threads{{2}, {1, 2, 4, 8, 16}};
  const auto set = [](BaseParameters& p, double x) { p.threads = static_cast<unsigned>(x); };
  add(sweeps, "threads", "threads, 1 rule", true, threads, kBoth, set);
  add(sweeps, "threads-rules", "threads, 100 rules", true, threads, kBoth,
      [](BaseParameters& p, double x) {
        p.rules = p.values == 0 ? 10 : 100;
        p.threads = static_cast<unsigned>(x);
      });
}

}  // namespace

void add_base_sweeps(std::vector<Sweep>& sweeps) {
  add_stream_sweeps(sweeps);
  add_pattern_sweeps(sweeps);
  add_rule_sweeps(sweeps);
  add_thread_sweeps(sweeps);
}

}  // namespace gorgo::bench
