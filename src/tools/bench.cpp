#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/file.hpp"
#include "bench/measure.hpp"
#include "bench/plot.hpp"
#include "bench/report.hpp"
#include "bench/timeline.hpp"
#include "bench/workload.hpp"
#include "engine/engine.hpp"
#include "gorgo/processor.hpp"
#include "tools/commands.hpp"
#include "tools/option_checks.hpp"
#include "tools/output.hpp"
#include "tools/progress.hpp"
#include "tools/stop_signals.hpp"
#include "tools/text_file.hpp"

namespace gorgo::tools {
namespace {

using bench::Sweep;

struct BenchOptions {
  std::vector<std::string> scenarios;
  std::vector<std::string> engines;
  unsigned threads = 1;
  std::string grid = "quick";
  std::vector<double> at;  ///< instead of the values of the grid
  std::size_t batch = bench::kBatch;
  bool latency = false;
  std::optional<std::uint64_t> events;
  std::optional<int> repetitions;
  std::string json;
  bool list = false;
  bool timeline = false;
  bench::TimelineLimits timeline_limits;
};

/// "base/window/last" is named by itself, by "base/window" and by "base".
bool names(const std::string& name, const Sweep& sweep) {
  return sweep.id == name || sweep.id.starts_with(name + "/");
}

/// All names that stand for some sweep.
std::vector<std::string> known_names() {
  std::vector<std::string> known;
  for (const Sweep& sweep : bench::sweeps()) {
    for (std::size_t end = 0; end != sweep.id.npos;) {
      end = sweep.id.find('/', end + 1);
      const auto name = sweep.id.substr(0, end);
      if (std::ranges::find(known, name) == known.end()) known.push_back(name);
    }
  }
  return known;
}

std::string check_scenario(const std::string& name) {
  const auto known = known_names();
  if (std::ranges::find(known, name) != known.end()) return "";
  std::string message = "unknown scenario '" + name + "'";
  if (const auto closest = closest_name(name, known); !closest.empty()) {
    message += ", did you mean '" + std::string(closest) + "'?";
  }
  return message + " (--list shows all)";
}

std::string now_utc() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

/// One `gorgo bench`: sweep after sweep, a table behind each.
class Bench {
 public:
  explicit Bench(const BenchOptions& options) : options_(options) {
    report_ = {.machine = bench::this_machine(),
               .started = now_utc(),
               .grid = options.grid,
               .limits = bench::limits_of(options.grid)};
    report_.limits.threads = options.threads;
    report_.limits.batch = options.batch;
    report_.limits.latency = options.latency;
    if (options.events) report_.limits.events = *options.events;
    if (options.repetitions) report_.limits.repetitions = *options.repetitions;
    for (const Sweep& sweep : bench::sweeps()) {
      const bool chosen = options.scenarios.empty() ||
                          std::ranges::any_of(options.scenarios,
                                              [&](const auto& name) { return names(name, sweep); });
      if (!chosen || values_of(sweep).empty()) continue;
      sweeps_.push_back(&sweep);
      cells_ += values_of(sweep).size();
    }
  }

  int go() {
    const auto& machine = report_.machine;
    std::printf("%s, %u cores; %s; commit %s\n", machine.cpu.c_str(), machine.cores,
                machine.compiler.c_str(), machine.commit.c_str());
    for (const Sweep* sweep : sweeps_) {
      if (!run(*sweep)) return kFailure;
      if (stopped_) break;
    }
    progress_.clear();
    report_.complete = !stopped_;
    if (!save()) return kFailure;
    if (stopped_) return fail("interrupted; what is above was measured");
    if (wrong_ > 0) return fail("the engines disagree in " + std::to_string(wrong_) + " cells");
    return kSuccess;
  }

 private:
  const std::vector<double>& values_of(const Sweep& sweep) const {
    return options_.at.empty() ? bench::values_of(sweep, options_.grid) : options_.at;
  }

  /// False: there was an error, which is reported.
  bool run(const Sweep& sweep) {
    const std::size_t first = report_.cells.size();
    bool good = true;
    for (const double x : values_of(sweep)) {
      const auto done = options_.timeline ? run_timelines(sweep, x) : run_cell(sweep, x);
      if (!done) {
        progress_.clear();
        fail(done.error().to_string());
        good = false;
        break;
      }
      ++done_;
      if (stopped_) break;
    }
    progress_.clear();
    if (!options_.timeline) {
      std::printf("\n%s",
                  bench::table_of({report_.cells.begin() + static_cast<std::ptrdiff_t>(first),
                                   report_.cells.end()})
                      .c_str());
    }
    return flush_output() && save() && good;
  }

  Result<void> run_cell(const Sweep& sweep, double x) {
    auto cell =
        bench::measure(sweep, x, options_.engines, report_.limits, announcing(sweep, x), going_);
    if (!cell) return cell.error();
    wrong_ += cell->mismatch.empty() ? 0 : 1;
    report_.cells.push_back(std::move(*cell));
    return {};
  }

  Result<void> run_timelines(const Sweep& sweep, double x) {
    auto cell = bench::measure_timelines(sweep, x, options_.engines, report_.limits,
                                         options_.timeline_limits, announcing(sweep, x), going_);
    if (!cell) return cell.error();
    wrong_ += cell->mismatch.empty() ? 0 : 1;
    progress_.clear();
    std::printf("\n%s", bench::text_of(*cell).c_str());
    report_.timelines.push_back(std::move(*cell));
    return {};
  }

  bench::Announce announcing(const Sweep& sweep, double x) {
    return [this, &sweep, x](const std::string& engine, int repetition) {
      announce(sweep, x, engine, repetition);
    };
  }

  void announce(const Sweep& sweep, double x, const std::string& engine, int repetition) {
    constexpr std::size_t kWidth = 20;
    const std::size_t filled = done_ * kWidth / cells_;
    char text[160];
    std::snprintf(text, sizeof text, "[%-*s] %zu/%zu %s x=%g %s %d", static_cast<int>(kWidth),
                  std::string(filled, '#').c_str(), done_, cells_, sweep.id.c_str(), x,
                  engine.c_str(), repetition);
    progress_.show(text);
  }

  bool keep_going() {
    stopped_ = stopped_ || !signals_.wait(0);
    return !stopped_;
  }

  /// Saves the report. Called after every sweep, so that a long run loses little.
  bool save() const {
    if (options_.json.empty()) return true;
    const auto written = write_text_file(options_.json, bench::to_json(report_));
    if (!written) fail(written.error().to_string());
    return written.has_value();
  }

  const BenchOptions& options_;
  bench::Report report_;
  std::vector<const Sweep*> sweeps_;
  std::size_t cells_ = 0, done_ = 0, wrong_ = 0;
  bool stopped_ = false;
  const bench::KeepGoing going_ = [this] { return keep_going(); };
  StopSignals signals_;
  Progress progress_;
};

int list_sweeps() {
  for (const Sweep& sweep : bench::sweeps()) {
    std::printf("%-28s %-40s", sweep.id.c_str(), sweep.axis.c_str());
    for (const double x : sweep.full) std::printf(" %g", x);
    std::printf("\n");
  }
  return kSuccess;
}

int plot_report(const std::string& path, const std::string& folder) {
  const auto text = read_file(path);
  if (!text) return fail(text.error().to_string());
  const auto figures = bench::plot(*text);
  if (!figures) return fail(path + ": " + figures.error().to_string());
  std::error_code ignored;  // writing says what is wrong
  std::filesystem::create_directories(folder, ignored);
  for (const auto& figure : *figures) {
    const auto file = std::filesystem::path(folder) / (figure.name + ".svg");
    const auto written = write_text_file(file.string(), figure.svg);
    if (!written) return fail(written.error().to_string());
  }
  std::printf("%zu figures in %s\n", figures->size(), folder.c_str());
  return kSuccess;
}

void add_plot(CLI::App& bench, int& exit_code) {
  const auto report = std::make_shared<std::string>();
  const auto folder = std::make_shared<std::string>(".");
  auto* plot = bench.add_subcommand(
      "plot",
      "Draw a report as the papers do: a figure (SVG) for each sweep, a line for each engine.");
  plot->add_option("FILE", *report, "A report that --json wrote")->required();
  plot->add_option("-o,--output", *folder, "The folder for the figures")->capture_default_str();
  plot->callback([=, &exit_code] { exit_code = plot_report(*report, *folder); });
}

std::vector<std::string> known_engines() {
  auto engines = engine_names();
  engines.emplace_back(bench::kHandwritten);
  return engines;
}

/// Whether it is an engine that this machine has no device for.
bool is_unavailable(const std::string& name) {
  const auto* const engine = engine::find_engine(name);
  if (engine == nullptr) return false;
  return std::ranges::any_of(engine->description(), [](const std::string& line) {
    return line.starts_with("unavailable");
  });
}

/// Only the quick grid has the reference engine, which is for small sizes.
std::vector<std::string> default_engines(const std::string& grid) {
  auto engines = known_engines();
  std::erase(engines, "cuda-host");
  std::erase_if(engines, is_unavailable);
  if (grid != "quick") std::erase(engines, "reference");
  return engines;
}

void add_timeline(CLI::App& bench, BenchOptions& options) {
  auto* timeline = bench.add_flag(
      "--timeline", options.timeline,
      "Throughput over time instead of a table, with the engine in charge, once for each engine");
  auto& limits = options.timeline_limits;
  bench
      .add_option("--seconds", limits.seconds,
                  "Of a timeline: measured behind the shift; in all where the load does not shift")
      ->check(CLI::Range(0.0, 1e6))
      ->option_text("FLOAT=5")
      ->needs(timeline);
  bench.add_option("--slice", limits.slice, "Of a timeline, in seconds")
      ->check(CLI::Range(0.001, 1e6))
      ->option_text("FLOAT=0.1")
      ->needs(timeline);
  bench
      .add_option("--shift-after", limits.shift_after,
                  "Of a timeline: events before the load shifts")
      ->check(positive())
      ->option_text("UINT:POSITIVE=500000")
      ->needs(timeline);
}

}  // namespace

void add_bench(CLI::App& app, int& exit_code) {
  const auto options = std::make_shared<BenchOptions>();
  auto* bench = app.add_subcommand(
      "bench",
      "Replay generated workloads under every engine, compare what the engines produce and "
      "measure\n"
      "what it costs. Exit code 1 when two engines differ. bench/README.md explains the tables.");
  bench
      ->add_option(
          "SCENARIO", options->scenarios,
          "Scenarios or sweeps, such as base, base/window or base/window/last; all without it")
      ->check(check_scenario);
  bench->add_option("--engine", options->engines, "Engines, separated by commas")
      ->delimiter(',')
      ->check(one_of(known_engines()));
  bench
      ->add_option("--grid", options->grid,
                   "quick: small sizes, a minute, for the results only; full: the figures of the\n"
                   "papers, hours; gpu: larger sizes, too")
      ->check(one_of({"quick", "full", "gpu"}))
      ->capture_default_str();
  bench
      ->add_option("--threads", options->threads,
                   "That evaluate rules, where the sweep does not say; 0: as many as the machine\n"
                   "runs at once")
      ->check(number_of_threads())
      ->option_text("N=1");
  bench->add_option("--at", options->at, "Values of x, separated by commas, instead of the grid's")
      ->delimiter(',');
  bench
      ->add_option("--events", options->events,
                   "Measured at most, instead of the grid's number; `auto` takes some thousands to "
                   "compare engines")
      ->check(positive())
      ->option_text("UINT:POSITIVE");
  bench->add_option("--repetitions", options->repetitions, "Of each engine, instead of the grid's")
      ->check(positive())
      ->option_text("UINT:POSITIVE");
  bench->add_option("--batch", options->batch, "Events that are appended before each evaluation")
      ->check(positive())
      ->capture_default_str();
  bench->add_flag("--latency", options->latency,
                  "Also show percentiles: of the time of a batch that brings a rule a terminator");
  add_timeline(*bench, *options);
  bench->add_option("--json", options->json, "Also write the results to this file");
  bench->add_flag("--list", options->list, "List the sweeps and their values, measure nothing");
  add_plot(*bench, exit_code);
  bench->callback([options, bench, &exit_code] {
    if (!bench->get_subcommands().empty()) return;  // which has done its work
    if (options->engines.empty()) options->engines = default_engines(options->grid);
    exit_code = options->list ? list_sweeps() : Bench(*options).go();
  });
}

}  // namespace gorgo::tools
