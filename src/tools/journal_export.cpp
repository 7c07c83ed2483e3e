#include "tools/journal_export.hpp"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "base/arithmetic.hpp"
#include "codec/event_notation.hpp"
#include "codec/timestamp.hpp"
#include "gorgo/processor.hpp"
#include "journal/reader.hpp"
#include "journal/records.hpp"
#include "journal/snapshot.hpp"
#include "journal/survey.hpp"
#include "language/joint_types.hpp"
#include "language/reporter.hpp"
#include "protocol/framing.hpp"
#include "server/durability/server_state.hpp"
#include "server/durability/taken_rows.hpp"
#include "server/http/place_text.hpp"
#include "server/rules/declaration.hpp"
#include "tools/commands.hpp"
#include "tools/journal_root.hpp"
#include "tools/lasting_memory.hpp"
#include "tools/output.hpp"
#include "tools/test_case.hpp"
#include "tools/test_update.hpp"
#include "tools/text_file.hpp"

namespace gorgo::tools {
namespace {

namespace stored = journal::stored;
using stored::Kind;

std::string at(Timestamp time) {
  std::string text = codec::notation_of({.type = {}, .timestamp = time, .attributes = {}});
  return text.substr(0, text.find(' '));
}

/// A name as a step of a test can have it.
std::string word_of(std::string name) {
  std::ranges::replace_if(
      name, [](char c) { return c == ' ' || c == '\t' || c == ':'; }, '_');
  return name;
}

/// A change of rules as steps of a test.
std::string step_of(const stored::RuleChangeT& change) {
  if (change.text.empty()) return "  remove " + change.name + "\n";
  std::string step = "  " + std::string(change.replace ? "replace " : "deploy ") +
                     word_of(change.name) + (change.with_history ? " with history:\n" : ":\n");
  std::string_view text = change.text;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    step += "    " + std::string(text.substr(0, end)) + "\n";
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return step;
}

/// The text of a test but for what it expects. The journal is read twice: for the rules and the
/// times, and for the events that the rules can reach.
class Export {
 public:
  Export(std::string folder, journal::Disk& disk, const journal::Survey& survey)
      : folder_(std::move(folder)), disk_(disk), survey_(survey) {}

  /// The rules in force at a record, and the events around it.
  Result<std::string> around(journal::Place place) {
    if (place < survey_.low || place >= survey_.end) {
      return Error{"the journal has no record at place " + std::to_string(place),
                   "it has those from " + std::to_string(survey_.low) + " to before " +
                       std::to_string(survey_.end) + "; `gorgo journal dump` shows them"};
    }
    if (auto begun = begin(place); !begun) return begun.error();
    if (auto done = read_to(place + 1, [this](const auto& r) { return survey_one(r); }); !done) {
      return done.error();
    }
    if (!now_) {
      return Error{"no event stands at place " + std::to_string(place) + " or before it",
                   "name a later one"};
    }
    return write();
  }

  /// Other rules than the server's, and the events around a time.
  Result<std::string> of(const BacktestCase& wanted) {
    settings_ = wanted.settings;
    for (const language::Source& rules : wanted.rules) {
      stored::RuleChangeT change;
      change.name = rules.path;
      change.text = rules.text;
      if (auto taken = take_change(change); !taken) return taken.error();
    }
    if (auto done = read_to(survey_.end, [this](const auto& r) { return survey_events(r); });
        !done) {
      return done.error();
    }
    now_ = wanted.time;
    return write();
  }

  std::uint64_t events() const { return events_; }
  /// Whether the journal has all that the rules can reach.
  bool is_complete() const { return survey_.low == 1 || oldest_ < from_; }
  /// Composites of these types may depend on events from before the test.
  std::vector<std::string> in_doubt() const {
    if (survey_.low == 1 && oldest_ >= from_) return {};
    return {lasting_.begin(), lasting_.end()};
  }

 private:
  using TakeRecord = std::function<Result<void>(const journal::Record&)>;

  const std::string folder_;
  journal::Disk& disk_;
  const journal::Survey& survey_;
  journal::Place rules_from_ = 1;  // changes of rules before it stand in a snapshot
  std::vector<stored::RuleChangeT> before_;
  stored::SettingsT settings_;
  Processor processor_{{}};       // has the rules, and no events
  std::optional<Timestamp> now_;  // that the test is about
  Timestamp oldest_ = std::numeric_limits<Timestamp>::max();
  Timestamp from_ = 0, until_ = 0;  // what the rules can reach
  std::set<std::string> read_types_;
  std::set<std::string> lasting_;  // see `types_with_lasting_memory`
  server::TakenRows rows_;
  std::string steps_ = "events:\n";
  std::uint64_t events_ = 0;
  Timestamp clock_ = 0, ticked_ = std::numeric_limits<Timestamp>::min();
  bool over_ = false;

  /// Where the journal does not begin with its first record, a snapshot has the rules.
  Result<void> begin(journal::Place wanted) {
    if (survey_.low == 1) return {};
    auto places = journal::snapshots_in(disk_, folder_);
    if (!places) return places.error();
    std::ranges::sort(*places);
    for (const journal::Place place : *places) {
      if (place > wanted) break;
      auto reader = journal::SnapshotReader::open(disk_, folder_, survey_.journal, place);
      if (!reader) continue;
      if (const auto saved = server::read_server(*reader)) return take_state(saved->state, place);
    }
    return Error{"no whole snapshot stands before place " + std::to_string(wanted) +
                     ", so the rules of that time are unknown",
                 "name a later place, or use a backup that has one"};
  }

  Result<void> take_state(const stored::ServerStateT& state, journal::Place place) {
    const bool whole = state.history.empty() || state.history.front()->number == 1;
    if (!whole) {
      return Error{
          "the server has forgotten its first changes of rules, so those in force are unknown",
          "run the rules with `gorgo backtest`"};
    }
    rules_from_ = place;
    settings_ = *state.settings;
    for (const auto& entry : state.history) {
      stored::RuleChangeT change;
      change.name = entry->name;
      change.text = entry->text;
      change.replace = true;
      if (auto taken = take_change(change); !taken) return taken;
    }
    return {};
  }

  Result<void> read_to(journal::Place end, const TakeRecord& take) {
    rows_ = {};
    journal::Reader reader(disk_, folder_, survey_.segments, survey_.low, end);
    while (!over_) {
      const auto record = reader.next();
      if (!record) return record.error();
      if (!*record) return {};
      if (auto taken = take(**record); !taken) {
        return Error{"place " + std::to_string((*record)->place) + ": " + taken.error().message,
                     taken.error().hint};
      }
    }
    return {};
  }

  Result<void> take_change(const stored::RuleChangeT& change) {
    if (change.text.empty()) {
      if (auto removed = processor_.remove(change.name); !removed) return removed;
    } else {
      const auto diagnostics =
          processor_.deploy(change.name, change.text, {.replace = change.replace});
      if (diagnostics.failed()) return Error{diagnostics.render(), ""};
      for (auto& type : types_with_lasting_memory({change.name, change.text})) {
        lasting_.insert(std::move(type));
      }
    }
    steps_ += step_of(change);
    return {};
  }

  /// What the record says of rules and of the time. It writes the changes of rules.
  Result<void> survey_one(const journal::Record& record) {
    const auto kind = static_cast<Kind>(record.kind);
    if (kind == Kind::Settings) {
      const auto settings = journal::decode<stored::Settings>(record.payload);
      if (!settings) return settings.error();
      settings_ = *settings;
    }
    if (kind == Kind::RuleChange && record.place >= rules_from_) {
      const auto change = journal::decode<stored::RuleChange>(record.payload);
      if (!change) return change.error();
      return take_change(*change);
    }
    return survey_events(record);
  }

  /// What the record says of types and of the time.
  Result<void> survey_events(const journal::Record& record) {
    const auto kind = static_cast<Kind>(record.kind);
    if (kind == Kind::Frame) declare(record);
    if (kind == Kind::ClockMove) {
      const auto move = journal::decode<stored::ClockMove>(record.payload);
      if (!move) return move.error();
      note_time(move->clock);
    }
    return rows_.take(record, [this](const BatchCursor& row, Timestamp clock) {
      note_time(row.timestamp().value_or(clock));
    });
  }

  /// A type that the rules know in another form is theirs.
  void declare(const journal::Record& record) {
    const auto frame = journal::decode_frame(record.payload);
    if (!frame || frame->acceptance.frame_at() != 0) return;
    const auto* begin = reinterpret_cast<const std::uint8_t*>(frame->frame.data());
    const protocol::Bytes bytes(begin, begin + frame->frame.size());
    const auto message = protocol::open_frame(bytes);
    const auto* request = message ? (*message)->body_as_Declare() : nullptr;
    if (request == nullptr || !server::declare(processor_, *request)) return;
    const std::string name = request->name()->str();
    std::string attributes;
    for (const AttributeType& attribute : processor_.schema().find(name)->attributes) {
      attributes += (attributes.empty() ? "" : ", ") + attribute.name + ": " +
                    std::string(to_string(attribute.type));
    }
    steps_ += "  declare " + name + "(" + attributes + ")\n";
  }

  void note_time(Timestamp time) {
    now_ = std::max(now_.value_or(time), time);
    oldest_ = std::min(oldest_, time);
  }

  /// A composite may depend on events that are as old as all windows together, and on rows of any
  /// age. What waits for a deadline is decided as much later as the windows are long.
  void find_reach() {
    Duration windows = 0, reach = 0;
    for (const TypeInfo& type : processor_.types()) {
      if (type.name.empty()) continue;
      const Duration of_type = std::max(type.reach, type.reach_of_panes);
      reach = arithmetic::saturating_add(reach, of_type);
      if (!language::is_rows_name(type.name)) {
        windows = arithmetic::saturating_add(windows, of_type);
      }
      if (!type.is_unread) read_types_.insert(type.name);
    }
    from_ = arithmetic::saturating_subtract(*now_, reach);
    until_ = arithmetic::saturating_add(*now_, windows);
  }

  Result<std::string> write() {
    find_reach();
    if (auto done = read_to(survey_.end, [this](const auto& r) { return write_one(r); }); !done) {
      return done.error();
    }
    return head() + steps_ + "expect:\n";
  }

  Result<void> write_one(const journal::Record& record) {
    const auto kind = static_cast<Kind>(record.kind);
    if (kind == Kind::ClockMove) {
      const auto move = journal::decode<stored::ClockMove>(record.payload);
      if (!move) return move.error();
      const Timestamp time = move->given
                                 ? move->clock
                                 : arithmetic::saturating_subtract(move->clock, settings_.lateness);
      write_tick(std::min(time, until_));
    }
    if (kind == Kind::Release) steps_ += "  flush\n";
    return rows_.take(record,
                      [this](const BatchCursor& row, Timestamp clock) { write(row, clock); });
  }

  void write(const BatchCursor& row, Timestamp clock) {
    const Timestamp time = row.timestamp().value_or(clock);
    if (over_ || time < from_) return;
    over_ = time > until_;
    const bool is_read = read_types_.contains(std::string(row.table().type));
    // An event that no rule reads moves the clock. One that is stamped here moves what comes next.
    if (over_ || (row.timestamp() && !is_read)) {
      return write_tick(
          arithmetic::saturating_subtract(std::min(time, until_), settings_.lateness));
    }
    if (!row.timestamp() && clock != clock_) {
      clock_ = clock;
      steps_ += "  " + at(clock) + " clock\n";
    }
    const std::string event = codec::notation_of(row.to_event());
    steps_ += "  " + (row.timestamp() ? event : event.substr(event.find(' ') + 1)) + "\n";
    ++events_;
  }

  void write_tick(Timestamp time) {
    if (time <= ticked_ || time < from_) return;
    ticked_ = time;
    steps_ += "  " + at(time) + " tick\n";
  }

  std::string head() const {
    const auto milliseconds = [](Duration duration) { return at(duration).substr(1); };
    return "options:\n"
           "  lateness = " +
           milliseconds(settings_.lateness) + "\n" +
           "  max_late = " + milliseconds(settings_.max_late) + "\n" +
           "  max_depth = " + std::to_string(settings_.max_depth) + "\n" +
           "  max_composites = " + std::to_string(settings_.max_composites) + "\n" +
           "  max_instants = " + std::to_string(settings_.max_instants) + "\n";
  }
};

/// The test with what its rules give. An error: they do not give the same under all engines.
Result<std::string> with_outcome(const std::string& path, const std::string& text) {
  const auto cases = parse_test_file(path, text);
  if (!cases) return cases.error();
  const auto engines = engine_names();
  const auto failure = run_case(cases->front(), path, engines);
  if (!failure) return text;
  if (!failure->composites) return Error{failure->message, ""};
  TestCase expecting = cases->front();
  expecting.expected = *failure->composites;
  if (const auto again = run_case(expecting, path, engines)) return Error{again->message, ""};
  const TestUpdate update{&cases->front(), failure->expected, *failure->composites};
  return with_expectations(text, {&update, 1});
}

/// The record that the test is about. The event is known where its id was given.
Result<FoundEvent> find(const JournalExport& wanted, const journal::View& journal) {
  if (const auto id = server::http::parse_place(wanted.place)) return find_event(journal, *id);
  FoundEvent found;
  const char* const end = wanted.place.data() + wanted.place.size();
  const auto read = std::from_chars(wanted.place.data(), end, found.record);
  if (read.ec == std::errc() && read.ptr == end) return found;
  return Error{"'" + wanted.place + "' is no place",
               "give the place of a record, or the id of an event, ROOT-ORDINAL"};
}

/// Completes a test and writes it.
Result<std::string> finish(const std::string& output, const std::string& name,
                           const Result<std::string>& text, const Export& exported) {
  if (!text) return text.error();
  auto whole = with_outcome(output, "case: " + name + " of a journal\n" + *text);
  if (!whole) return whole;
  if (auto written = write_text_file(output, *whole); !written) return written.error();
  std::printf("%s: %llu events; `gorgo test %s` runs it\n", output.c_str(),
              static_cast<unsigned long long>(exported.events()), output.c_str());
  if (!exported.is_complete()) {
    std::fputs("the rules reach events from before the journal begins; the test lacks those\n",
               stderr);
  }
  if (const auto types = exported.in_doubt(); !types.empty()) {
    std::fprintf(stderr,
                 "the rules of %s depend on what they produced, counted or consumed before the "
                 "events of the test (@at_most, every, consuming), so it may expect what the "
                 "server did not give\n",
                 language::listing(types, "and").c_str());
  }
  return whole;
}

}  // namespace

int export_case(const JournalExport& wanted) {
  const auto disk = journal::make_posix_disk();
  const auto found = journal::survey_beside_writer(*disk, wanted.folder, journal::Depth::tail);
  if (!found) return fail(found.error());
  const auto about = find(wanted, journal::View::of(*disk, wanted.folder, *found));
  if (!about) return fail(about.error());
  Export exported(wanted.folder, *disk, *found);
  const auto whole = finish(wanted.output, wanted.place, exported.around(about->record), exported);
  if (!whole) return fail(whole.error());
  const auto id = server::http::parse_place(wanted.place);
  const bool is_composite = id && id->ordinal > 0;
  if (is_composite && whole->find("  " + about->notation + "\n") == whole->npos) {
    std::fprintf(stderr,
                 "the server gave %s, and the test does not: what it follows from is older "
                 "than the events of the test\n",
                 about->notation.c_str());
  }
  return kSuccess;
}

int export_case(const BacktestCase& wanted) {
  const auto disk = journal::make_posix_disk();
  const auto found = journal::survey_beside_writer(*disk, wanted.folder, journal::Depth::tail);
  if (!found) return fail(found.error());
  Export exported(wanted.folder, *disk, *found);
  const auto whole = finish(wanted.output, at(wanted.time), exported.of(wanted), exported);
  return whole ? kSuccess : fail(whole.error());
}

}  // namespace gorgo::tools
