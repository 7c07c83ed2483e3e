#include "plan/explain.hpp"

#include "plan_support.hpp"

namespace gorgo::plan {
namespace {

constexpr const char* kRules =
    "event Smoke(area: string); event Rain(area: string);\n"
    "rule report: define FireReport(area: string) from Smoke(area = $a)\n"
    "  and each Temp([string]area = $a and value > 45) within 5 min from Smoke\n"
    "  where area = $a;\n"
    "@engine(reference)\n"
    "rule fire: define Fire(area: string, hottest: float) from Smoke(area = $a)\n"
    "  and 3-last Temp(area = $a and value > 45) as Hot within 5 min from Smoke\n"
    "  and not Rain(area = $a) between Hot and Smoke\n"
    "  and last Temp(value < Hot.value, value * 2 > Hot.value, Hot.value > 50) as Cool"
    " within 1 s from Hot\n"
    "  and 45 < $t = Avg(Temp(area = $a).value within 5 min from Smoke)\n"
    "  and (Hot.value - (Cool.value - 1)) * 2 > $t\n"
    "  where area = $a and hottest = Hot.value consuming Hot, Cool;\n"
    "rule calm: define Calm() from Timer(every = 1 min) and last Fire() within 1 h from Timer;\n";

TEST(Explain, RulesAsText) {
  const Planned planned(kRules);
  const Explanation explanation = explain(planned.plans, planned.schema);
  ASSERT_EQ(explanation.rules.size(), 3U);
  EXPECT_EQ(to_text(explanation.rules[0]),
            "rule report: event FireReport(area: string);\n"
            "  stratum        0\n"
            "  state 0        Smoke: terminator\n"
            "      binds      area\n"
            "  state 1        Temp: each, within 5 min from Smoke\n"
            "      column     Temp(value > 45), shared with fire\n"
            "      constant   value > 45\n"
            "      equality   area = Smoke.area\n"
            "  where          area = Smoke.area\n"
            "  reach          Smoke 0, Temp 5 min\n");
  EXPECT_EQ(to_text(explanation.rules[1]),
            "rule fire: event Fire(area: string, hottest: float);\n"
            "  engine         reference\n"
            "  stratum        0\n"
            "  state 0        Smoke: terminator\n"
            "      binds      area\n"
            "  state 1        Hot: 3-last, within 5 min from Smoke\n"
            "      column     Temp(value > 45), shared with report\n"
            "      constant   value > 45\n"
            "      equality   area = Smoke.area\n"
            "  state 2        Cool: last, within 1 s from Hot\n"
            "      column     Temp()\n"
            "      range      value < Hot.value\n"
            "                 value * 2.0 > Hot.value\n"
            "      guard      Hot.value > 50\n"
            "  negation       Rain between Hot and Smoke, tested with Hot\n"
            "      column     Rain()\n"
            "      equality   area = Smoke.area\n"
            "  aggregate      $0 = AVG(Temp(area = Smoke.area).value within 5 min from Smoke): "
            "float, required\n"
            "      column     Temp()\n"
            "      equality   area = Smoke.area\n"
            "  filter         45 < $0\n"
            "                 (Hot.value - (Cool.value - 1.0)) * 2.0 > $0\n"
            "  where          area = Smoke.area\n"
            "                 hottest = Hot.value\n"
            "  consuming      Hot, Cool\n"
            "  reach          Smoke 0, Rain 5 min, Temp 5 min 1 s\n");
  EXPECT_EQ(to_text(explanation.rules[2]),
            "rule calm: event Calm();\n"
            "  stratum        1\n"
            "  timer          Timer(every = 1 min)\n"
            "  state 0        Timer: terminator\n"
            "  state 1        Fire: last, within 1 h from Timer\n"
            "      column     Fire()\n"
            "  reach          Fire 1 h\n");
}

TEST(Explain, KeysOrderAndLimit) {
  const Planned planned(
      "event T(area: string, value: float); rule top: define Top(area: string, value: float)"
      " from Timer(every = 1 min) and 2-last T(value > 1) per area, value within 1 min inclusive"
      " from Timer where area = T.area, value = T.value order by value desc, area limit 3;");
  EXPECT_EQ(to_text(explain(planned.plans, planned.schema).rules[0]),
            "rule top: event Top(area: string, value: float);\n"
            "  stratum        0\n"
            "  timer          Timer(every = 1 min)\n"
            "  state 0        Timer: terminator\n"
            "  state 1        T: 2-last per area, value, within 1 min inclusive from Timer\n"
            "      column     T(has value, has area, value > 1)\n"
            "      binds      value, area\n"
            "      constant   value > 1\n"
            "  where          area = T.area\n"
            "                 value = T.value\n"
            "  order by       value desc, area\n"
            "  limit          3\n"
            "  reach          T 1 min 1 ns\n");
}

TEST(Explain, TypesAndCycles) {
  const Planned planned(
      "event A(x: int); rule b: define B() from A(x = $x) and last T(y = $x) within 5 from A;"
      "rule c: define C() from B() and last D() within 5 from B; rule d: define D() from C();");
  Explanation explanation = explain(planned.plans, planned.schema);
  explanation.rules.clear();
  EXPECT_EQ(to_text(explanation),
            "types\n"
            "  declared       event A(x: int);\n"
            "  composite      event B();\n"
            "  composite      event C();\n"
            "  composite      event D();\n"
            "  inferred       event T(y: int);\n"
            "\n"
            "cycle: C -> D -> C\n");
}

TEST(Explain, OfManyRulesThatShareAColumnTheFirstAreNamed) {
  std::string text = "event A(); event B();";
  for (int i = 0; i < 12; ++i) text += "define F() from A() and last B() within 5 from A;";
  const Planned planned(text);
  const Explanation explanation = explain(planned.plans, planned.schema);
  EXPECT_THAT(to_text(explanation.rules[0]),
              testing::HasSubstr("B(), shared with plant.F.2, plant.F.3, plant.F.4, plant.F.5, "
                                 "plant.F.6, plant.F.7, plant.F.8, plant.F.9 and 3 more\n"));
}

TEST(Explain, ADeadlineIsNamed) {
  const Planned planned(
      "rule a: define F() from A() and not B() within 30 s after A and not C() within 1 s from A;");
  const RuleExplanation rule = explain(planned.plans, planned.schema).rules.at(0);
  EXPECT_EQ(rule.deadline, "30 s");
  EXPECT_EQ(rule.negations.at(0).completed_at, std::nullopt);
  EXPECT_EQ(rule.negations.at(1).completed_at, "A");
}

}  // namespace
}  // namespace gorgo::plan
