#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "language/describe.hpp"
#include "language/language.hpp"
#include "rule_texts.hpp"

/// Rules in the spelling of T-Rex.
namespace gorgo::language {
namespace {

TRexFile converted(const std::string& text) {
  return to_trex({.path = "t.tesla", .text = text}, Schema());
}

/// The warnings, each as "LINE:COL: MESSAGE".
std::string warnings(const std::string& text) {
  std::string result;
  const TRexFile file = converted(text);
  EXPECT_FALSE(file.diagnostics.failed()) << file.diagnostics.render();
  for (const auto& warning : file.diagnostics.list) {
    result += std::to_string(warning.at.line) + ":" + std::to_string(warning.at.column) + ": " +
              warning.message + "\n";
  }
  return result;
}

TEST(TRex, WritesWhatItsGrammarKnows) {
  const TRexFile file = converted(
      "// lost\n"
      "event Temp(area: string, value: float);\n"
      "event Smoke(area: string, floor: int, open: bool);\n"
      "rule fire: Assign 2001 => Temp, 2000 => Smoke, 2100 => Fire\n"
      "define Fire(area: string, heat: float, mean: float, n: int)\n"
      "from Smoke(area = $a, floor > -3, open)\n"
      "and each Temp(area = $a and 45 < value) within 5 min from Smoke\n"
      "and not Rain([string]area = $a) between Temp and Smoke\n"
      "where area = $a and heat = -(Temp.value + 1) * 2 - 0.5 and\n"
      "mean = Avg(Temp(area = $a).value within 1500 ms from Smoke) and\n"
      "n = Count(Temp() within 2 s from Smoke) consuming Temp;");
  EXPECT_EQ(file.left_out, 0u);
  EXPECT_EQ(file.text,
            "Assign 2000 => Smoke, 2001 => Temp, 1 => Rain, 2100 => Fire\n"
            "Define Fire(area: string, heat: float, mean: float, n: int)\n"
            "From   Smoke(area => $a, [int]floor > (0 - 3), open = true)\n"
            "       and each Temp([string]area = $a, value > 45) within 300000 from Smoke\n"
            "       and not Rain([string]area = $a) between Temp and Smoke\n"
            "Where  area := $a, heat := (0 - (Temp.value + 1)) * 2 - 0.5, "
            "mean := AVG(Temp.value([string]area = $a)) within 1500 from Smoke, "
            "n := COUNT(Temp.area()) within 2000 from Smoke\n"
            "Consuming Temp;\n");
}

TEST(TRex, SaysWhatItCannotExpress) {
  const std::string types = "event B(x: int, s: string, on: bool); event C(x: int); ";
  const auto left_out = [&](const std::string& rule) {
    const TRexFile file = converted(types + rule);
    EXPECT_EQ(file.left_out, 1u) << rule;
    EXPECT_EQ(file.text, "");
    return file.diagnostics.list.empty() ? "" : file.diagnostics.list.front().message;
  };
  EXPECT_EQ(left_out("define A() from Timer(every = 1 min)"), "T-Rex has no timers");
  EXPECT_EQ(left_out("define A() from B() as X"), "T-Rex has no names for states");
  EXPECT_EQ(left_out("define A() from B() and 2-last C() within 1 s from B"),
            "T-Rex has no selection of several events by number");
  EXPECT_EQ(left_out("define A() from B() and not C() within 1 s after B"),
            "T-Rex has no absence with a deadline");
  EXPECT_EQ(left_out("define A() from B() and last C() within 1 us from B"),
            "T-Rex has no windows that are not whole milliseconds");
  EXPECT_EQ(left_out("define A() from B() and last C() per x within 1 s from B"),
            "T-Rex has no selection per key");
  EXPECT_EQ(left_out("define A(x: int) from B(x = $x) where x = $x order by x"),
            "T-Rex has no order of composites");
  EXPECT_EQ(left_out("define A() from B() limit 1"), "T-Rex has no limit of composites");
  EXPECT_EQ(left_out("define A() from B() and B.x > 1"), "T-Rex has no filters");
  EXPECT_EQ(left_out("define A() from B() and 1 < $t = Count(C() within 1 s from B)"),
            "T-Rex has no names for aggregates");
  EXPECT_EQ(left_out("define A() from B(x = 1 or x = 2)"), "T-Rex has no `or`");
  EXPECT_EQ(left_out("define A() from B(not x = 1)"), "T-Rex has no `not`");
  EXPECT_EQ(left_out("define A(r: bool) from B() where r = (B.on)"),
            "T-Rex has no conditions as values");
  EXPECT_EQ(left_out("define A() from B((on) = false)"), "T-Rex has no conditions as values");
  EXPECT_EQ(left_out("define A() from B(s contains \"a\")"), "T-Rex has no `contains`");
  EXPECT_EQ(left_out("define A() from B(s = \"a\\\"\")"), "T-Rex has no escapes in strings");
  EXPECT_EQ(left_out("define A() from B(x + 1 > 2)"),
            "T-Rex has no conditions without an attribute alone on one side");
  EXPECT_EQ(left_out("define A() from B(x = 3000000000)"),
            "T-Rex has no ints of more than 32 bits");
  EXPECT_EQ(left_out("define A(t: int) from B() where t = B.timestamp"),
            "T-Rex has no `timestamp`");
  EXPECT_EQ(left_out("@at_most(1, per = 1 s) define A() from B()"),
            "T-Rex has no limits on what a rule produces");
  EXPECT_EQ(left_out("define A() from every 3 B()"), "T-Rex has no terminators that are counted");
  EXPECT_EQ(left_out("define A() from B() and last C() within 3 events in 1 s from B"),
            "T-Rex has no windows of a number of events");
  EXPECT_EQ(left_out("define A() from B() and last C() within 3 of all events in 1 s from B"),
            "T-Rex has no windows of a number of events");
}

TEST(TRex, LeavesOutOnlyWhatItMust) {
  const std::string text =
      "event B(x: int);\n@engine(reference)\nAssign 1 => B, 2 => A define A() from B();\n"
      "define C() from B(x = 1 or x = 2);\n";
  EXPECT_EQ(warnings(text),
            "2:2: T-Rex has no annotations: `@engine` is left out\n"
            "4:25: T-Rex has no `or`\n");
  EXPECT_EQ(converted(text).text, "Assign 1 => B, 2 => A\nDefine A()\nFrom   B();\n");
}

/// Takes out what stands between `begin` and `end`, and `begin`.
std::string without(std::string text, std::string_view begin, std::string_view end) {
  for (auto at = text.find(begin); at != text.npos; at = text.find(begin, at)) {
    text.erase(at, text.find(end, at + begin.size()) - at);
  }
  return text;
}

/// What the rules of a file say. T-Rex tests a bool by `= true` and counts an attribute where Gorgo
/// counts events, which is the same.
std::vector<std::string> described(const BoundFile& file) {
  std::vector<std::string> list;
  for (const Rule& rule : file.rules) {
    const std::string all = describe(rule, file.schema);
    const bool counts = all.find("COUNT(") != all.npos;
    list.push_back(without(counts ? without(all, ")", " ") : all, " = true", ""));
  }
  return list;
}

/// Each rule that can be expressed means the same when it is read again.
TEST(TRex, MeansTheSame) {
  std::size_t rules = 0;
  for (const auto& text : rule_texts()) {
    if (text.find('@') != text.npos) continue;        // annotations are lost
    if (text.find("execute") != text.npos) continue;  // and so are actions
    const BoundFile original = compile({.path = "t.tesla", .text = text}, Schema());
    const TRexFile file = converted(text);
    EXPECT_EQ(file.diagnostics.failed(), original.diagnostics.failed()) << text;
    if (file.text.empty()) continue;
    const BoundFile again = compile({.path = "t.tesla", .text = file.text}, original.schema);
    ASSERT_FALSE(again.diagnostics.failed()) << again.diagnostics.render() << file.text;
    EXPECT_EQ(again.rules.size() + file.left_out, original.rules.size()) << text;
    const auto all = described(original);
    for (const auto& rule : described(again)) {
      if (rule.find("0 - ") != rule.npos) continue;  // a negation, spelled as a subtraction
      EXPECT_TRUE(std::find(all.begin(), all.end(), rule) != all.end()) << file.text << rule;
      ++rules;
    }
  }
  EXPECT_GT(rules, 100u);
}

}  // namespace
}  // namespace gorgo::language
