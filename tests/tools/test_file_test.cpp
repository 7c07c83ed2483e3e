#include "tools/test_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "codec/event_notation.hpp"
#include "tools/text_diff.hpp"

namespace gorgo::tools {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

std::string respelled(std::string_view text) {
  const auto event = codec::take_event(text);
  return event ? codec::notation_of(*event) + "|" + std::string(text) : event.error().message;
}

TEST(EventNotation, ReadsAndWritesEveryKindOfValue) {
  EXPECT_EQ(respelled("@1 T()"), "@1 T()|");
  EXPECT_EQ(respelled("  @-1.5  T( a = 1,b=2.0, c=true,d=\"x, \\\"y\\\" \\u00fc)\" )  # why"),
            "@-1.5 T(a=1, b=2.0, c=true, d=\"x, \\\"y\\\" ü)\")|  # why");
  EXPECT_EQ(respelled("@0 T(a=NaN, b=-Infinity, c=-0.0, d=4.6e1)"),
            "@0 T(a=NaN, b=-Infinity, c=-0.0, d=46.0)|");
  EXPECT_EQ(respelled("@0 T(a=1e-400, b=2.4703282292062327e-324)"), "@0 T(a=0.0, b=0.0)|");
}

TEST(EventNotation, RefusesWhatItCannotRead) {
  EXPECT_THAT(respelled("T()"), HasSubstr("expected '@' and a time"));
  EXPECT_THAT(respelled("@x T()"), HasSubstr("timestamp 'x'"));
  EXPECT_THAT(respelled("@1 ()"), HasSubstr("expected a type"));
  EXPECT_THAT(respelled("@1 T"), HasSubstr("expected '(' at the end"));
  EXPECT_THAT(respelled("@1 T(a)"), HasSubstr("expected '='"));
  EXPECT_THAT(respelled("@1 T(a=)"), HasSubstr("expected a value"));
  EXPECT_THAT(respelled("@1 T(a=1"), HasSubstr("expected ',' or ')'"));
  EXPECT_THAT(respelled("@1 T(a=1,)"), HasSubstr("expected an attribute's name"));
  EXPECT_THAT(respelled("@1 T(a=\"x)"), HasSubstr("expected a closing quote"));
  EXPECT_THAT(respelled("@1 T(a=\"x\\"), HasSubstr("expected a closing quote"));
  EXPECT_THAT(respelled("@1 T(a=99999999999999999999)"), HasSubstr("not of type int"));
  EXPECT_THAT(respelled("@1 T(a=1e400)"), HasSubstr("not of type float"));
}

constexpr std::string_view kFile =
    "# About alarms.\n"
    "rules:\n"
    "  define A() from B();\n"
    "options:\n"
    "  max_depth = 3\n"
    "case: first one\n"
    "events:\n"
    "  @1 B()\n"
    "  # a comment\n"
    "  @2 B(x=1) refused \"no attribute\"   \n"
    "expect:\n"
    "  @1 A()   # as said\n"
    "\n"
    "case: second\n"
    "rules:\n"
    "  define A(\n"
    "\n"
    "  # not a comment of this file\n"
    "options:\n"
    "  engine = reference\n"
    "  max_composites = 7\n"
    "diagnostics:\n"
    "  1:12: error: expected ')': found\n";

TEST(TestFile, ReadsCasesThatShareWhatStandsFirst) {
  const auto cases = parse_test_file("x.test", kFile);
  ASSERT_TRUE(cases) << cases.error().message;
  ASSERT_EQ(cases->size(), 2u);
  const TestCase& first = cases->at(0);
  EXPECT_EQ(first.name, "first one");
  EXPECT_EQ(first.line, 6u);
  EXPECT_EQ(first.rules, "  define A() from B();\n");
  EXPECT_EQ(first.max_depth, 3u);
  ASSERT_EQ(first.steps.size(), 2u);
  EXPECT_EQ(codec::notation_of(first.steps[0].event), "@1 B()");
  EXPECT_EQ(first.steps[1].refusal, "no attribute");
  EXPECT_EQ(first.steps[1].line, 10u);
  EXPECT_THAT(first.expected, ElementsAre("@1 A()"));
  EXPECT_EQ(first.expected_line, 11u);
  const TestCase& second = cases->at(1);
  EXPECT_EQ(second.rules, "  define A(\n\n  # not a comment of this file\n");
  EXPECT_THAT(second.engines, ElementsAre("reference"));
  EXPECT_EQ(second.max_depth, 3u);
  EXPECT_EQ(second.max_composites, 7u);
  EXPECT_FALSE(first.diagnostics);
  ASSERT_TRUE(second.diagnostics);
  ASSERT_EQ(second.diagnostics->size(), 1u);
  EXPECT_EQ(second.diagnostics->at(0).line, 1u);
  EXPECT_EQ(second.diagnostics->at(0).column, 12u);
  EXPECT_EQ(second.diagnostics->at(0).message, "expected ')': found");
}

TEST(TestFile, AByteOrderMarkIsNoPartOfTheFirstLine) {
  const auto cases = parse_test_file("x.test", "\xEF\xBB\xBF" + std::string(kFile));
  ASSERT_TRUE(cases) << cases.error().message;
  EXPECT_EQ(cases->size(), 2u);
}

TEST(TestFile, TakesTheTextOfRulesAsItStands) {
  const auto cases = parse_test_file("x.test",
                                     "rules:\n"
                                     "# at the margin\n"
                                     "  define A() from B();\n"
                                     "# About the case.\n"
                                     "case: a\n"
                                     "# no rules\n"
                                     "expect:\n");
  ASSERT_TRUE(cases) << cases.error().message;
  EXPECT_EQ(cases->at(0).rules, "# at the margin\n  define A() from B();\n# About the case.\n");
}

TEST(TestFile, ReadsEverythingThatMayHappenBetweenEvents) {
  using Kind = TestStep::Kind;
  const auto cases = parse_test_file("x.test",
                                     "case: steps\n"
                                     "options:\n"
                                     "  lateness = 1.5\n"
                                     "  max_late = 3\n"
                                     "  max_ahead = 4\n"
                                     "  subscribe = A(x = 1)\n"
                                     "events:\n"
                                     "  B(x=1)\n"
                                     "  @1 tick # a comment\n"
                                     "  @2.5 clock\n"
                                     "  declare T(a: int, b: string)\n"
                                     "  deploy more with history: refused \"x\"\n"
                                     "    define A()\n"
                                     "\n"
                                     "    from B();\n"
                                     "  replace more:\n"
                                     "    define A() from B();\n"
                                     "  remove more.A\n"
                                     "  flush\n"
                                     "expect:\n"
                                     "counts:\n"
                                     "  late = 7\n");
  ASSERT_TRUE(cases) << cases.error().message;
  const TestCase& test = cases->at(0);
  EXPECT_EQ(test.lateness, 1'500'000);
  EXPECT_EQ(test.max_late, 3'000'000);
  EXPECT_EQ(test.max_ahead, 4'000'000);
  EXPECT_THAT(test.subscriptions, ElementsAre("A(x = 1)"));
  std::vector<Kind> kinds;
  for (const auto& step : test.steps) kinds.push_back(step.kind);
  EXPECT_THAT(kinds, ElementsAre(Kind::event, Kind::tick, Kind::clock, Kind::declare, Kind::deploy,
                                 Kind::deploy, Kind::remove, Kind::flush));
  EXPECT_FALSE(test.steps[0].event.timestamp);
  EXPECT_EQ(test.steps[2].event.timestamp, 2'500'000);
  EXPECT_EQ(test.steps[3].name, "T");
  EXPECT_EQ(test.steps[3].attributes.size(), 2u);
  EXPECT_TRUE(test.steps[4].options.with_history);
  EXPECT_EQ(test.steps[4].refusal, "x");
  EXPECT_EQ(test.steps[4].rules, "    define A()\n\n    from B();\n");
  EXPECT_TRUE(test.steps[5].options.replace);
  EXPECT_EQ(test.steps[6].name, "more.A");
  EXPECT_EQ(test.counts.at(0).value, 7u);
}

std::string why(std::string_view text) {
  const auto cases = parse_test_file("x.test", text);
  return cases ? "accepted" : cases.error().message;
}

TEST(TestFile, NamesFileAndLineOfWhatIsWrong) {
  const std::string head = "rules:\n  define A() from B();\ncase: a\n";
  EXPECT_EQ(why(head + "expect:\n"), "accepted");
  EXPECT_THAT(why(""), HasSubstr("no case"));
  EXPECT_THAT(why(head), StartsWith("x.test:3: the case expects nothing"));
  EXPECT_THAT(why("case: a\nexpect:\n"), StartsWith("x.test:1: the case has no rules"));
  EXPECT_THAT(why(head + "case: b\nexpect:\n"), StartsWith("x.test:3: the case expects nothing"));
  EXPECT_THAT(why("case:\n"), StartsWith("x.test:1: a case needs a name"));
  EXPECT_THAT(why("events:\n"), StartsWith("x.test:1: this section belongs into a case"));
  EXPECT_THAT(why(head + "expct:\n"), StartsWith("x.test:4: 'expct:' is no heading"));
  EXPECT_THAT(why(head + "hello\n"), StartsWith("x.test:4: 'hello' is no heading"));
  EXPECT_THAT(why(head + "  hello\n"), StartsWith("x.test:4: content without a section"));
  EXPECT_THAT(why(head + "expect:\nexpect:\n"), StartsWith("x.test:5: the section stands twice"));
  EXPECT_THAT(why(head + "events:\n  @1 B(\n"), StartsWith("x.test:5: expected"));
  EXPECT_THAT(why(head + "events:\n  @1 B() x\n"), StartsWith("x.test:5: 'x' behind the event"));
  EXPECT_THAT(why(head + "events:\n  @1 B() refused\n"), StartsWith("x.test:5: expected part"));
  EXPECT_THAT(why(head + "expect:\n  @1 A() x\n"), StartsWith("x.test:5: 'x' behind the event"));
  for (const auto* option :
       {"lateness = -5", "lateness = 5 ms", "max_depth = x", "flush = true", "size = 1"}) {
    EXPECT_THAT(why(head + "options:\n  " + option + "\n"),
                HasSubstr("unknown or has no such value"));
  }
  EXPECT_THAT(why(head + "events:\n  tick\n"), StartsWith("x.test:5: 'tick' is no event"));
  EXPECT_THAT(why(head + "events:\n  @1 tick x\n"), StartsWith("x.test:5: 'x' behind the step"));
  EXPECT_THAT(why(head + "events:\n  deploy\n"), HasSubstr("a deployment is written"));
  EXPECT_THAT(why(head + "events:\n  deploy more with love:\n"),
              HasSubstr("a deployment is written"));
  EXPECT_THAT(why(head + "events:\n  declare T(a: number)\n"),
              HasSubstr("a declaration is written"));
  EXPECT_THAT(why(head + "counts:\n  late\n"), HasSubstr("a count is written"));
  EXPECT_THAT(why(head + "options:\n  x\n"), HasSubstr("NAME = VALUE"));
  EXPECT_THAT(why(head + "diagnostics:\n  1: x\n"), HasSubstr("a diagnostic is written"));
}

TEST(TextDiff, MarksWhatDiffers) {
  EXPECT_EQ(diff({"a", "b", "c"}, {"a", "c", "d"}), "    a\n  - b\n    c\n  + d\n");
  EXPECT_EQ(diff({}, {"a"}), "  + a\n");
}

TEST(TextDiff, CutsLongCommonRuns) {
  const std::vector<std::string> same = {"1", "2", "3", "4", "5", "6", "7", "8"};
  std::vector<std::string> more = same;
  more.push_back("9");
  EXPECT_EQ(diff(same, more), "    ...\n    6\n    7\n    8\n  + 9\n");
}

TEST(TextDiff, ShowsHugeListsOneBehindTheOther) {
  const std::vector<std::string> many(3000, "x");
  std::vector<std::string> more = many;
  more.push_back("y");
  const std::string text = diff(many, more);
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 6001);
}

}  // namespace
}  // namespace gorgo::tools
