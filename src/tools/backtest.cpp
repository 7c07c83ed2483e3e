#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>
#include <iterator>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/arithmetic.hpp"
#include "gorgo/processor.hpp"
#include "journal/journal.hpp"
#include "journal/reader.hpp"
#include "journal/snapshot.hpp"
#include "journal/survey.hpp"
#include "server/durability/journal_feed.hpp"
#include "server/rules/declaration.hpp"
#include "tools/commands.hpp"
#include "tools/composite_writer.hpp"
#include "tools/evaluation.hpp"
#include "tools/journal_export.hpp"
#include "tools/lasting_memory.hpp"
#include "tools/option_checks.hpp"
#include "tools/output.hpp"
#include "tools/progress.hpp"
#include "tools/time_option.hpp"

namespace gorgo::tools {
namespace {

namespace stored = journal::stored;
using stored::Kind;

struct BacktestOptions {
  std::vector<std::string> rules;
  std::vector<std::string> against;
  std::string journal;
  Duration since = 0;  // before now; 0: all
  Evaluation evaluation;
  CompositeForm form;
  bool stats = false;
  std::size_t case_line = 0;  // of the output, from 1 on; 0: none
  std::string case_file;
};

/// A composite as a line, and when it happened.
struct CompositeLine {
  Timestamp timestamp;
  std::string text;

  friend auto operator<=>(const CompositeLine&, const CompositeLine&) = default;
};

/// What decides results, as the server had it when it wrote the journal. Where it had several
/// values, the first counts.
Result<stored::SettingsT> settings_of(journal::Disk& disk, const std::string& folder,
                                      const journal::Survey& survey) {
  const auto snapshots = journal::snapshots_in(disk, folder);
  if (!snapshots) return snapshots.error();
  for (const journal::Place place : *snapshots) {
    auto reader = journal::SnapshotReader::open(disk, folder, survey.journal, place);
    if (!reader) continue;
    const auto first = reader->next();
    if (!first || !*first) continue;
    const auto state = journal::decode<stored::ServerState>((*first)->payload);
    if (state) return {std::in_place, *state->settings};
  }
  journal::Reader reader(disk, folder, survey.segments, survey.low, survey.end);
  while (true) {
    const auto record = reader.next();
    if (!record) return record.error();
    if (!*record) return Error{"the journal in " + folder + " is empty", "name another one"};
    if (static_cast<Kind>((*record)->kind) == Kind::Settings) {
      return journal::decode<stored::Settings>((*record)->payload);
    }
  }
}

/// Runs rules over what a journal holds.
class Backtest {
 public:
  using Take = std::function<void(const OutputBatch&, const OutputBatch::Row&)>;

  Backtest(const BacktestOptions& options, journal::Disk& disk, const journal::Survey& survey,
           const stored::SettingsT& settings)
      : options_(options),
        disk_(disk),
        survey_(survey),
        clock_([this] { return received_; }),
        processor_({.engine = options.evaluation.engine,
                    .max_depth = settings.max_depth,
                    .max_composites = settings.max_composites,
                    .max_instants = settings.max_instants,
                    .threads = options.evaluation.threads,
                    .lateness = settings.lateness,
                    .max_late = settings.max_late,
                    .clock = [this] { return clock_.now(); }}),
        feed_(
            processor_, clock_, [this] { process_if_many(); },
            [this](const Error& why) { note_refusal(why); }) {}

  const Processor& processor() const { return processor_; }

  /// False: there are errors, which stand on stderr.
  bool deploy(const std::vector<language::Source>& rules) {
    for (const language::Source& source : rules) {
      needs_all_ = needs_all_ || !types_with_lasting_memory(source).empty();
    }
    return deploy_sources(rules, processor_);
  }

  /// Gives the composites of events that were received since the time that is asked for. Events
  /// before them fill the windows.
  Result<void> run(Take take) {
    take_ = std::move(take);
    since_ = options_.since == 0 ? std::numeric_limits<Timestamp>::min()
                                 : journal::now() - options_.since;
    journal::Reader reader(disk_, options_.journal, survey_.segments, first_place(), survey_.end);
    while (true) {
      const auto record = reader.next();
      if (!record) return record.error();
      if (!*record) break;
      note_time((*record)->place);
      if (auto taken = this->take(**record); !taken) {
        return Error{"place " + std::to_string((*record)->place) + ": " + taken.error().message,
                     taken.error().hint};
      }
    }
    process();
    progress_.clear();
    return {};
  }

  std::uint64_t refused() const { return refused_; }
  const std::string& last_refusal() const { return last_refusal_; }

 private:
  /// Where the segment begins that has what the rules can reach of the first events that count.
  journal::Place first_place() const {
    if (needs_all_) return survey_.low;
    Duration reach = 0;
    for (const TypeInfo& type : processor_.types()) {
      reach = std::max({reach, type.reach, type.reach_of_panes});
    }
    const Timestamp from = arithmetic::saturating_subtract(since_, reach);
    journal::Place first = survey_.low;
    for (const journal::Segment& segment : survey_.segments) {
      if (segment.first >= survey_.low && segment.made <= from) first = segment.first;
    }
    return first;
  }

  /// Records without a time of their own came no earlier than their segment was begun.
  void note_time(journal::Place place) {
    while (segment_ < survey_.segments.size() && survey_.segments[segment_].first <= place) {
      move_time(survey_.segments[segment_++].made);
    }
  }

  /// What came before the time that is asked for has happened when that time begins.
  void move_time(Timestamp time) {
    if (received_ < since_ && time >= since_) process_uncounted();
    received_ = std::max(received_, time);
  }

  Result<void> take(const journal::Record& record) {
    switch (static_cast<Kind>(record.kind)) {
      case Kind::Frame:
        return take_frame(record);
      case Kind::Refusals: {
        const auto refusals = journal::decode<stored::Refusals>(record.payload);
        if (!refusals) return refusals.error();
        feed_.leave_out(refusals->rows);
        return {};
      }
      case Kind::ClockMove: {
        const auto move = journal::decode<stored::ClockMove>(record.payload);
        if (!move) return move.error();
        return feed_.move_clock(*move);
      }
      case Kind::Release:
        processor_.flush([this](const OutputBatch& batch) { give(batch); });
        return {};
      default:
        return {};  // it is about other rules
    }
  }

  Result<void> take_frame(const journal::Record& record) {
    const auto frame = journal::decode_frame(record.payload);
    if (!frame) return frame.error();
    const stored::Acceptance& how = frame->acceptance;
    if (how.clock() != 0) move_time(how.clock());
    if (how.frame_at() == 0) {
      if (auto begun = begin(record.place, frame->frame); !begun) return begun;
    }
    // A frame that stands before the first place has no rows to take.
    if (how.rows() > 0) feed_.take_rows(how.frame_at() == 0 ? record.place : how.frame_at(), how);
    return {};
  }

  Result<void> begin(journal::Place at, journal::Bytes bytes) {
    const auto* begin = reinterpret_cast<const std::uint8_t*>(bytes.data());
    protocol::Bytes frame(begin, begin + bytes.size());
    const auto message = protocol::open_frame(frame);
    if (!message) return message.error();
    if (const auto* request = (*message)->body_as_Declare()) return declare(*request);
    if (protocol::batch_of(**message) == nullptr) return {};
    feed_.begin(at, std::move(frame), **message);
    return {};
  }

  /// A type that the rules know in another form is theirs.
  Result<void> declare(const wire::Declare& request) {
    process();
    static_cast<void>(server::declare(processor_, request));
    return {};
  }

  void process_if_many() {
    constexpr std::size_t kMany = 16384;
    if (processor_.pending() >= kMany) process();
  }
  void process() {
    processor_.process([this](const OutputBatch& batch) { give(batch); });
    progress_.show(processor_.counters().accepted);
  }
  void process_uncounted() {
    processor_.process([](const OutputBatch&) {});
  }
  void give(const OutputBatch& batch) {
    if (received_ < since_) return;
    for (const auto& row : batch.rows) take_(batch, row);
  }
  void note_refusal(const Error& why) {
    ++refused_;
    last_refusal_ = why.to_string();
  }

  const BacktestOptions& options_;
  journal::Disk& disk_;
  const journal::Survey& survey_;
  bool needs_all_ = false;  // some rule depends on events of any age
  Timestamp since_ = 0;
  Timestamp received_ = 0;   // when the record in hand was written, or a little earlier
  std::size_t segment_ = 0;  // the next one
  server::EngineClock clock_;
  Processor processor_;
  server::JournalFeed feed_;
  Take take_;
  Progress progress_;
  std::uint64_t refused_ = 0;
  std::string last_refusal_;
};

/// One `gorgo backtest`.
class BacktestCommand {
 public:
  explicit BacktestCommand(const BacktestOptions& options) : options_(options) {}

  int go() {
    const auto found =
        journal::survey_beside_writer(*disk_, options_.journal, journal::Depth::tail);
    if (!found) return fail(found.error());
    if (found->segments.empty()) {
      return fail({"there is no journal in " + options_.journal,
                   "name the folder that a server was given by --journal"});
    }
    const auto settings = settings_of(*disk_, options_.journal, *found);
    if (!settings) return fail(settings.error());
    const auto rules = read_rules(options_.rules, options_.evaluation.settings);
    if (!rules) return kFailure;
    Backtest test(options_, *disk_, *found, *settings);
    if (!test.deploy(*rules)) return kFailure;
    if (const auto fine = check(options_.form, test.processor()); !fine) {
      return fail(fine.error());
    }
    const int outcome = options_.against.empty() ? print(test) : compare(test, *found, *settings);
    if (outcome != kSuccess || options_.case_line == 0) return outcome;
    if (options_.case_line > printed_) {
      return fail({"the output has no line " + std::to_string(options_.case_line),
                   "its last one is " + std::to_string(printed_)});
    }
    return export_case({.folder = options_.journal,
                        .rules = *rules,
                        .settings = *settings,
                        .time = case_time_,
                        .output = options_.case_file});
  }

 private:
  const BacktestOptions& options_;
  const std::unique_ptr<journal::Disk> disk_ = journal::make_posix_disk();
  std::size_t printed_ = 0;  // lines
  Timestamp case_time_ = 0;

  void count_line(Timestamp time) {
    if (++printed_ == options_.case_line) case_time_ = time;
  }

  int print(Backtest& test) {
    constexpr std::size_t kWritten = 256 << 10;
    CompositeWriter writer(options_.form, test.processor());
    std::string out;
    const auto flush = [&] {
      std::fwrite(out.data(), 1, out.size(), stdout);
      out.clear();
    };
    const auto start = std::chrono::steady_clock::now();
    const auto done = test.run([&](const OutputBatch& batch, const OutputBatch::Row& row) {
      if (!writer.is_wanted(batch, row)) return;
      writer.write(out, batch, row);
      count_line(row.timestamp);
      if (out.size() >= kWritten) flush();
    });
    flush();
    if (!done) return fail(done.error());
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    if (options_.stats) {
      const auto events = test.processor().counters().accepted;
      std::fprintf(stderr, "%llu events in %.3f s: %.0f events/s\n",
                   static_cast<unsigned long long>(events), took.count(),
                   static_cast<double>(events) / std::max(took.count(), 1e-9));
    }
    return tell_refusals(test);
  }

  Result<std::vector<CompositeLine>> lines_of(Backtest& test) const {
    CompositeWriter writer(options_.form, test.processor());
    std::vector<CompositeLine> lines;
    const auto done = test.run([&](const OutputBatch& batch, const OutputBatch::Row& row) {
      if (!writer.is_wanted(batch, row)) return;
      CompositeLine& line = lines.emplace_back();
      line.timestamp = row.timestamp;
      writer.write(line.text, batch, row);
    });
    if (!done) return done.error();
    std::ranges::sort(lines);
    return {std::in_place, std::move(lines)};
  }

  int compare(Backtest& test, const journal::Survey& survey, const stored::SettingsT& settings) {
    const auto rules = read_rules(options_.against, {});
    Backtest other(options_, *disk_, survey, settings);
    if (!rules || !other.deploy(*rules)) return kFailure;
    const auto fresh = lines_of(test), old = lines_of(other);
    if (!fresh) return fail(fresh.error());
    if (!old) return fail(old.error());
    std::vector<std::pair<CompositeLine, char>> differences;
    const auto add = [&](const std::vector<CompositeLine>& from,
                         const std::vector<CompositeLine>& to, char mark) {
      std::vector<CompositeLine> only;
      std::ranges::set_difference(from, to, std::back_inserter(only));
      for (CompositeLine& line : only) differences.emplace_back(std::move(line), mark);
      return only.size();
    };
    const std::size_t gone = add(*old, *fresh, '-'), added = add(*fresh, *old, '+');
    std::ranges::sort(differences);
    for (const auto& [line, mark] : differences) {
      std::printf("%c %s", mark, line.text.c_str());
      count_line(line.timestamp);
    }
    std::fprintf(stderr,
                 "%zu composites in both, %zu only with the other rules, %zu only with these\n",
                 fresh->size() - added, gone, added);
    return tell_refusals(test);
  }

  static int tell_refusals(const Backtest& test) {
    if (test.refused() == 0) return kSuccess;
    fail({std::to_string(test.refused()) +
              " events that the server took are refused by these rules; the last one: " +
              test.last_refusal(),
          "declare their types as the server's rules do"});
    return kSuccess;
  }
};

}  // namespace

void add_backtest(CLI::App& app, int& exit_code) {
  const auto options = std::make_shared<BacktestOptions>();
  auto* test = app.add_subcommand(
      "backtest",
      "Run rules over the events that the journal of a server holds, and print what they would "
      "have\n"
      "detected, or how that differs from other rules. The server may be running.");
  test->add_option("RULES", options->rules, "Rule files, or folders of them")->required();
  test->add_option("--journal", options->journal, "The folder of the journal")
      ->required()
      ->option_text("DIR");
  as_time(test->add_option("--since", options->since,
                           "Only what was detected since; earlier events fill the windows"))
      ->option_text("TIME, such as 7d: all that the journal has");
  test->add_option("--against", options->against,
                   "Print the differences to these rules: - only with them, + only with RULES")
      ->option_text("RULES");
  auto* number = test->add_option("--case", options->case_line,
                                  "Write the Nth line of the output as a rule test of RULES")
                     ->check(positive())
                     ->option_text("N");
  auto* file = test->add_option("-o,--output", options->case_file, "The test to write")
                   ->option_text("FILE.test");
  number->needs(file);
  file->needs(number);
  add_evaluation(test, options->evaluation);
  add_composite_form(test, options->form);
  test->add_flag("--stats", options->stats, "Print counts and rates on standard error at the end");
  test->callback([options, &exit_code] { exit_code = BacktestCommand(*options).go(); });
}

}  // namespace gorgo::tools
