#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <sstream>

#include "generator.hpp"
#include "gorgo/processor.hpp"

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

struct Run {
  std::string engine;
  std::size_t batch = 1;                     ///< events between two calls of process
  std::size_t held = std::size_t{64} << 20;  ///< bytes
  unsigned threads = 1;
  std::uint64_t shuffle = 0;  ///< not 0: rules go from engine to engine
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

Lines outputs(const Case& test, const Run& run) {
  // Cycles multiply: small limits, which must not depend on engine and cuts either.
  Processor processor({.engine = run.engine,
                       .max_depth = 5,
                       .max_composites = 60,
                       .max_held_bytes = run.held,
                       .threads = run.threads,
                       .job_terminators = 2,
                       .shuffle_engines = run.shuffle});
  Diagnostics diagnostics = processor.deploy("types.tesla", type_rules());
  if (!diagnostics.failed()) diagnostics = processor.deploy("random.tesla", test.rules);
  if (diagnostics.failed()) return {"refused:\n" + diagnostics.render()};
  Lines lines;
  const auto deliver = [&](const OutputBatch& batch) { write(batch, lines); };
  for (std::size_t i = 0; i < test.events.size(); ++i) {
    for (const Change& change : test.changes) {
      if (change.before != i) continue;
      processor.process(deliver);
      apply(change, processor, lines);
    }
    const Event& event = test.events[i];
    const auto accepted =
        event.type.empty() ? processor.tick(*event.timestamp) : processor.append(event);
    if (accepted.has_error()) lines.push_back(accepted.error().to_string());
    if (processor.pending() >= run.batch) processor.process(deliver);
  }
  processor.finish(deliver);
  return lines;
}

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

void compare(const Case& test, const Lines& expected) {
  const std::size_t all = test.events.size() + 1;
  const auto cut = static_cast<std::size_t>(*rc::gen::inRange(2, 10));
  const auto check = [&](const Run& run) {
    if (outputs(test, run) == expected) return;
    RC_FAIL("under " + run.engine + ", batches of " + std::to_string(run.batch) + ", " +
            std::to_string(run.held) + " bytes held, " + std::to_string(run.threads) +
            " threads, shuffled by " + std::to_string(run.shuffle));
  };
  const auto engines = compared_engines();
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
    check({.engine = engine, .batch = all, .held = held});
    check({.engine = engine, .batch = all, .held = held, .threads = 3});
    // Jobs of two terminators, for three threads.
    check({.engine = engine, .batch = all, .threads = 3});
  }
}

RC_GTEST_PROP(Differential, EnginesAgreeInContentAndOrder, ()) {
  const std::string rules = random_rules();
  std::ptrdiff_t composites = 0;
  for (int stream = streams(); stream > 0; --stream) {
    const Case test{rules, random_changes(), random_stream()};
    log(test);
    const Lines expected = outputs(test, {.engine = "reference", .batch = 1});
    composites += composites_of(expected);
    compare(test, expected);
  }
  RC_CLASSIFY(composites > 0, "some composites");
  RC_CLASSIFY(composites > 20, "many composites");
}

}  // namespace
}  // namespace gorgo::testing
