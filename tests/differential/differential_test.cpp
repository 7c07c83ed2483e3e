#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <sstream>
#include <utility>

#include "functions/catalogue.hpp"
#include "generator.hpp"
#include "gorgo/processor.hpp"
#include "language/aggregate_names.hpp"
#include "language/literal.hpp"

namespace gorgo::testing {
namespace {

using Lines = std::vector<std::string>;

/// A value so that different bits give different texts.
std::string exact(const Datum& value) {
  switch (value.tag) {
    case Datum::Tag::integer:
      return std::to_string(value.integer);
    case Datum::Tag::floating:
      return "f" + std::to_string(std::bit_cast<std::uint64_t>(value.floating));
    case Datum::Tag::boolean:
      return value.boolean ? "true" : "false";
    case Datum::Tag::string:
      return "'" + std::string(value.text()) + "'";
    case Datum::Tag::none:
      return "-";
  }
  return "?";
}

void write(const OutputBatch& batch, Lines& lines) {
  for (const auto& row : batch.rows) {
    std::ostringstream line;
    line << row.place.root << "." << row.place.ordinal << " @" << row.timestamp << " "
         << batch.type_name(row);
    if (row.rule != OutputBatch::kPrimitive) line << " by " << batch.rule_names[row.rule];
    batch.for_each_attribute(row, [&](std::string_view name, const Datum& value) {
      line << " " << name << "=" << exact(value);
    });
    lines.push_back(line.str());
  }
}

constexpr Duration kMaxLate = 10'000'000'000;

struct Run {
  std::string engine;
  std::size_t batch = 1;                     ///< events between two calls of process
  std::size_t held = std::size_t{64} << 20;  ///< bytes
  unsigned threads = 1;
  std::size_t replaced_rows = 2;
  std::uint64_t shuffle = 0;  ///< not 0: rules go from engine to engine
  /// Before each of these events another processor goes on with what this one has saved.
  std::vector<std::size_t> saves = {};
  Duration lateness = 0;
  Duration max_late = kMaxLate;
  Duration remember = 0;
  std::size_t together = 0;  ///< so many events come in columns; 0: one by one
  std::set<std::string, std::less<>> unwanted = {};  ///< types that are not handed out
};

struct Case {
  std::string rules;
  std::vector<Change> changes;
  std::vector<Event> events;
};

void apply(const Change& change, Processor& processor, Lines& lines) {
  if (!change.remove.empty()) {
    const auto removed = processor.remove(change.remove);
    if (removed.has_error()) lines.push_back("refused: " + removed.error().to_string());
  }
  if (change.text.empty()) return;
  const Diagnostics diagnostics =
      processor.deploy("later.tesla", change.text, {.with_history = change.with_history});
  if (diagnostics.failed()) lines.push_back("refused: " + diagnostics.render());
}

ProcessorOptions options_of(const Run& run) {
  // Cycles multiply: small limits, which must not depend on engine and cuts either.
  return {.engine = run.engine,
          .max_depth = 5,
          .max_composites = 60,
          .max_held_bytes = run.held,
          .threads = run.threads,
          .job_terminators = 2,
          .replaced_rows = run.replaced_rows,
          .lateness = run.lateness,
          .max_late = run.max_late,
          .remember = run.remember,
          .hands_out = [&run](std::string_view type) { return !run.unwanted.contains(type); },
          .shuffle_engines = run.shuffle};
}

/// What became of every terminator that is remembered, in numbers.
Lines reasons(Processor& processor) {
  Lines lines;
  for (const RuleInfo& rule : processor.rules()) {
    const auto why = processor.why(rule.name, {.last = 100});
    if (why.has_error()) RC_FAIL(why.error().to_string());
    std::ostringstream line;
    line << rule.name << " " << why->evaluated << " " << why->produced << " " << rule.pending;
    for (const Funnel& funnel : why->funnels) {
      line << "; " << funnel.event << " " << static_cast<int>(funnel.outcome) << " "
           << funnel.complete << " " << funnel.composites << " " << funnel.waiting << " "
           << funnel.cut << " " << funnel.number;
      for (const Step& step : funnel.steps) line << " " << step.candidates << "/" << step.passed;
    }
    lines.push_back(line.str());
  }
  return lines;
}

/// A processor that takes a case event by event.
class Player {
 public:
  Player(const Case& test, const Run& run)
      : test_(test), run_(run), processor_(new Processor(options_of(run))) {
    Diagnostics diagnostics = processor_->deploy("types.tesla", type_rules());
    if (!diagnostics.failed()) diagnostics = processor_->deploy("random.tesla", test.rules);
    if (diagnostics.failed()) lines_.push_back("refused:\n" + diagnostics.render());
  }

  Lines play() {
    for (std::size_t i = 0; i < test_.events.size(); ++i) {
      for (const Change& change : test_.changes) {
        if (change.before != i) continue;
        finish_save();
        append_waiting();
        process();
        apply(change, *processor_, lines_);
      }
      if (std::ranges::count(run_.saves, i) > 0) begin_save();
      take(test_.events[i]);
    }
    finish_save();
    append_waiting();
    processor_->finish(deliver());
    return std::move(lines_);
  }

 private:
  const Case& test_;
  const Run& run_;
  std::unique_ptr<Processor> processor_;
  Lines lines_;
  BatchBuilder waiting_;
  // What was saved so far, and what came since it began.
  std::vector<Processor::SavedPart> parts_;
  std::vector<const Event*> since_;
  std::size_t lines_before_ = 0;
  Lines reasons_;

  std::function<void(const OutputBatch&)> deliver() {
    return [this](const OutputBatch& batch) { write(batch, lines_); };
  }
  void process() { processor_->process(deliver()); }

  /// Appends what has come in columns, in two pieces.
  void append_waiting() {
    IncomingBatch batch(waiting_.batch());
    while (!batch.done()) {
      processor_->append(
          batch,
          [this](const BatchCursor&, const Error& why) { lines_.push_back(why.to_string()); },
          {.events = waiting_.events() / 2 + 1, .pause = {}, .check = {}});
      if (processor_->pending() >= run_.batch) process();
    }
    waiting_ = {};
  }

  void take(const Event& event) {
    if (run_.together > 0 && !event.type.empty()) {
      waiting_.add(event);
      if (waiting_.events() >= run_.together) append_waiting();
      return;
    }
    append_waiting();
    const auto accepted =
        event.type.empty() ? processor_->tick(*event.timestamp) : processor_->append(event);
    if (accepted.has_error()) lines_.push_back(accepted.error().to_string());
    if (processor_->pending() >= run_.batch) process();
    if (!processor_->is_saving()) return;
    since_.push_back(&event);
    constexpr std::size_t kBytes = 100;
    if (auto part = processor_->save_more(kBytes)) {
      parts_.push_back(std::move(*part));
    } else {
      go_on();
    }
  }

  void begin_save() {
    finish_save();
    process();
    auto state = processor_->begin_save();
    if (state.has_error()) RC_FAIL(state.error().to_string());
    parts_ = {std::move(*state)};
    lines_before_ = lines_.size();
    reasons_ = reasons(*processor_);
  }
  void finish_save() {
    if (!processor_->is_saving()) return;
    while (auto part = processor_->save_more(1000)) parts_.push_back(std::move(*part));
    go_on();
  }
  /// Another processor goes on from what was saved, and takes again what came since.
  void go_on() {
    processor_->end_save();
    processor_ = std::make_unique<Processor>(options_of(run_));
    parts_.emplace_back();
    std::size_t next = 0;
    const auto restored = processor_->restore(
        [&]() -> Result<std::span<const std::byte>> { return parts_[next++].bytes; });
    if (restored.has_error()) RC_FAIL(restored.error().to_string());
    RC_ASSERT(reasons(*processor_) == reasons_);
    lines_.resize(lines_before_);
    for (const Event* event : std::exchange(since_, {})) take(*event);
  }
};

Lines outputs(const Case& test, const Run& run) { return Player(test, run).play(); }

void log(const Case& test) {
  RC_LOG() << test.rules;
  for (const Change& change : test.changes) {
    RC_LOG() << "before event " << change.before << ": remove '" << change.remove << "', deploy"
             << (change.with_history ? " with history" : "") << "\n"
             << change.text;
  }
  for (const Event& event : test.events) {
    RC_LOG() << event.type << "@" << *event.timestamp / 1'000'000;
    for (const auto& a : event.attributes)
      RC_LOG() << " " << a.name << "=" << exact(to_datum(a.value));
    RC_LOG() << "\n";
  }
}

void log_difference(const Lines& given, const Lines& expected) {
  for (std::size_t i = 0; i < std::max(given.size(), expected.size()); ++i) {
    const std::string a = i < given.size() ? given[i] : "",
                      b = i < expected.size() ? expected[i] : "";
    if (a != b) RC_LOG() << "given:    " << a << "\nexpected: " << b << "\n";
  }
}

/// The lines but for published events of these types.
Lines without(const std::set<std::string, std::less<>>& types, Lines lines) {
  std::erase_if(lines, [&](const std::string& line) {
    std::istringstream words(line);
    std::string place, time, type, by;
    words >> place >> time >> type >> by;
    return types.contains(type) && by != "by";
  });
  return lines;
}

/// How many composites of the random rules there are. Nothing may have been refused.
std::ptrdiff_t composites_of(const Lines& lines) {
  for (const std::string& line : lines) {
    if (line.starts_with("refused")) RC_FAIL(line);
  }
  return std::count_if(lines.begin(), lines.end(),
                       [](const auto& line) { return line.find(" by R") != std::string::npos; });
}

/// The engines to compare: all, or the only one that the environment asks for.
std::vector<std::string> compared_engines() {
  const char* const only = std::getenv("DIFFERENTIAL_ENGINE");
  return only == nullptr ? engine_names() : std::vector<std::string>{only};
}

/// How many streams each set of rules gets: on a device, most of the time goes into compiling
/// rules.
int streams() {
  const char* const count = std::getenv("DIFFERENTIAL_STREAMS");
  return count == nullptr ? 1 : std::max(1, std::atoi(count));
}

/// Mostly none of the events is too late. Else tables let go of what was replaced.
Duration random_max_late() { return *rc::gen::element(kMaxLate, kMaxLate, Duration{16'000'000}); }

void compare(const Case& test, Duration max_late, const Lines& expected) {
  const std::size_t all = test.events.size() + 1;
  const auto cut = static_cast<std::size_t>(*rc::gen::inRange(2, 10));
  const auto check = [&](Run run) {
    run.max_late = max_late;
    const Lines given = outputs(test, run), wanted = without(run.unwanted, expected);
    if (given == wanted) return;
    log_difference(given, wanted);
    RC_FAIL("under " + run.engine + ", batches of " + std::to_string(run.batch) + ", " +
            std::to_string(run.together) + " in columns, " + std::to_string(run.unwanted.size()) +
            " types unwanted, " + std::to_string(run.held) + " bytes held, " +
            std::to_string(run.threads) + " threads, shuffled by " + std::to_string(run.shuffle));
  };
  const auto engines = compared_engines();
  const auto together = static_cast<std::size_t>(*rc::gen::inRange(1, 50));
  std::set<std::string, std::less<>> unwanted;
  for (const char* type : {"A", "B", "C", "U", "C0"}) {
    if (*rc::gen::inRange(0, 2) == 0) unwanted.insert(type);
  }
  const auto held = static_cast<std::size_t>(*rc::gen::inRange(1, 2000));
  const auto seed = *rc::gen::inRange<std::uint64_t>(1, 1'000'000);
  if (engines.size() > 1) {
    for (const std::size_t batch : {std::size_t{1}, cut, all}) {
      check({.engine = "auto", .batch = batch, .shuffle = seed});
    }
    check({.engine = "auto", .batch = cut, .threads = 3, .shuffle = seed + 1});
  }
  for (const std::string& engine : engines) {
    for (const std::size_t batch : {std::size_t{1}, cut, all}) {
      check({.engine = engine, .batch = batch});
    }
    // Evaluation in waves: a few composites at a time.
    check({.engine = engine, .batch = 1, .held = held});
    check({.engine = engine, .batch = all, .held = held});
    check({.engine = engine, .batch = all, .held = held, .threads = 3});
    // Columns, of which some are wanted.
    check({.engine = engine, .batch = cut, .together = together, .unwanted = unwanted});
    check({.engine = engine, .batch = all, .held = held, .together = together});
    check({.engine = engine, .batch = all, .threads = 3, .together = all, .unwanted = unwanted});
    // Jobs of two terminators, for three threads.
    check({.engine = engine, .batch = all, .threads = 3});
  }
}

RC_GTEST_PROP(Differential, ARestoredProcessorGoesOnAsTheSavedOneWould, ()) {
  const Case test{random_rules(), random_changes(), random_stream()};
  log(test);
  const Duration lateness = *rc::gen::element<Duration>(0, 0, 1'000'000, 5'000'000);
  const Duration max_late = random_max_late();
  const Lines expected = outputs(
      test,
      {.engine = "reference", .replaced_rows = 1024, .lateness = lateness, .max_late = max_late});
  RC_CLASSIFY(composites_of(expected) > 0, "some composites");
  Run run{.engine = *rc::gen::elementOf(compared_engines()),
          .lateness = lateness,
          .max_late = max_late};
  run.remember = *rc::gen::element<Duration>(0, 1'000'000'000);
  run.batch = static_cast<std::size_t>(*rc::gen::inRange(1, 10));
  for (int saves = *rc::gen::inRange(1, 4); saves > 0; --saves) {
    run.saves.push_back(static_cast<std::size_t>(
        *rc::gen::inRange(0, std::max(1, static_cast<int>(test.events.size())))));
  }
  if (outputs(test, run) == expected) return;
  RC_LOG() << "saved before " << ::testing::PrintToString(run.saves) << "\n";
  RC_FAIL("under " + run.engine + ", batches of " + std::to_string(run.batch));
}

/// The composites of a run in which the types A and C0 are two, or are both M.
Lines composites_with(const Case& test, const Run& run, const std::string& predicate,
                      const std::string& composite, const std::string& published) {
  Case changed = test;
  changed.rules = (composite == "C0" ? "" : "event M(k: int, v: int, x: float, s: string);\n") +
                  with_types(test.rules, predicate, composite);
  for (Event& event : changed.events) {
    if (event.type == "A" || event.type == "C0") event.type = published.empty() ? event.type : "M";
  }
  Lines lines;
  for (std::string& line : outputs(changed, run)) {
    const bool is_composite = line.find(" by ") != std::string::npos;
    if (!is_composite && !line.starts_with("refused")) continue;
    const auto type = line.find(" M by ");
    if (type != std::string::npos) line.replace(type, 6, " C0 by ");
    lines.push_back(std::move(line));
  }
  return lines;
}

// States over several types take another way through the processor than those over one, and this
// property does not use what the first do to say what is right.
RC_GTEST_PROP(Differential, StatesOverSeveralTypesAreAsThoseOverOneTypeOfAllTheirEvents, ()) {
  const Case test{random_plain_rules(), {}, random_stream()};
  log(test);
  const Lines expected = composites_with(test, {.engine = "reference"}, "M", "M", "M");
  RC_CLASSIFY(composites_of(expected) > 0, "some composites");
  RC_CLASSIFY(composites_of(expected) > 20, "many composites");
  for (const std::string& engine : compared_engines()) {
    const auto batch = static_cast<std::size_t>(*rc::gen::inRange(1, 150));
    const Run run{.engine = engine,
                  .batch = batch,
                  .threads = *rc::gen::element(1U, 3U),
                  .together = static_cast<std::size_t>(*rc::gen::inRange(0, 50))};
    const Lines given = composites_with(test, run, "A or C0", "C0", "");
    if (given == expected) continue;
    log_difference(given, expected);
    RC_FAIL("under " + engine + ", batches of " + std::to_string(batch) + ", " +
            std::to_string(run.together) + " in columns");
  }
}

/// The composites of the random rules, without what changes of the rules added.
Lines composites(const Case& test, const Run& run, const std::string& rules) {
  Case written = test;
  written.rules = rules;
  Lines lines = outputs(written, run);
  std::erase_if(lines, [](const std::string& line) {
    return line.find(" by ") == std::string::npos && !line.starts_with("refused");
  });
  return lines;
}

// Rows of a table are found and let go of in their own way, which this property does not use to say
// what is right.
RC_GTEST_PROP(Differential, TablesAreAsTheLastEventsOfEachKey, ()) {
  const Case test{random_marked_rules(), {}, random_stream()};
  log(test);
  const Duration max_late = random_max_late();
  const Lines expected =
      composites(test, {.engine = "reference", .max_late = max_late}, with_windows(test.rules));
  RC_CLASSIFY(composites_of(expected) > 0, "some composites");
  RC_CLASSIFY(test.rules.find("TABLE[") != std::string::npos, "states of the table");
  RC_CLASSIFY(test.rules.find("LOOK[") != std::string::npos, "look-ups");
  for (const std::string& engine : compared_engines()) {
    const auto batch = static_cast<std::size_t>(*rc::gen::inRange(1, 150));
    const auto replaced = *rc::gen::element<std::size_t>(0, 3, 1024);
    const Run run{
        .engine = engine, .batch = batch, .replaced_rows = replaced, .max_late = max_late};
    if (composites(test, run, with_tables(test.rules)) == expected) continue;
    RC_FAIL("under " + engine + ", batches of " + std::to_string(batch) + ", " +
            std::to_string(replaced) + " replaced rows");
  }
}

/// The number before the dot of a line's place.
std::string root_of(const std::string& line) { return line.substr(0, line.find('.')); }

/// The lines of a rule without their places among those of their root.
Lines lines_by(const Lines& lines, const std::string& rule) {
  Lines found;
  for (const std::string& line : lines) {
    if (line.find(" by " + rule + " ") == line.npos) continue;
    found.push_back(root_of(line) + line.substr(line.find(' ')));
  }
  return found;
}

/// The roots of each so many-th line, of all or of those that end alike.
std::set<std::string> roots_of_each(const Lines& lines, std::size_t so_many, bool by_ending) {
  std::map<std::string, std::size_t> counts;
  std::set<std::string> roots;
  for (const std::string& line : lines) {
    const std::string ending = by_ending ? line.substr(line.rfind(' ')) : "";
    if (++counts[ending] % so_many == 0) roots.insert(line.substr(0, line.find(' ')));
  }
  return roots;
}

// A rule without `every` tells what comes of each event. Those of the events that are counted here
// are what comes of `every`.
RC_GTEST_PROP(Differential, EveryTakesEachSoManyOfWhatIsCountedByHand, ()) {
  const auto so_many = static_cast<std::size_t>(*rc::gen::inRange(1, 6));
  const bool by_key = *rc::gen::arbitrary<bool>();
  const std::string terminator = "A(" + random_condition() + ") as S0";
  const auto rules = [&](const std::string& every, const std::string& per) {
    return "rule probe: define P(k: int) from " + terminator +
           " where k = S0.k;\nrule counted: " + "define Q(k: int, n: int, x: float) from " + every +
           terminator + per +
           " and 2-last B() as S1 within 9 ms from S0\n  where k = S0.k, n = Count(A() within 7 ms "
           "from S0), x = S1.x;\n";
  };
  const Case plain{rules("", ""), {}, random_stream()};
  const Case counting{
      rules("every " + std::to_string(so_many) + " ", by_key ? " per k" : ""), {}, plain.events};
  log(counting);
  Run run{.engine = "reference",
          .lateness = *rc::gen::element<Duration>(0, 0, 5'000'000),
          .max_late = random_max_late()};
  const Lines all = outputs(plain, run);
  const auto roots = roots_of_each(lines_by(all, "probe"), so_many, by_key);
  Lines expected = lines_by(all, "counted");
  std::erase_if(expected, [&](const std::string& line) {
    return !roots.contains(line.substr(0, line.find(' ')));
  });
  RC_CLASSIFY(!expected.empty(), "some composites");
  for (const std::string& engine : compared_engines()) {
    run.engine = engine;
    run.batch = static_cast<std::size_t>(*rc::gen::inRange(1, 150));
    run.threads = *rc::gen::element(1U, 3U);
    run.held = static_cast<std::size_t>(*rc::gen::inRange(1, 2000));
    run.saves = {static_cast<std::size_t>(*rc::gen::inRange(0, 50))};
    const Lines given = lines_by(outputs(counting, run), "counted");
    if (given == expected) continue;
    log_difference(given, expected);
    RC_FAIL("under " + engine + ", batches of " + std::to_string(run.batch));
  }
}

/// The rules with this in the place of each word PANES.
std::string with_panes(std::string rules, const std::string& annotation) {
  const std::string word = "PANES";
  for (std::size_t at = 0; (at = rules.find(word, at)) != rules.npos;) {
    rules.replace(at, word.size(), annotation);
  }
  return rules;
}

// Sums of panes are kept and saved in a way of their own, which a rule that looks at the events of
// its windows does not use.
RC_GTEST_PROP(Differential, RulesWithPanesGiveWhatTheyGiveWithout, ()) {
  Case test{random_pane_rules(), random_changes(), random_stream()};
  for (Change& change : test.changes) change.with_history = false;  // panes leave less of it
  log(test);
  Run run{.engine = "reference",
          .lateness = *rc::gen::element<Duration>(0, 0, 5'000'000),
          .max_late = random_max_late()};
  Case plain = test;
  plain.rules = with_panes(test.rules, "");
  const Lines expected = outputs(plain, run);
  RC_CLASSIFY(composites_of(expected) > 0, "some composites");
  RC_CLASSIFY(composites_of(expected) > 20, "many composites");
  test.rules = with_panes(test.rules, "@panes");
  for (const std::string& engine : compared_engines()) {
    run.engine = engine;
    run.batch = static_cast<std::size_t>(*rc::gen::inRange(1, 150));
    run.threads = *rc::gen::element(1U, 3U);
    run.held = static_cast<std::size_t>(*rc::gen::inRange(1, 2000));
    const auto some = static_cast<std::size_t>(*rc::gen::inRange(0, 50));
    const bool saves = *rc::gen::arbitrary<bool>();
    run.saves = saves ? std::vector{some} : std::vector<std::size_t>();
    run.together = saves ? 0 : some;
    const Lines given = outputs(test, run);
    if (given == expected) continue;
    log_difference(given, expected);
    RC_FAIL("under " + engine + ", batches of " + std::to_string(run.batch) + ", " +
            std::to_string(run.together) + " in columns, saved before " +
            ::testing::PrintToString(run.saves));
  }
}

RC_GTEST_PROP(Differential, EnginesAgreeInContentAndOrder, ()) {
  const std::string rules = random_rules();
  std::ptrdiff_t composites = 0;
  for (int stream = streams(); stream > 0; --stream) {
    const Case test{rules, random_changes(), random_stream()};
    log(test);
    const Duration max_late = random_max_late();
    const Lines expected = outputs(
        test, {.engine = "reference", .batch = 1, .replaced_rows = 1024, .max_late = max_late});
    composites += composites_of(expected);
    compare(test, max_late, expected);
  }
  RC_CLASSIFY(composites > 0, "some composites");
  RC_CLASSIFY(composites > 20, "many composites");
}

TEST(Generator, DrawsEveryFunctionAndAggregate) {
  const auto rules = rc::gen::exec(testing::random_rules);
  std::string drawn;
  rc::Random random(20261121);
  for (int i = 0; i < 2000; ++i) drawn += language::lower_case(rules(random.split(), 100).value());
  std::vector<std::string> names = functions::names();
  names.insert(names.end(), language::aggregate_names().begin(), language::aggregate_names().end());
  for (const std::string& name : names) {
    const bool infix = name == "like" || name == "matches" || name == "in";
    EXPECT_NE(drawn.find(language::lower_case(name) + (infix ? " " : "(")), drawn.npos) << name;
  }
}

}  // namespace
}  // namespace gorgo::testing
