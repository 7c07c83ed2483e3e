#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <sstream>

#include "gorgo/processor.hpp"

namespace gorgo::engine {
namespace {

using testing::Gt;
using testing::IsEmpty;
using testing::Not;

constexpr Timestamp kMillisecond = 1'000'000;

struct Outcome {
  std::vector<std::string> composites;
  RuleInfo rule;
};

/// One event of a random type a millisecond.
std::vector<Event> stream(int length, int values) {
  std::mt19937 random(1);
  const auto below = [&](int n) { return std::int64_t(random() % static_cast<unsigned>(n)); };
  std::vector<Event> events;
  for (int i = 0; i < length; ++i) {
    const std::string type(1, static_cast<char>('A' + below(4)));
    events.push_back({.type = type,
                      .timestamp = i * kMillisecond,
                      .attributes = {{"k", below(values)}, {"v", below(10)}}});
  }
  return events;
}

std::string with_types(const std::string& rule) {
  std::string text;
  for (const char* type : {"A", "B", "C", "D"}) {
    text += std::string("event ") + type + "(k: int, v: int);\n";
  }
  return text + rule;
}

Outcome run(const std::string& engine, const std::string& rule, const std::vector<Event>& events,
            std::size_t batch = 10) {
  Processor processor({.engine = engine, .max_late = 100 * kMillisecond});
  const Diagnostics diagnostics = processor.deploy("test.tesla", with_types(rule));
  EXPECT_FALSE(diagnostics.failed()) << diagnostics.render();
  Outcome outcome;
  const auto deliver = [&](const OutputBatch& output) {
    for (const auto& row : output.rows) {
      if (row.rule == OutputBatch::kPrimitive) continue;
      std::ostringstream line;
      line << row.place.root << "." << row.place.ordinal << "@" << row.timestamp;
      output.for_each_attribute(row, [&](std::string_view name, const Datum& value) {
        line << " " << name << "=" << value.integer;
      });
      outcome.composites.push_back(line.str());
    }
  };
  for (const Event& event : events) {
    EXPECT_FALSE(processor.append(event).has_error());
    if (processor.pending() >= batch) processor.process(deliver);
  }
  processor.finish(deliver);
  outcome.rule = processor.rules()[0];
  return outcome;
}

struct Shape {
  const char* name;
  const char* rule;
};

void PrintTo(const Shape& shape, std::ostream* out) { *out << shape.name; }

class AutomatonShape : public testing::TestWithParam<Shape> {};

TEST_P(AutomatonShape, IsEvaluatedWithoutScans) {
  const auto events = stream(2000, 3);
  const Outcome expected = run("reference", GetParam().rule, events);
  const Outcome outcome = run("automaton", GetParam().rule, events);
  EXPECT_THAT(expected.composites, Not(IsEmpty()));
  EXPECT_EQ(outcome.composites, expected.composites);
  EXPECT_EQ(outcome.rule.overflows, expected.rule.overflows);
  EXPECT_EQ(outcome.rule.declined, 0u) << outcome.rule.declined_because;
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, AutomatonShape,
    testing::Values(
        Shape{"TerminatorAlone", "define O(v: int) from A(v > 8) where v = A.v;"},
        Shape{"Chain",
              "define O(v: int, w: int) from A(k = $x) and each B(k = $x) within 20 from A"
              " and each C(k = $x, v < 5) within 30 from B where v = B.v, w = C.v;"},
        Shape{"ChainThatRefersToTheTerminatorAtItsEnd",
              "define O(v: int, w: int) from A(v = $v) and each B() within 10 from A"
              " and each C(v > $v) within 10 from B where v = B.v, w = C.v;"},
        Shape{"SingleSelectionsWithOthersBehind",
              "define O(v: int, w: int) from A(k = $x) and last B(k = $x) within 20 from A"
              " and first C(v > A.v) within 10 from B and 2-last D(k = $x) within 20 from C"
              " where v = B.v, w = D.v;"},
        Shape{"SiblingsOfTheTerminator",
              "define O(v: int, w: int) from A(k = $x) and each B(k = $x) within 9 from A"
              " and last C(v < B.v) within 20 from A where v = B.v, w = C.v;"},
        Shape{"SiblingsOfAnotherState",
              "define O(v: int, w: int) from A(k = $x) and last B(k = $x) within 20 from A"
              " and each C(v > B.v) within 20 from B and 2-first D(v = C.v) within 30 from B"
              " where v = C.k, w = D.k;"},
        Shape{"Consuming",
              "define O(v: int, w: int) from A(k = $x) and last B(k = $x) within 50 from A"
              " and each C(k = $x) within 20 from B where v = B.v, w = C.v consuming B, C;"},
        Shape{"Negations",
              "define O(v: int, w: int) from A(k = $x) and each B(k = $x) within 20 from A"
              " and last C() within 20 from B and not D(k = $x) between C and B"
              " and not D(v = 0) within 5 from B and not D(v > C.v) between B and A"
              " where v = B.v, w = C.v;"},
        Shape{"Deadline",
              "define O(v: int) from A(k = $x) and each B(k = $x) within 10 from A"
              " and not C(k = $x) within 8 after A where v = B.v;"},
        Shape{"Timer",
              "define O(v: int) from Timer(every = 7 ms) and each B(v > 5) within 7 from Timer"
              " and last A(v = $a) within 9 from B where v = B.v + A.v;"},
        Shape{"AggregatesAndFilters",
              "define O(v: int, w: int) from A(k = $x) and each B(k = $x) within 20 from A"
              " and each C() within 4 from B and $s = Sum(D(k = $x).v within 20 from B)"
              " and $s > 2 * C.v where v = $s, w = Count(D(v > C.v) between C and A);"},
        Shape{"Overflows",
              "@limit(max_sequences = 100) define O(v: int, w: int) from A() and each B() within 20"
              " from A and each B(v > 0) as B2 within 20 from A and each B(v > 1) as B3 within 20"
              " from A and each B(v > 8) as B4 within 20 from B3 where v = B.v, w = B2.v;"}),
    [](const auto& shape) { return std::string(shape.param.name); });

constexpr const char* kChain =
    "define O(v: int, w: int) from A(k = $x) and each B(k = $x) within 50 from A"
    " and each C(k = $x) within 50 from B where v = B.v, w = C.v;";

TEST(Automaton, LeavesTerminatorsAmongLateEventsToScans) {
  auto events = stream(2000, 3);
  events[1000].timestamp = *events[1000].timestamp - 40 * kMillisecond;
  events[1500].timestamp = *events[1500].timestamp - 40 * kMillisecond;
  for (const std::size_t batch : {1, 10, 5000}) {
    const Outcome outcome = run("automaton", kChain, events, batch);
    EXPECT_EQ(outcome.composites, run("reference", kChain, events, batch).composites);
    if (batch == 1) {
      EXPECT_LE(outcome.rule.declined, 2u);
    } else if (batch == 5000) {
      EXPECT_THAT(outcome.rule.declined, Gt(2u));
      EXPECT_EQ(outcome.rule.declined_because, "late events");
    }
  }
}

TEST(Automaton, ScansWhileItWouldKeepMoreThanMaxSequences) {
  const std::string rule = "@limit(max_sequences = 60) " + std::string(kChain);
  auto events = stream(300, 3);
  for (int i = 0; i < 300; ++i) {
    // Later events are so far apart that there are few partial sequences.
    const auto apart = i < 150 ? kMillisecond : 20 * kMillisecond;
    events[i].timestamp = i == 0 ? 0 : *events[i - 1].timestamp + apart;
  }
  const Outcome expected = run("reference", rule, events, 1);
  const Outcome outcome = run("automaton", rule, events, 1);
  EXPECT_EQ(outcome.composites, expected.composites);
  EXPECT_EQ(outcome.rule.overflows, expected.rule.overflows);
  EXPECT_EQ(outcome.rule.declined_because, "too many partial sequences");
  EXPECT_THAT(outcome.rule.declined, Gt(0u));
  EXPECT_LT(outcome.rule.declined, outcome.rule.terminators / 2 + 5);
}

TEST(Automaton, ComparesWhatStatesShareAsSoonAsTheyMeet) {
  // Two states are compared with the terminator, which comes last. If the automaton compared only
  // then, it would keep each pair of events.
  const std::string rule =
      "@limit(max_sequences = 1000) define O(v: int, w: int) from A(k = $x)"
      " and each B(k = $x) within 1000 from A and each C(k = $x) within 1000 from B"
      " where v = B.v, w = C.v;";
  const auto events = stream(3000, 1000);
  const Outcome outcome = run("automaton", rule, events);
  EXPECT_EQ(outcome.composites, run("reference", rule, events).composites);
  EXPECT_EQ(outcome.rule.declined, 0u);
}

TEST(Automaton, ForgetsPartialSequencesWithTheirWindows) {
  const Outcome some = run("automaton", kChain, stream(2'000, 3));
  const Outcome many = run("automaton", kChain, stream(40'000, 3));
  EXPECT_LE(many.rule.bytes, 2 * some.rule.bytes);
}

}  // namespace
}  // namespace gorgo::engine
