#include <nlohmann/json.hpp>

#include "command_line.hpp"

/// `gorgo why`, as a user meets it.
namespace gorgo::tools {
namespace {

constexpr const char* kFire =
    "event Temp(area: string, value: float);\n"
    "event Smoke(area: string);\n"
    "event Rain(area: string);\n"
    "rule fire: define Fire(area: string)\n"
    "from Smoke(area = $a) and last Temp(area = $a and value > 45) within 5 min from Smoke\n"
    "     and not Rain(area = $a) between Temp and Smoke\n"
    "     and Count(Temp(area = $a) within 5 min from Smoke) < 3\n"
    "where area = Smoke.area;\n";

std::string line(const std::string& type, long ts, const std::string& attributes) {
  return R"({"type":")" + type + R"(","ts":)" + std::to_string(ts) + R"(,"attrs":{)" + attributes +
         "}}\n";
}

std::string temp(long ts, const std::string& area, const std::string& value) {
  return line("Temp", ts, R"("area":")" + area + R"(","value":)" + value);
}
std::string smoke(long ts) { return line("Smoke", ts, R"("area":"A1")"); }

TEST_F(CommandLine, WhyHasTheRowsOfTablesThatRunHas) {
  write("r.tesla",
        "table Limit(area: string key, most: float);\n"
        "event Smoke(area: string);\n"
        "rule over: define Over(most: float)\n"
        "from Smoke(area = $a) and table Limit(area = $a) as L where most = L.most;\n");
  write("limits.csv", "area,most\nA1,45\n");
  write("e.ndjson", smoke(4000));
  const auto without = run("why r.tesla --events e.ndjson");
  EXPECT_THAT(without.out, testing::HasSubstr("rule over: 0 composites of 1 terminator"));
  const auto with = run("why r.tesla --events e.ndjson --table Limit=limits.csv");
  EXPECT_EQ(with.exit_code, 0) << with.err;
  EXPECT_THAT(with.out, testing::HasSubstr("rule over: 1 composite of 1 terminator"));
  const auto wrong = run("why r.tesla --events e.ndjson --table Smoke=limits.csv");
  EXPECT_EQ(wrong.exit_code, 1);
  EXPECT_THAT(wrong.err, testing::HasSubstr("no rule file has a table Smoke"));
}

TEST_F(CommandLine, WhyTellsTimesByWhichItFindsEventsAgain) {
  write("r.tesla", "rule r: define Third() from Temp(value > 10);");
  write("e.ndjson", R"({"type":"Temp","ts":1795967299992.630466,"attrs":{"value":60}})");
  const auto all = run("why r.tesla --events e.ndjson --json").out;
  EXPECT_THAT(all, testing::HasSubstr("\"ts\": 1795967299992.630466,"));
  EXPECT_EQ(run("why r.tesla --events e.ndjson --json --at 1795967299992.630466").out, all);
}

TEST_F(CommandLine, WhySaysWhichEventACountedOneIs) {
  write("r.tesla",
        "event Temp(area: string, value: float);\n"
        "rule r: define Third(area: string) from every 3 Temp(value > 10) per area\n"
        "where area = Temp.area;\n");
  write("e.ndjson", temp(1000, "A1", "60") + temp(1200, "A1", "42.5"));
  EXPECT_EQ(run("why r.tesla --events e.ndjson").out,
            "rule r: 0 composites of 0 terminators every 3 Temp(has area, value > 10) per area\n"
            "\n"
            "Temp@1200 {area=\"A1\", value=42.5}: counted: number 2 of 3, of which the last is the "
            "terminator\n");
}

TEST_F(CommandLine, WhyShowsTheFunnelAndTheNearestMiss) {
  write("fire.tesla", kFire);
  write("e.ndjson",
        temp(1000, "A2", "60") + temp(1200, "A1", "42.5") + temp(1300, "A1", "12") + smoke(4000));
  const auto outcome = run("why fire.tesla --events e.ndjson");
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(outcome.err, "");
  EXPECT_EQ(outcome.out,
            "rule fire: 0 composites of 1 terminator Smoke(has area)\n"
            "\n"
            "Smoke@4000 {area=\"A1\"}: no composite\n"
            "  Smoke(has area): passed\n"
            "  last Temp(area = Smoke.area, value > 45) within 5 min from Smoke: 3 candidates, 0"
            " passed\n"
            "    1 failed area = Smoke.area, nearest Temp@1000 {area=\"A2\", value=60.0}: \"A2\" ="
            " \"A1\"\n"
            "    2 failed value > 45, nearest Temp@1200 {area=\"A1\", value=42.5}: 42.5\n"
            "  nearest miss: Temp@1200 {area=\"A1\", value=42.5}: value > 45 failed: 42.5\n");
}

TEST_F(CommandLine, WhyTakesValuesForConstants) {
  write("hot.tesla",
        "event Temp(area: string, value: float);\nconst limit = 45.0;\n"
        "rule hot: define Hot() from Temp(value > limit);\n");
  write("e.ndjson", temp(1000, "A1", "42.5"));
  EXPECT_EQ(run("why hot.tesla --events e.ndjson --set limit=40.0").out.substr(0, 22),
            "rule hot: 1 composite ");
  const auto unknown = run("why hot.tesla --events e.ndjson --set limt=40.0");
  EXPECT_EQ(unknown.exit_code, 1);
  EXPECT_NE(unknown.err.find("limt"), std::string::npos) << unknown.err;
  EXPECT_EQ(run("why --to 127.0.0.1:1 --rule hot --set limit=40.0").exit_code, 2);
}

TEST_F(CommandLine, WhySaysThatAnEventCameTooLate) {
  write("r.tesla",
        "event Failed(user: string);\n"
        "event Login(user: string);\n"
        "define Suspect() from Failed(user = $u)\n"
        "and last Login(user = $u) within 1 min inclusive from Failed;\n");
  const std::string user = R"("user":"ann")";
  write("e.ndjson", line("Failed", 1000, user) + line("Login", 3000, user));
  EXPECT_EQ(
      run("why r.tesla --events e.ndjson").out,
      "rule r.Suspect: 0 composites of 1 terminator Failed(has user)\n"
      "\n"
      "Failed@1000 {user=\"ann\"}: no composite\n"
      "  Failed(has user): passed\n"
      "  last Login(user = Failed.user) within 1 min inclusive from Failed: 0 candidates, 0"
      " passed\n"
      "    nearest to the window: Login@3000 {user=\"ann\"}, 2 s after Failed, but a rule looks"
      " back\n"
      "  nearest miss: Login@3000 {user=\"ann\"}: within 1 min inclusive from Failed failed: 2 s"
      " after Failed, but a rule looks back\n");
  write("e.ndjson", line("Failed", 1000, user) + line("Login", 62000, user));
  EXPECT_EQ(run("why r.tesla --events e.ndjson").out.find("looks back"), std::string::npos)
      << "nobody would look that far ahead";
}

TEST_F(CommandLine, WhyNamesTheEventThatANegationFound) {
  write("fire.tesla", kFire);
  write("e.ndjson", temp(1000, "A1", "50") + line("Rain", 2000, R"("area":"A1")") + smoke(4000));
  const auto outcome = run("why fire.tesla --events e.ndjson --json");
  const auto funnel = nlohmann::json::parse(outcome.out).at("funnels").at(0);
  EXPECT_EQ(funnel.at("composites"), 0);
  EXPECT_EQ(funnel.at("nearest").at("event"), "Temp@1000 {area=\"A1\", value=50.0}");
  EXPECT_EQ(funnel.at("nearest").at("test"), "not Rain(area = Smoke.area) between Temp and Smoke");
  EXPECT_EQ(funnel.at("nearest").at("found"), "Rain@2000 {area=\"A1\"}");
}

TEST_F(CommandLine, WhyShowsWhatAFilterDropped) {
  write("fire.tesla", kFire);
  write("e.ndjson",
        temp(1000, "A1", "50") + temp(1100, "A1", "51") + temp(1200, "A1", "52") + smoke(4000));
  const auto funnel =
      nlohmann::json::parse(run("why fire.tesla --events e.ndjson --json").out).at("funnels").at(0);
  EXPECT_EQ(funnel.at("complete"), 1);
  EXPECT_EQ(funnel.at("composites"), 0);
  EXPECT_EQ(funnel.at("nearest").at("found"), "3");
  EXPECT_EQ(funnel.at("nearest").at("event"),
            "Smoke@4000 {area=\"A1\"}, Temp@1200 {area=\"A1\", value=52.0}");
}

TEST_F(CommandLine, WhyTellsOfDeadlinesAndOfConsumedEvents) {
  write("a.tesla",
        "event A(n: int); event B(n: int);\n"
        "rule late: define Late() from A() and not B() within 30 ms after A;\n"
        "rule once: define Once() from B() and last A() within 1 min from B consuming A;\n");
  write("e.ndjson", line("A", 0, R"("n":1)") + line("B", 29, R"("n":2)") +
                        line("A", 100, R"("n":3)") + line("B", 200, R"("n":4)") +
                        line("B", 210, R"("n":5)") + line("B", 220, R"("n":6)") +
                        line("A", 250, R"("n":7)"));
  const auto late =
      nlohmann::json::parse(run("why a.tesla --events e.ndjson --rule late --json").out)
          .at("funnels");
  ASSERT_EQ(late.size(), 3u);
  EXPECT_EQ(late[0].at("nearest").at("found"), "B@29 {n=2}");
  EXPECT_EQ(late[1].at("composites"), 1);
  EXPECT_EQ(late[2].at("waiting"), 1);
  const auto flushed = nlohmann::json::parse(
      run("why a.tesla --events e.ndjson --rule late --reach-deadlines --json").out);
  EXPECT_EQ(flushed.at("funnels").at(2).at("composites"), 1);
  const auto once = run("why a.tesla --events e.ndjson --rule once --at 220").out;
  EXPECT_NE(once.find("nearest miss: A@100 {n=3}: not consumed failed: by B@200 {n=4}"),
            std::string::npos)
      << once;
}

TEST_F(CommandLine, WhySaysWhatLiesNextToAnEmptyWindow) {
  write("fire.tesla", kFire);
  write("e.ndjson", temp(1000, "A1", "50") + smoke(361000));
  EXPECT_NE(run("why fire.tesla --events e.ndjson")
                .out.find("nearest miss: Temp@1000 {area=\"A1\", value=50.0}: within 5 min from"
                          " Smoke failed: 6 min before Smoke"),
            std::string::npos);
}

TEST_F(CommandLine, WhyHoldsEventsBackAsARunDoes) {
  write("fire.tesla", kFire);
  write("e.ndjson", smoke(4000) + temp(1000, "A1", "50"));
  EXPECT_NE(run("why fire.tesla --events e.ndjson").out.find("rule fire: 0 composites"),
            std::string::npos);
  EXPECT_NE(
      run("why fire.tesla --events e.ndjson --lateness 5s").out.find("rule fire: 1 composite"),
      std::string::npos);
  EXPECT_NE(run("why fire.tesla --events e.ndjson --max-late 1s").err.find("line 2"),
            std::string::npos);
}

TEST_F(CommandLine, WhyAtATimeShowsEventsThatAreNoTerminators) {
  write("a.tesla", "event B(x: int); define A() from B(x > 5);");
  write("e.ndjson", line("B", 10, R"("x":3)") + line("B", 20, R"("x":9)"));
  EXPECT_EQ(run("why a.tesla --events e.ndjson --at 10").out,
            "rule a.A: 1 composite of 1 terminator B(x > 5)\n"
            "\n"
            "B@10 {x=3}: no composite\n"
            "  B(x > 5): failed\n"
            "    1 failed x > 5, nearest B@10 {x=3}: 3\n"
            "  nearest miss: B@10 {x=3}: x > 5 failed: 3\n");
  const auto out = run("why a.tesla --events e.ndjson").out;
  EXPECT_EQ(out.find("B@10"), std::string::npos) << out;
}

TEST_F(CommandLine, WhyReportsWhatIsWrong) {
  write("a.tesla", "event B(x: int); define A() from B(x > 5); define C() from B();");
  write("e.ndjson", "");
  const auto which = run("why a.tesla --events e.ndjson");
  EXPECT_EQ(which.exit_code, 1);
  EXPECT_EQ(which.err, "gorgo: there are several rules (--rule says which: a.A, a.C)\n");
  const auto close = run("why a.tesla --events e.ndjson --rule a.B");
  EXPECT_EQ(close.exit_code, 1);
  EXPECT_NE(close.err.find("there is no rule `a.B`"), std::string::npos) << close.err;
  EXPECT_EQ(run("why a.tesla --events e.ndjson --rule zebra").err,
            "gorgo: there is no rule `zebra` (--rule says which: a.A, a.C)\n");
  EXPECT_EQ(run("why a.tesla --events e.ndjson --rule C").err,
            "gorgo: there is no rule `C` (did you mean `a.C`?)\n");
  EXPECT_EQ(run("why a.tesla --events e.ndjson --rule a.A --at soon").exit_code, 1);
  const auto nothing = run("why a.tesla --events e.ndjson --rule a.A --last 0");
  EXPECT_NE(nothing.exit_code, 0);
  EXPECT_NE(nothing.err.find("--last"), std::string::npos) << nothing.err;
}

}  // namespace
}  // namespace gorgo::tools
