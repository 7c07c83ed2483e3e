#include "cluster/plan.hpp"

#include "../plan/plan_support.hpp"

namespace gorgo::cluster {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

/// The rules of the tests read these.
constexpr const char* kTypes = R"(
event Temp(area: string, floor: int, value: float);
event Smoke(area: string, floor: int, dense: bool);
event Alarm(zone: string, level: int);
event Reading(value: float);
)";

struct Planned {
  explicit Planned(const std::string& rules)
      : planned(kTypes + rules), plan(plan_cluster(planned.plans, planned.schema)) {}

  std::string family(std::size_t rule = 0) const { return plan.rules[rule].family; }
  std::string because(std::size_t rule = 0) const { return plan.rules[rule].because; }

  plan::Planned planned;
  ClusterPlan plan;
};

TEST(ClusterPlan, StatesThatEqualTheTerminatorAreDivided) {
  const Planned rules(R"(define Fire(area: string) from Smoke(area = $a)
and last Temp(area = $a, value > 45) within 5 min from Smoke where area = $a;)");
  EXPECT_EQ(rules.family(), "area") << rules.because();
  ASSERT_EQ(rules.plan.families.size(), 1u);
  EXPECT_THAT(rules.plan.families[0].keys,
              ElementsAre(Pair("Smoke", "area"), Pair("Temp", "area")));
  EXPECT_THAT(rules.plan.routes,
              ElementsAre(Pair("Smoke", ElementsAre("area")), Pair("Temp", ElementsAre("area"))));
}

TEST(ClusterPlan, AStateThatIsNotTiedIsWhole) {
  const Planned rules(R"(define Fire(area: string) from Smoke(area = $a)
and last Temp(value > 45) within 5 min from Smoke where area = $a;)");
  EXPECT_EQ(rules.family(), "whole");
  EXPECT_THAT(rules.because(), HasSubstr("state Temp need not equal Smoke.area"));
  EXPECT_TRUE(rules.plan.families[0].is_whole());
}

TEST(ClusterPlan, SeveralTypesAreWhole) {
  const Planned rules(R"(define Fire(area: string) from Smoke(area = $a)
and last Temp or Smoke(area = $a) as S within 5 min from Smoke where area = $a;)");
  EXPECT_EQ(rules.family(), "whole");
  EXPECT_THAT(rules.because(), HasSubstr("several types"));
  EXPECT_THAT(rules.plan.routes,
              ElementsAre(Pair("Smoke", ElementsAre("whole")), Pair("Temp", ElementsAre("whole"))));
}

TEST(ClusterPlan, TablesAreDividedByTheirKeys) {
  const std::string table = "table Limit(area: string key, kind: int key, most: float);";
  const Planned rules(table + R"(define Over(area: string) from Temp(area = $a)
and table Limit(area = $a) as L and Temp.value > L.most
and $most = Limit(area = $a, kind = 1).most where area = $a;)");
  EXPECT_EQ(rules.family(), "area") << rules.because();
  EXPECT_THAT(rules.plan.routes,
              ElementsAre(Pair("Limit", ElementsAre("area")), Pair("Temp", ElementsAre("area"))));
}

TEST(ClusterPlan, TablesThatAreReadByOtherKeysAreWhole) {
  const std::string table = "table Limit(kind: int key, area: string, most: float);";
  for (const char* const reads :
       {"table Limit(area = $a) as L", "table Limit() as L", "0 < Limit(kind = 1).most"}) {
    const Planned rules(table + "define Over(area: string) from Temp(area = $a) and " + reads +
                        " where area = $a;");
    EXPECT_EQ(rules.family(), "whole") << reads;
    EXPECT_THAT(rules.because(), HasSubstr("need not equal Temp."));
    EXPECT_THAT(rules.plan.routes.at("Limit"), ElementsAre("whole"));
  }
}

TEST(ClusterPlan, OtherComparisonsTieNothing) {
  for (const char* const condition :
       {"area >= $a", "area != $a", "not (area = $a)", "(area = $a or value > 1)",
        "lower(area) = $a", "area contains $a", "area = lower($a)"}) {
    const Planned rules(
        std::string("define Fire(area: string) from Smoke(area = $a) and each Temp(") + condition +
        ") within 5 min from Smoke where area = $a;");
    EXPECT_EQ(rules.family(), "whole") << condition;
  }
}

TEST(ClusterPlan, PartsOfAConjunctionTie) {
  const Planned rules(R"(define Fire(area: string) from Smoke(area = $a)
and each Temp((area = $a and value > 3)) within 5 min from Smoke where area = $a;)");
  EXPECT_EQ(rules.family(), "area") << rules.because();
}

TEST(ClusterPlan, StatesAreTiedThroughOthers) {
  const Planned rules(R"(define Fire(zone: string) from Alarm(zone = $z)
and last Smoke(area = $z, floor = $f) within 5 min from Alarm
and each Temp(area = Smoke.area) within 5 min from Smoke where zone = $z;)");
  EXPECT_EQ(rules.family(), "Alarm.zone+Smoke.area+Temp.area") << rules.because();
}

TEST(ClusterPlan, EachStateMustBeTiedByItself) {
  // `last Smoke` chooses among all areas; that the chosen one has the right area shows later.
  const Planned rules(R"(define Fire(area: string) from Temp(area = $a)
and last Smoke() as S within 5 min from Temp
and each Temp(area = $a, S.area = $a) as T2 within 5 min from Temp where area = $a;)");
  EXPECT_EQ(rules.family(), "whole");
}

TEST(ClusterPlan, NegationsTieNoStates) {
  // Without a matching Alarm, areas of Smoke and Temp may differ.
  const Planned rules(R"(define Fire(area: string) from Temp(area = $a)
and last Smoke() as S within 5 min from Temp
and not Alarm(zone = $a, zone = S.area) within 5 min from Temp where area = $a;)");
  EXPECT_EQ(rules.family(), "whole");
}

TEST(ClusterPlan, NegationsMustBeTied) {
  const Planned tied(R"(define Hot(area: string) from Temp(area = $a)
and not Smoke(area = $a) within 5 min from Temp where area = $a;)");
  EXPECT_EQ(tied.family(), "area") << tied.because();
  const Planned loose(R"(define Hot(area: string) from Temp(area = $a)
and not Smoke(dense = true) within 5 min from Temp where area = $a;)");
  EXPECT_EQ(loose.family(), "whole");
  EXPECT_THAT(loose.because(), HasSubstr("not Smoke need not equal Temp.area"));
}

TEST(ClusterPlan, AggregatesMustBeTied) {
  const Planned tied(R"(define Mean(area: string, mean: float) from Smoke(area = $a)
where area = $a, mean = Avg(Temp(area = $a).value within 5 min from Smoke);)");
  EXPECT_EQ(tied.family(), "area") << tied.because();
  const Planned loose(R"(define Mean(area: string, mean: float) from Smoke(area = $a)
where area = $a, mean = Avg(Temp().value within 5 min from Smoke);)");
  EXPECT_EQ(loose.family(), "whole");
  EXPECT_THAT(loose.because(), HasSubstr("the aggregate of Temp"));
}

TEST(ClusterPlan, TheNewestOfAllEventsAreThoseOfAllKeys) {
  const Planned of_key(R"(define Mean(area: string, mean: float) from Smoke(area = $a)
where area = $a, mean = Avg(Temp(area = $a).value within 9 events in 5 min from Smoke);)");
  EXPECT_EQ(of_key.family(), "area") << of_key.because();
  const Planned aggregate(R"(define Mean(area: string, mean: float) from Smoke(area = $a)
where area = $a, mean = Avg(Temp(area = $a).value within 9 of all events in 5 min from Smoke);)");
  EXPECT_EQ(aggregate.family(), "whole");
  EXPECT_THAT(aggregate.because(), HasSubstr("the newest of all events"));
  const Planned state(R"(define Fire(area: string) from Smoke(area = $a)
and last Temp(area = $a) within 9 of all events in 5 min from Smoke where area = $a;)");
  EXPECT_EQ(state.family(), "whole");
  EXPECT_THAT(state.because(), HasSubstr("the newest of all events"));
}

TEST(ClusterPlan, DeadlinesAreDividedAndNeedTheClock) {
  const Planned rules(R"(define Silent(area: string) from Smoke(area = $a)
and not Temp(area = $a) within 5 min after Smoke where area = $a;)");
  EXPECT_EQ(rules.family(), "area") << rules.because();
  EXPECT_TRUE(rules.plan.families[0].needs_clock);
}

TEST(ClusterPlan, TimersAreWhole) {
  const Planned rules(R"(define Report(area: string) from Timer(every = 5 min)
and last Temp(area = $a) within 5 min from Timer where area = $a;)");
  EXPECT_EQ(rules.family(), "whole");
  EXPECT_THAT(rules.because(), HasSubstr("timer"));
  EXPECT_TRUE(rules.plan.families[0].needs_clock);
}

TEST(ClusterPlan, ConsumingAndGroupsAreDivided) {
  const Planned rules(R"(define Fire(area: string) from Smoke(area = $a)
and last Temp(area = $a) per floor within 5 min from Smoke
where area = $a consuming Temp;)");
  EXPECT_EQ(rules.family(), "area") << rules.because();
}

TEST(ClusterPlan, ACountIsDividedWhereItIsOfTheKey) {
  const auto counting = [](const std::string& per) {
    return "define Hot(area: string) from every 100 Temp(value > 45)" + per +
           " where area = Temp.area;";
  };
  const Planned by(counting(" per area"));
  EXPECT_EQ(by.family(), "area") << by.because();
  for (const char* const loose : {"", " per value"}) {
    const Planned rules(counting(loose));
    EXPECT_EQ(rules.family(), "whole") << loose;
    EXPECT_THAT(rules.because(), HasSubstr("`every` counts events of different keys together"));
  }
}

TEST(ClusterPlan, AtMostIsDividedWhereItCountsByTheKey) {
  const std::string rest = R"(define Hot(area: string, value: float) from Temp(value > 45)
where area = Temp.area, value = Temp.value;)";
  const Planned by("@at_most(1, per = 10 min, by = area) " + rest);
  EXPECT_EQ(by.family(), "area") << by.because();
  for (const char* const loose :
       {"@at_most(1, per = 10 min) ", "@at_most(1, per = 10 min, by = value) "}) {
    const Planned rules(loose + rest);
    EXPECT_EQ(rules.family(), "whole") << loose;
    EXPECT_THAT(rules.because(), HasSubstr("@at_most"));
  }
}

TEST(ClusterPlan, FloatsAreNoKeys) {
  const Planned rules(R"(define Same(value: float) from Reading(value = $v)
and each Temp(value = $v) within 5 min from Reading where value = $v;)");
  EXPECT_EQ(rules.family(), "whole");
  EXPECT_THAT(rules.because(), HasSubstr("no attribute that can be a key"));
}

TEST(ClusterPlan, IntsAndFloatsThatAreEqualAreWrittenDifferently) {
  const Planned rules(R"(define Same(floor: int) from Temp(floor = $f)
and each Reading(value = $f) within 5 min from Temp where floor = $f;)");
  EXPECT_EQ(rules.family(), "whole");
}

TEST(ClusterPlan, OneTypeInSeveralStatesHasOneKey) {
  const Planned same(R"(define Rise(area: string) from Temp(area = $a, value > 50) as T1
and last Temp(area = $a, value < 20) as T2 within 5 min from T1 where area = $a;)");
  EXPECT_EQ(same.family(), "area") << same.because();
  const Planned different(R"(event Move(from_area: string, to_area: string);
define Chain(area: string) from Move(to_area = $a) as M1
and last Move(from_area = $a) as M2 within 5 min from M1 where area = $a;)");
  EXPECT_EQ(different.family(), "whole");
}

TEST(ClusterPlan, OneOfSeveralKeysIsChosen) {
  const Planned rules(R"(define Fire(area: string) from Smoke(area = $a, floor = $f)
and last Temp(area = $a, floor = $f) within 5 min from Smoke where area = $a;
define Level(floor: int) from Temp(floor = $f)
and last Temp(floor = $f) as Before within 5 min from Temp where floor = $f;)");
  EXPECT_EQ(rules.family(0), "floor");
  EXPECT_EQ(rules.family(1), "floor");
  EXPECT_THAT(rules.plan.routes,
              ElementsAre(Pair("Smoke", ElementsAre("floor")), Pair("Temp", ElementsAre("floor"))));
}

TEST(ClusterPlan, ARuleOfOneStateJoinsAFamily) {
  const Planned rules(R"(define Hot(value: float) from Temp(value > 45) where value = Temp.value;
define Level(floor: int) from Temp(floor = $f)
and last Temp(floor = $f) as Before within 5 min from Temp where floor = $f;)");
  EXPECT_EQ(rules.family(0), "floor");
}

TEST(ClusterPlan, CompositesHandTheKeyOn) {
  const std::string fire = R"(define Fire(area: string, floor: int) from Smoke(area = $a)
and last Temp(area = $a) within 5 min from Smoke where area = $a, floor = Smoke.floor;)";
  const Planned handed(fire + R"(define Spread(area: string) from Fire(area = $a)
and last Fire(area = $a) as Before within 5 min from Fire where area = $a;)");
  EXPECT_EQ(handed.family(0), "area") << handed.because(0);
  EXPECT_EQ(handed.family(1), "area") << handed.because(1);
  const Planned lost(fire + R"(define Spread(floor: int) from Fire(floor = $f)
and last Fire(floor = $f) as Before within 5 min from Fire where floor = $f;)");
  EXPECT_EQ(lost.family(0), "whole");
  EXPECT_EQ(lost.family(1), "whole");
  EXPECT_THAT(lost.because(1), HasSubstr("no key in common"));
  EXPECT_THAT(lost.because(0), HasSubstr("shares composites with"));
}

TEST(ClusterPlan, AComputedAttributeHandsNothingOn) {
  const Planned rules(R"(define Fire(area: string) from Smoke() where area = lower(Smoke.area);
define Spread(area: string) from Fire(area = $a)
and last Fire(area = $a) as Before within 5 min from Fire where area = $a;)");
  EXPECT_EQ(rules.family(0), "whole");
  EXPECT_EQ(rules.family(1), "whole");
}

TEST(ClusterPlan, AWholeRuleTakesThoseItReadsAlong) {
  const Planned rules(R"(define Fire(area: string) from Smoke() where area = Smoke.area;
define Many(count: int) from Fire() and $n = Count(Fire() within 5 min from Fire) and $n > 3
where count = $n;
define Cold(area: string) from Temp(value < 0) where area = Temp.area;)");
  EXPECT_EQ(rules.family(0), "whole");
  EXPECT_EQ(rules.family(1), "whole");
  EXPECT_NE(rules.family(2), "whole");
  EXPECT_THAT(rules.because(0), HasSubstr("shares composites with"));
  EXPECT_EQ(rules.plan.families.back().name, "whole");
  EXPECT_THAT(rules.plan.families.back().takes, ElementsAre("Smoke"));
}

TEST(ClusterPlan, AnEventGoesToEachFamilyThatReadsIt) {
  const Planned rules(R"(define A(area: string) from Temp(area = $a)
and last Temp(area = $a) as Before within 5 min from Temp where area = $a;
define F(floor: int) from Temp(floor = $f)
and last Temp(floor = $f) as Before within 5 min from Temp where floor = $f;
define W(n: int) from Temp() and each Smoke() within 1 min from Temp where n = 1;)");
  EXPECT_THAT(rules.plan.routes.at("Temp"), ElementsAre("area", "floor", "whole"));
  EXPECT_THAT(rules.plan.routes.at("Smoke"), ElementsAre("whole"));
}

TEST(ClusterPlan, CyclesAreOneComponent) {
  const Planned rules(R"(define Ping(area: string) from Temp() where area = Temp.area;
define Ping(area: string) from Pong(area = $a) and last Temp(area = $a) within 1 s from Pong
where area = $a;
define Pong(area: string) from Ping(area = $a) and last Smoke(area = $a) within 1 s from Ping
where area = $a;)");
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(rules.family(i), "area") << rules.because(i);
  EXPECT_THAT(rules.plan.families[0].rules.size(), 3u);
}

TEST(ClusterPlan, TypesThatAreInferredAreDivided) {
  const Planned rules(R"(define Slow(host: string) from Answer(host = $h, ms > 100)
and last Request(host = $h) within 1 min from Answer where host = $h;)");
  EXPECT_EQ(rules.family(), "host") << rules.because();
}

TEST(ClusterPlan, NoRulesMakeAnEmptyPlan) {
  const Planned rules("");
  EXPECT_THAT(rules.plan.families, IsEmpty());
  EXPECT_THAT(rules.plan.routes, IsEmpty());
}

}  // namespace
}  // namespace gorgo::cluster
