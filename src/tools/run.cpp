#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "gorgo/event_batch.hpp"
#include "gorgo/processor.hpp"
#include "server/alarm_file.hpp"
#include "tools/append_events.hpp"
#include "tools/bad_lines.hpp"
#include "tools/commands.hpp"
#include "tools/composite_writer.hpp"
#include "tools/device_text.hpp"
#include "tools/evaluation.hpp"
#include "tools/event_form.hpp"
#include "tools/event_stream.hpp"
#include "tools/listing.hpp"
#include "tools/misspelt_events.hpp"
#include "tools/number_text.hpp"
#include "tools/output.hpp"
#include "tools/progress.hpp"
#include "tools/stream_pieces.hpp"
#include "tools/table_files.hpp"
#include "tools/time_option.hpp"

namespace gorgo::tools {
namespace {

struct RunOptions {
  std::vector<std::string> rules;
  std::string events;
  std::vector<std::string> tables;  // TYPE=FILE
  Evaluation evaluation;
  EventForm form;
  CompositeForm output = {.format = ""};
  Duration lateness = ProcessorOptions().lateness;
  Duration max_late = ProcessorOptions().max_late;
  bool reach_deadlines = false;
  bool stats = false;
  bool strict = false;
};

void report(const EngineAlarm& alarm) {
  const auto saved = server::save_report(alarm, ".");
  fail("rule " + alarm.rule + ": " + alarm.difference + "; please report it, with " +
       (saved ? *saved : "the rule and its events (" + saved.error().message + ")"));
}

std::string did_you_mean(const std::string& name, const std::vector<std::string>& known) {
  const auto closest = closest_name(name, known);
  return closest.empty() ? "" : "did you mean '" + std::string(closest) + "'?";
}

/// One `gorgo run`: rules, then events in, composites out.
class Run {
 public:
  explicit Run(const RunOptions& options)
      : options_(options),
        processor_({.engine = options.evaluation.engine,
                    .threads = options.evaluation.threads,
                    .lateness = options.lateness,
                    .max_late = options.max_late,
                    .hands_out = [](std::string_view) { return false; },
                    .on_alarm = report}) {}

  int go() {
    const auto rules = read_rules(options_.rules, options_.evaluation.settings);
    if (!rules || !deploy_sources(*rules, processor_) || !check_form()) return kFailure;
    warn_of_type();
    const Schema schema = processor_.schema();  // of the thread that reads
    if (const auto tables = tables_.read(options_.tables, schema); !tables) {
      return fail(tables.error().to_string());
    }
    auto reader = make_reader(options_.form, &schema);
    if (!reader) return misuse(reader.error());
    EventStream stream(*std::move(reader));
    writer_.emplace(composite_form(), processor_);
    if (const auto opened = stream.open(options_.events); !opened) {
      return fail(opened.error().to_string());
    }
    const auto start = std::chrono::steady_clock::now();
    const auto read =
        read_pieces(stream, [this](StreamPiece piece) { return take(std::move(piece)); });
    if (read && !tables_.error()) tables_.append_rest(processor_);
    // This includes what stands before a line that stopped the run, and what lateness holds.
    processor_.flush([this](const OutputBatch& batch) { print(batch); });
    bool written = process();
    if (read && options_.reach_deadlines) written = reach_deadlines();
    progress_.clear();
    if (!read) return fail(read.error().to_string());
    if (tables_.error()) return fail(tables_.error()->to_string());
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
    if (options_.stats) print_stats(elapsed.count());
    print_dropped();
    print_given_up();
    print_skipped();
    for (const std::string& each : misspelt_in(processor_.types())) note(shown(each));
    return finish(written);
  }

 private:
  static constexpr std::size_t kWritten = 256 << 10;  // bytes, at a time

  CompositeForm composite_form() const {
    CompositeForm form = options_.output;
    if (form.format.empty()) form.format = options_.form.format;
    return form;
  }

  bool check_form() const {
    const auto checked = check(composite_form(), processor_);
    if (!checked) fail(checked.error());
    return checked.has_value();
  }

  void warn_of_type() const {
    if (options_.form.text.type.empty() ||
        processor_.schema().find(options_.form.text.type) != nullptr)
      return;
    std::vector<std::string> known;
    for (const TypeInfo& type : processor_.types()) known.push_back(type.name);
    fail({"--type: no rule reads events of type '" + options_.form.text.type + "'",
          did_you_mean(options_.form.text.type, known)});
  }

  bool take(StreamPiece piece) {
    if (!append(std::move(piece.events))) return false;
    switch (piece.kind) {
      case StreamPiece::Kind::tick:
        return tick(piece.timestamp, piece.line);
      case StreamPiece::Kind::bad_line:
        return bad_line(piece.error);
      case StreamPiece::Kind::pause:
        return process();
      case StreamPiece::Kind::full:
        break;
    }
    return true;
  }

  bool append(ReadEvents read) {
    return tables_.append(std::move(read), processor_, taken_,
                          {.refused = [this](const Error& error) { return bad_line(error); },
                           .process = [this] { return process(); }});
  }

  bool tick(Timestamp timestamp, std::uint64_t line) {
    if (!tables_.append_until(timestamp, processor_)) return false;
    const auto ticked = processor_.tick(timestamp);
    if (!ticked) return bad_line(at_line(line, ticked.error()));
    ++taken_;
    return processor_.pending() < kManyPending || process();
  }

  bool bad_line(const Error& error) {
    progress_.clear();
    bad_lines_.add(error);
    return !options_.strict;
  }

  /// Evaluates what was appended and prints the composites. False: they cannot be written.
  bool process() {
    processor_.process([this](const OutputBatch& batch) { print(batch); });
    progress_.show(processor_.counters().accepted);
    return write_error_ == 0;
  }

  bool reach_deadlines() {
    processor_.finish([this](const OutputBatch& batch) { print(batch); });
    return write_error_ == 0;
  }

  void print(const OutputBatch& batch) {
    for (const auto& row : batch.rows) {
      if (!writer_->is_wanted(batch, row)) continue;
      writer_->write(out_, batch, row);
      if (out_.size() >= kWritten) write_out();
    }
    write_out();
  }

  void write_out() {
    if (!out_.empty()) progress_.clear();
    std::string_view rest = out_;
    while (!rest.empty() && write_error_ == 0) {
      const auto written = write(STDOUT_FILENO, rest.data(), rest.size());
      if (written >= 0) {
        rest.remove_prefix(static_cast<std::size_t>(written));
      } else if (errno != EINTR) {
        write_error_ = errno;
      }
    }
    out_.clear();
  }

  void print_late() const {
    for (const auto& type : processor_.types()) {
      if (type.late + type.too_late == 0) continue;
      std::fprintf(stderr, "%s: %llu events late, %llu refused as too late\n",
                   type.name.empty() ? "other types" : type.name.c_str(),
                   static_cast<unsigned long long>(type.late),
                   static_cast<unsigned long long>(type.too_late));
    }
  }

  void print_stats(double seconds) const {
    const ProcessorCounters& counters = processor_.counters();
    const auto number = [](std::uint64_t n) { return static_cast<unsigned long long>(n); };
    std::fprintf(stderr, "%llu events in %.3f s: %.0f events/s; %llu lines skipped\n",
                 number(counters.accepted), seconds,
                 static_cast<double>(counters.accepted) / std::max(seconds, 1e-9),
                 number(bad_lines_.count()));
    for (const auto& rule : processor_.rules()) {
      std::fprintf(stderr, "%s: %llu %s of %llu terminators by %s", rule.name.c_str(),
                   number(rule.composites), rule.type.c_str(), number(rule.terminators),
                   rule.engine.c_str());
      if (rule.overflows > 0) std::fprintf(stderr, "; %llu given up", number(rule.overflows));
      if (rule.declined > 0) {
        std::fprintf(stderr, "; %llu by column-scan, because of %s", number(rule.declined),
                     rule.declined_because.c_str());
      }
      if (!rule.placed_because.empty()) {
        std::fprintf(stderr, "; %s", rule.placed_because.c_str());
      }
      std::fputc('\n', stderr);
    }
    for (const DeviceInfo& device : devices()) {
      const bool never_used = !device.problem.empty() && device.counters.empty();
      if (!never_used) std::fprintf(stderr, "%s\n", text_of(device).c_str());
    }
    print_late();
  }

  /// Runs also without `--stats`, because what was printed is not all that the rules say.
  void print_dropped() const {
    const ProcessorCounters& counters = processor_.counters();
    const DroppedComposite& last = processor_.last_dropped();
    std::string lost;
    if (counters.dropped_composites > 0) {
      lost = plural(counters.dropped_composites, "composite") +
             " dropped, because one event brought about more than " +
             std::to_string(ProcessorOptions().max_composites) + "; ";
    }
    if (counters.dropped_depth > 0) {
      lost += plural(counters.dropped_depth, "composite") +
              " not evaluated, because of a depth of " +
              std::to_string(ProcessorOptions().max_depth) + " composites; ";
    }
    if (lost.empty()) return;
    fail(lost + "the last by rule " + last.rule + ", of an event of type " + last.event);
  }

  /// Nothing comes of a terminator that is given up, nor of a composite for which there is no room
  /// to wait.
  void print_given_up() const {
    for (const RuleInfo& rule : processor_.rules()) {
      if (rule.overflows == 0) continue;
      fail({"rule " + rule.name + ": gave up " + plural(rule.overflows, "time") +
                ", because a terminator had more than " +
                plural(rule.max_sequences, "partial sequence") + ", or " +
                plural(rule.max_sequences, "composite") + " waited for deadlines already",
            "narrow its windows or conditions, or allow more with @limit(max_sequences = N)"});
    }
  }

  /// What a timer would have reported of a long gap is not there either.
  void print_skipped() const {
    for (const RuleInfo& rule : processor_.rules()) {
      if (rule.skipped == 0) continue;
      fail("rule " + rule.name + ": " + std::to_string(rule.skipped) +
           " instants of its timer passed without a report, because more than " +
           std::to_string(ProcessorOptions().max_instants) + " stood between two events (ticks " +
           "between them, {\"tick\":MILLISECONDS}, bring all)");
    }
  }

  int finish(bool written) const {
    if (!written) return fail(cannot_write_output(write_error_).to_string());
    if (options_.strict) return bad_lines_.count() > 0 ? kFailure : kSuccess;
    bad_lines_.summarise();
    const auto used = bad_lines_.check(taken_);
    return used ? kSuccess : fail(used.error().to_string());
  }

  const RunOptions& options_;
  Processor processor_;
  std::optional<CompositeWriter> writer_;
  std::string out_;
  BadLines bad_lines_{options_.events};
  std::uint64_t taken_ = 0;  // lines
  TableRows tables_;
  int write_error_ = 0;  // errno
  Progress progress_;
};

}  // namespace

void add_run(CLI::App& app, int& exit_code) {
  const auto options = std::make_shared<RunOptions>();
  auto* run = app.add_subcommand(
      "run",
      "Evaluate rules over events from a file and print the composite events, and nothing else,\n"
      "on standard output. Lines that are no events or are refused are skipped and counted, and "
      "the\n"
      "first of them shown; exit code 1 when no line could be used.");
  run->add_option("RULES", options->rules, "Rule files, or folders of them")->required();
  run->add_option("--events", options->events,
                  "Event lines and ticks, oldest first; - is standard input")
      ->required();
  run->add_option("--table", options->tables,
                  "Rows of a table, from a CSV file with a header: before the first event,\n"
                  "or at the times of its column ts")
      ->option_text("TYPE=FILE")
      ->allow_extra_args(false);
  add_evaluation(run, options->evaluation);
  add_event_form(run, options->form, "--format");
  add_composite_form(run, options->output);
  as_time(run->add_option("--lateness", options->lateness,
                          "How long events are held back to be put in order, such as 500ms"))
      ->option_text("TIME=0s");
  as_time(run->add_option("--max-late", options->max_late,
                          "Refuse events that are further behind the clock"))
      ->option_text("TIME=10s");
  run->add_flag("--reach-deadlines", options->reach_deadlines,
                "At the end, let the clock run on to every pending deadline");
  run->add_flag("--stats", options->stats, "Print counts and rates on standard error at the end");
  run->add_flag("--strict", options->strict, "Stop with exit code 1 at the first bad line");
  run->callback([options, &exit_code] { exit_code = Run(*options).go(); });
}

}  // namespace gorgo::tools
