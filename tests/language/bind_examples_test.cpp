// The rules of language.md §2 and §13, and those that the papers print.
#include "bind_support.hpp"

namespace gorgo::language {
namespace {

constexpr std::string_view kFire =
    "define    Fire(area: string, measuredTemp: double)\n"
    "from      Smoke(area=$a) and %\n"
    "where     area=Smoke.area and measuredTemp=Temp.value;\n";

std::string fire(std::string_view clause) {
  std::string text(kFire);
  return text.replace(text.find('%'), 1, clause);
}

TEST(BindExamples, TheRuleOfTheChapterOnFiles) {
  const std::string text =
      "rule fire_last:\n"
      "define    Fire(area: string, measuredTemp: float)\n"
      "from      Smoke(area = $a)\n"
      "          and last Temp(area = $a and value > 45) within 5 min from Smoke\n"
      "          and not Rain(area = $a) between Temp and Smoke\n"
      "where     area = Smoke.area and measuredTemp = Temp.value\n"
      "consuming Temp;\n";
  EXPECT_EQ(described(text),
            "event Fire(area: string, measuredTemp: float);\n"
            "state 0: Smoke(has area) as Smoke\n"
            "state 1: last Temp(area = Smoke.area, value > 45) as Temp within 5 min from Smoke\n"
            "not Rain(area = Smoke.area) between Temp and Smoke, tested after state 1\n"
            "area := Smoke.area\n"
            "measuredTemp := Temp.value\n"
            "consuming Temp\n");
  EXPECT_EQ(type_in(text, "Temp"), "event Temp(area: string, value: float);");
  EXPECT_EQ(type_in(text, "Rain"), "event Rain(area: string);");
  EXPECT_EQ(compile_text(text).rules.at(0).name, "fire_last");
}

TEST(BindExamples, TwoSpellingsMeanTheSame) {
  const std::string trex =
      "Assign 2000 => Smoke, 2001 => Temp, 2100 => Fire "
      "Define Fire(area: string, measuredTemp: float) "
      "From Smoke(area => $a) and each Temp([string]area = $a, value > 45) within 300000 from "
      "Smoke "
      "Where area := Smoke.area, measuredTemp := Temp.value;";
  const std::string paper =
      described(fire("each Temp(area=$a and value>45) within 5 min. from Smoke"));
  EXPECT_EQ(paper, described(trex));
  EXPECT_THAT(paper, HasSubstr("state 1: each Temp(area = Smoke.area, value > 45) as Temp"
                               " within 5 min from Smoke\n"));
}

TEST(BindExamples, PaperRules1To3) {
  EXPECT_THAT(described(fire("last Temp(area=$a and value>45) within 5 min. from Smoke")),
              HasSubstr("state 1: last Temp(area = Smoke.area, value > 45) as Temp"));
  EXPECT_EQ(described("define    Fire(area: string, measuredTemp: double)\n"
                      "from      Smoke(area=$a) and 45 < $t=Avg(Temp(area=$a).value\n"
                      "          within 5 min. from Smoke)\n"
                      "where     area=Smoke.area and measuredTemp=$t\n"),
            "event Fire(area: string, measuredTemp: float);\n"
            "state 0: Smoke(has area) as Smoke\n"
            "$0 = AVG(Temp(area = Smoke.area).value within 5 min from Smoke): float\n"
            "required $0\n"
            "filter 45 < $0\n"
            "area := Smoke.area\n"
            "measuredTemp := $0\n");
}

TEST(BindExamples, PaperRule4NeedsADeclaration) {
  const std::string rule =
      "define    ComplexEvent()\n"
      "from      C(p=$x) and each B(p=$x and v>10) within 8 min. from C and\n"
      "          last A(p=$x) within 3 min. from B;\n";
  EXPECT_THAT(messages(rule), ElementsAre("2:13: nothing says what type attribute `p` of `C` has"));
  EXPECT_EQ(described("event C(p: int); " + rule),
            "event ComplexEvent();\n"
            "state 0: C(has p) as C\n"
            "state 1: each B(p = C.p, v > 10) as B within 8 min from C\n"
            "state 2: last A(p = C.p) as A within 3 min from B\n");
}

TEST(BindExamples, PaperRule5AndTheRulesOfTheBenchmarks) {
  EXPECT_EQ(described("define CE(att1: int, att2: int)\n"
                      "from C(att=$x) and last B(att=$x) within 100000 from C\n"
                      "and last A(att=$x) within 100000 from B\n"
                      "where att1=$x and att2=Sum(A(att=$x).value within 100000 from B)\n"),
            "event CE(att1: int, att2: int);\n"
            "state 0: C(has att) as C\n"
            "state 1: last B(att = C.att) as B within 100 s from C\n"
            "state 2: last A(att = C.att) as A within 100 s from B\n"
            "$0 = SUM(A(att = C.att).value within 100 s from B): int\n"
            "att1 := C.att\n"
            "att2 := $0\n");
  EXPECT_THAT(described("define      CE(att1 : int)\n"
                        "from        C(att = $x) and last B(att = $x) within 1000000 from C\n"
                        "where       att1 = Sum(A(att = $x).value within 1000000 from B)\n"
                        ";event C(att: int);"),
              HasSubstr("att1 := $0\n"));
}

TEST(BindExamples, ThesisRule1) {
  EXPECT_EQ(described("define      Alarm(TankID : int)\n"
                      "from        Level(TankID = $x, Value < 5)\n"
                      "            and last Open(TankID = $x) within 10 from Level\n"
                      "where       TankID = $x\n"),
            "event Alarm(TankID: int);\n"
            "state 0: Level(has TankID, Value < 5) as Level\n"
            "state 1: last Open(TankID = Level.TankID) as Open within 10 ms from Level\n"
            "TankID := Level.TankID\n");
}

TEST(BindExamples, ThesisAlarms2And3) {
  EXPECT_THAT(described("define Alarm(TankID: int) from Level(TankID = $x, Value < 5)"
                        " and not Open(TankID = $x) within 10 min from Level where TankID = $x;"),
              HasSubstr("not Open(TankID = Level.TankID) within 10 min from Level,"
                        " tested after state 0\n"));
  EXPECT_THAT(described("define Alarm(TankID: int) from Level(TankID = $x, Value = $v)"
                        " and last Open(TankID = $x) within 1 min from Level and ($v > 80 or"
                        " Max(Level(TankID=$x).Value between Open and Level) > 80)"
                        " where TankID = $x;"),
              HasSubstr("filter Level.Value > 80 or $0 > 80\n"));
}

TEST(BindExamples, ThesisAlarm4HasTenReadings) {
  std::string text = "define Alarm(TankID: int) from Level(TankID = $x, Value = $v0)";
  std::string before = "Level", filter = "(";
  for (int i = 1; i <= 9; ++i) {
    const std::string name = "L" + std::to_string(i);
    text += " and last Level(TankID = $x) as " + name + " within 1 min from " + before;
    filter += (i > 1 ? " and " : "") + name + ".Value < " + before + ".Value";
    before = name;
  }
  text += " and last Open(TankID = $x) within 1 min from Level and " + filter +
          ") where TankID = $x; event Level(TankID: int, Value: float);";
  const BoundFile bound = compile_text(text);
  ASSERT_EQ(bound.rules.size(), 1u) << bound.diagnostics.render();
  EXPECT_EQ(bound.rules[0].states.size(), 11u);
  EXPECT_EQ(bound.rules[0].states[9].reference, 8u);
}

TEST(BindExamples, ConditionsAndFiltersOfOnePattern) {
  const std::string types = "event A(v: int); event B(x: int);";
  EXPECT_EQ(
      line_of(types + "define F() from A(v=$v) and last B(x=$x) within 10 from A and $x < $v;",
              "filter "),
      "B.x < A.v");
  EXPECT_EQ(
      line_of(types + "define F() from A(v=$v) and last B(x = $x and x < $v) within 10 from A;",
              "state 1: "),
      "last B(has x, x < A.v) as B within 10 ms from A");
}

TEST(BindExamples, TenThousandRulesOfOneFile) {
  std::string text;
  for (int i = 0; i < 10'000; ++i) {
    const std::string n = std::to_string(i);
    text += "define Fire" + n + "(area: string, t: float) from Smoke(area = $a) and last Temp" +
            std::to_string(i % 100) + "(area = $a and value > " + n +
            ") within 5 min from Smoke where area = $a and t = Temp" + std::to_string(i % 100) +
            ".value;\n";
  }
  EXPECT_EQ(compile_text(text).rules.size(), 10'000u);
}

}  // namespace
}  // namespace gorgo::language
