#include <gmock/gmock.h>

#include "command_line.hpp"

/// `gorgo run` and `gorgo test`, as a user meets them.
namespace gorgo::tools {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr const char* kRules =
    "event Temp(area: string, value: float);\n"
    "define Hot(area: string, value: float) from Temp(value > 45)\n"
    "where area = Temp.area and value = Temp.value;\n";

TEST_F(CommandLine, RunPrintsCompositesAndNothingElse) {
  const auto rules = write("r.tesla", kRules);
  const auto events =
      write("e", R"({"type":"Temp","ts":1.5,"attrs":{"area":"A","value":46}})"
                 "\n"
                 R"({"type":"Temp","ts":2,"attrs":{"area":"B","value":44.0}})"
                 "\n"
                 R"({"type":"Temp","ts":3,"attrs":{"area":"C","value":"Infinity"}})");
  const auto outcome = run("run " + rules + " --events " + events);
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(outcome.out, R"({"type":"Hot","ts":1.5,"attrs":{"area":"A","value":46.0}})"
                         "\n"
                         R"({"type":"Hot","ts":3,"attrs":{"area":"C","value":"Infinity"}})"
                         "\n");
  EXPECT_THAT(outcome.err, IsEmpty());
}

TEST_F(CommandLine, RunReadsStandardInputAndCountsOnStandardError) {
  const auto rules = write("r.tesla", kRules);
  const auto events = write("e", "type,ts,area,value\nTemp,1,A,46.5\nTemp,2,\"B\",1\n");
  const auto outcome = run("run " + rules + " --events - --format csv --stats <" + events);
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(outcome.out, "type,ts,area,value\nHot,1,A,46.5\n");
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("2 events in "), HasSubstr("0 lines skipped"),
                                 HasSubstr("r.Hot: 1 Hot of "), HasSubstr(" by column")));
}

constexpr const char* kLimits =
    "table Limit(area: string key, most: int);\n"
    "event Ask(area: string);\n"
    "define Most(most: int) from Ask(area = $a) where most = coalesce(Limit(area = $a).most, "
    "-1);\n";

TEST_F(CommandLine, RunHasRowsOfTablesAtTheirTimesAmongTheEvents) {
  write("r.tesla", kLimits);
  write("l.csv", "area,most,ts\nA,3,100000\nA,1,500\nB,4,300000\nA,2,50000\n");
  write("m.csv", "area,most\nB,7\n");
  write("e", R"({"type":"Ask","ts":1000,"attrs":{"area":"A"}}
{"type":"Ask","ts":50000,"attrs":{"area":"A"}}
{"tick":60000}
{"type":"Ask","ts":90000,"attrs":{"area":"A"}}
{"type":"Ask","ts":200000,"attrs":{"area":"A"}}
{"type":"Ask","ts":200000,"attrs":{"area":"B"}}
)");
  const auto outcome = run("run --table Limit=l.csv --table Limit=m.csv r.tesla --events e");
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_THAT(outcome.err, IsEmpty());
  EXPECT_EQ(outcome.out,
            "{\"type\":\"Most\",\"ts\":1000,\"attrs\":{\"most\":1}}\n"
            "{\"type\":\"Most\",\"ts\":50000,\"attrs\":{\"most\":1}}\n"
            "{\"type\":\"Most\",\"ts\":90000,\"attrs\":{\"most\":2}}\n"
            "{\"type\":\"Most\",\"ts\":200000,\"attrs\":{\"most\":3}}\n"
            "{\"type\":\"Most\",\"ts\":200000,\"attrs\":{\"most\":7}}\n");
}

TEST_F(CommandLine, RunEndsAtARowThatDoesNotFit) {
  write("r.tesla", kLimits);
  write("e", R"({"type":"Ask","ts":1000,"attrs":{"area":"A"}})");
  write("l.csv", "area,most\nA,1\nB,\n");
  const auto outcome = run("run r.tesla --events e --table Limit=l.csv");
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.err, HasSubstr("l.csv: line 3: event of type `Limit` refused"));
}

TEST_F(CommandLine, RunHasColumnsForTheTypesThatItPrints) {
  write("r.tesla",
        "event A(n: int); internal event I(i: int); define I(i: int) from A() where i = A.n;\n"
        "define X(n: int) from A() where n = A.n;\n"
        "define Y(m: int, ts: int) from A() where m = A.n, ts = 1;");
  write("e", R"({"type":"A","ts":1,"attrs":{"n":7}})");
  EXPECT_EQ(run("run r.tesla --events e --output-format csv --only X").out, "type,ts,n\nX,1,7\n");
  EXPECT_EQ(run("run r.tesla --events e --output-format csv --only I").out, "type,ts,i\nI,1,7\n");
  const auto both = run("run r.tesla --events e --output-format csv");
  EXPECT_EQ(both.exit_code, 1);
  EXPECT_THAT(both.err, AllOf(HasSubstr("CSV has a column 'ts' for all events, and 'Y'"),
                              HasSubstr("--output-format ndjson")));
}

TEST_F(CommandLine, RunSaysThatCompositesWereDropped) {
  write("r.tesla", "define A(n: int) from A(n = $n) where n = $n + 1;");
  write("e", R"({"type":"A","ts":1,"attrs":{"n":0}})");
  const auto outcome = run("run r.tesla --events e");
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_THAT(outcome.err,
              AllOf(HasSubstr("1 composite not evaluated, because of a depth of 16 composites"),
                    HasSubstr("the last by rule r.A, of an event of type A"),
                    testing::Not(HasSubstr("more than"))));
}

TEST_F(CommandLine, RunSaysThatTerminatorsWereGivenUp) {
  write("r.tesla",
        "@limit(max_sequences = 2)\n"
        "define R(n: int) from A() and each T() within 1 s from A where n = T.k;\n"
        "define Few() from A();");
  std::string events;
  for (const char* ts : {"1", "2", "3"}) {
    events += std::string(R"({"type":"T","ts":)") + ts +
              R"(,"attrs":{"k":2}})"
              "\n";
  }
  write("e", events + R"({"type":"A","ts":50})"
                      "\n");
  const auto outcome = run("run r.tesla --events e --only R");
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_THAT(outcome.out, IsEmpty());
  EXPECT_THAT(outcome.err,
              AllOf(HasSubstr("rule r.R: gave up 1 time, because a terminator had "
                              "more than 2 partial sequences"),
                    HasSubstr("@limit(max_sequences = N)"), testing::Not(HasSubstr("r.Few"))));
}

TEST_F(CommandLine, RunSaysThatCompositesHadNoRoomToWait) {
  write("r.tesla",
        "@limit(max_sequences = 1)\n"
        "define R() from A() and not B() within 1 s after A;");
  write("e", R"({"type":"A","ts":1}
{"type":"A","ts":2}
{"type":"A","ts":3}
{"tick":5000})");
  const auto outcome = run("run r.tesla --events e");
  EXPECT_EQ(outcome.out, "{\"type\":\"R\",\"ts\":1001,\"attrs\":{}}\n");
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("rule r.R: gave up 2 times, "),
                                 HasSubstr("1 composite waited for deadlines already")));
}

TEST_F(CommandLine, RunSaysThatInstantsOfATimerWerePassedOver) {
  write(
      "r.tesla",
      "define Report(n: int) from Timer(every = 1 s) where n = Count(A() within 1 s from Timer);");
  write("e", "{\"type\":\"A\",\"ts\":500}\n{\"type\":\"A\",\"ts\":1005500}\n");
  const auto outcome = run("run r.tesla --events e");
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_THAT(outcome.err, HasSubstr("rule r.Report: 5 instants of its timer passed without"));
}

TEST_F(CommandLine, RunPrintsInternalCompositesOnlyWhenTheyAreNamed) {
  write("r.tesla", "internal event B(); define B() from A(); define C() from B();");
  write("e", R"({"type":"A","ts":1})");
  EXPECT_EQ(run("run r.tesla --events e").out, "{\"type\":\"C\",\"ts\":1,\"attrs\":{}}\n");
  EXPECT_EQ(run("run r.tesla --events e --only B").out, "{\"type\":\"B\",\"ts\":1,\"attrs\":{}}\n");
}

TEST_F(CommandLine, RunFlushesOnlyWhenAsked) {
  write("r.tesla", "define Missing() from A() and not B() within 30 ms after A;");
  write("e", R"({"type":"A","ts":1})");
  EXPECT_THAT(run("run r.tesla --events e").out, IsEmpty());
  EXPECT_EQ(run("run r.tesla --events e --reach-deadlines").out,
            "{\"type\":\"Missing\",\"ts\":31,\"attrs\":{}}\n");
}

TEST_F(CommandLine, RunWarnsOfRulesThatAreHardlyMeant) {
  write("r.tesla", "define Never() from A(n > 2 and n < 1);");
  write("e", "");
  const auto outcome = run("run r.tesla --events e");
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_THAT(outcome.err, HasSubstr("r.tesla:1:1: warning: rule `r.Never` can never fire"));
}

TEST_F(CommandLine, RunTakesTicks) {
  write("r.tesla", "define Missing() from A() and not B() within 30 ms after A;");
  write("e", R"({"type":"A","ts":1}
{"tick":31}
{"type":"A","ts":40})");
  const auto outcome = run("run r.tesla --events e");
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(outcome.out, "{\"type\":\"Missing\",\"ts\":31,\"attrs\":{}}\n");
}

TEST_F(CommandLine, RunPutsEventsInOrderAsFarAsLatenessGoes) {
  write("r.tesla", "define Both() from B() and each A() within 30 ms from B;");
  write("e", R"({"type":"B","ts":20}
{"type":"A","ts":10}
{"type":"A","ts":4}
{"type":"B","ts":14})");
  const auto held = run("run r.tesla --events e --lateness 10ms");
  EXPECT_EQ(held.exit_code, 0);
  EXPECT_EQ(held.out, R"({"type":"Both","ts":14,"attrs":{}}
{"type":"Both","ts":14,"attrs":{}}
{"type":"Both","ts":20,"attrs":{}}
{"type":"Both","ts":20,"attrs":{}}
)");
  EXPECT_THAT(run("run r.tesla --events e --max-late 12ms").err,
              AllOf(HasSubstr("line 3: "), HasSubstr("behind the clock")));
  EXPECT_NE(run("run r.tesla --events e --max-late=-1s").exit_code, 0);
}

TEST_F(CommandLine, RunCountsLateEventsByType) {
  write("r.tesla", "define Both() from B() and each A() within 30 ms from B;");
  write("e", R"({"type":"B","ts":20}
{"type":"A","ts":10}
{"type":"A","ts":4}
{"type":"X","ts":19}
{"type":"B","ts":20})");
  EXPECT_THAT(run("run r.tesla --events e --max-late 12ms --stats").err,
              AllOf(HasSubstr("A: 1 events late, 1 refused as too late\n"),
                    HasSubstr("other types: 1 events late, 0 refused as too late\n"),
                    testing::Not(HasSubstr("B: 0"))));
}

TEST_F(CommandLine, RunSkipsBadLinesOrStopsAtTheFirst) {
  const auto rules = write("r.tesla", kRules);
  const auto events = write("e", R"({"type":"Temp","ts":1,"attrs":{"area":"A","value":46}})"
                                 "\n{\n"
                                 R"({"type":"Temp","ts":1,"attrs":{"area":"A"}})"
                                 "\n"
                                 R"({"type":"Temp","ts":2,"attrs":{"area":"B","value":47}})"
                                 "\n");
  const auto lenient = run("run " + rules + " --events " + events);
  EXPECT_EQ(lenient.exit_code, 0);
  EXPECT_THAT(lenient.out, AllOf(HasSubstr(R"("area":"A")"), HasSubstr(R"("area":"B")")));
  EXPECT_THAT(lenient.err, AllOf(HasSubstr("line 2: not JSON"), HasSubstr("line 3: "),
                                 HasSubstr("value"), HasSubstr("2 lines skipped")));
  const auto strict = run("run --strict " + rules + " --events " + events);
  EXPECT_EQ(strict.exit_code, 1);
  EXPECT_THAT(strict.out, AllOf(HasSubstr(R"("area":"A")"), testing::Not(HasSubstr("B"))));
  EXPECT_THAT(strict.err, AllOf(HasSubstr("line 2: "), testing::Not(HasSubstr("line 3: "))));
}

TEST_F(CommandLine, RunRefusesWhatItCannotUse) {
  const auto rules = write("r.tesla", kRules);
  const auto bad = write("bad.tesla", "define Hot() from Temp(;");
  const auto events = write("e", "");
  EXPECT_EQ(run("run " + rules + " --events " + events).exit_code, 0);
  const auto damaged = run("run " + rules + " " + bad + " --events " + events);
  EXPECT_EQ(damaged.exit_code, 1);
  EXPECT_THAT(damaged.err, HasSubstr("bad.tesla:1:24: error: "));
  const auto absent = run("run " + rules + " --events " + events + "x");
  EXPECT_EQ(absent.exit_code, 1);
  EXPECT_THAT(absent.err, HasSubstr("cannot open"));
  EXPECT_EQ(run("run " + rules + "x --events " + events).exit_code, 1);
  EXPECT_EQ(run("run " + rules + " --events " + events + " --engine abacus").exit_code, 2);
  EXPECT_EQ(run("run " + rules + " --events " + events + " --type Temp").exit_code, 2);
  EXPECT_EQ(run("run " + rules).exit_code, 2);
}

TEST_F(CommandLine, RunSaysWhenItCannotWrite) {
  const auto rules = write("r.tesla", kRules);
  const auto events = write("e", R"({"type":"Temp","ts":1,"attrs":{"area":"A","value":46}})");
  const auto full = run("run " + rules + " --events " + events, "/dev/full");
  EXPECT_EQ(full.exit_code, 1);
  EXPECT_THAT(full.err, HasSubstr("cannot write to standard output: No space left"));
}

constexpr const char* kTest =
    "rules:\n"
    "  define Hot() from Temp(value > 45.0);\n"
    "case: hot\n"
    "events:\n"
    "  @1 Temp(value=46.0)\n"
    "expect:\n"
    "  @1 Hot()\n";

TEST_F(CommandLine, TestTellsWhatPassed) {
  write("a.test", kTest);
  write("ignored.txt", "no test");
  const auto outcome = run("test .");
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(outcome.out, "1 passed, 0 failed\n");
}

TEST_F(CommandLine, TestShowsWhatDiffers) {
  const auto path = write("a.test", std::string(kTest) + "  @2 Hot()\n");
  const auto outcome = run("test " + path);
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_EQ(outcome.out, path +
                             ":6: case 'hot' under auto, all events in one batch: the "
                             "composites differ (- expected, + actual):\n"
                             "    @1 Hot()\n"
                             "  - @2 Hot()\n"
                             "    rule a.Hot: 1 composite of 1 terminator Temp(value > 45.0)\n"
                             "    Temp@1 {value=46.0}: 1 composite\n"
                             "      Temp(value > 45.0): passed\n"
                             "      complete: 1\n"
                             "0 passed, 1 failed\n");
}

TEST_F(CommandLine, TestComparesDiagnosticsAndRefusals) {
  const auto path = write("a.test",
                          "rules:\n  define Hot() from Temp(value > 45.0);\n"
                          "case: refused for another reason\n"
                          "events:\n  @1 Temp(value=true) refused \"elsewhere\"\n"
                          "expect:\n"
                          "case: not refused\n"
                          "events:\n  @1 Temp(value=1) refused \"value\"\n"
                          "expect:\n"
                          "case: refused unexpectedly\n"
                          "events:\n  @1 Temp(value=true)\n"
                          "expect:\n"
                          "case: no diagnostics\n"
                          "diagnostics:\n  1:1: error: x\n"
                          "case: unexpected diagnostics\n"
                          "rules:\n  define Hot() from;\n"
                          "expect:\n");
  const auto outcome = run("test " + path + " --engine reference");
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.out, HasSubstr(path + ":5: case 'refused for another reason'"));
  EXPECT_THAT(outcome.out, HasSubstr(path + ":9: case 'not refused' under reference, all events in "
                                            "one batch: this was not refused"));
  EXPECT_THAT(outcome.out, HasSubstr(path + ":13: case 'refused unexpectedly'"));
  EXPECT_THAT(outcome.out, HasSubstr("  - 1:1: error: x\n"));
  EXPECT_THAT(outcome.out, HasSubstr("  + 1:"));
  EXPECT_THAT(outcome.out, HasSubstr("0 passed, 5 failed\n"));
}

TEST_F(CommandLine, TestCountsWarningsWhereDiagnosticsAreExpected) {
  const std::string never = "rules:\n  define Never() from A(n > 2 and n < 1);\n";
  const auto path = write("a.test", never +
                                        "case: quiet\nexpect:\n"
                                        "case: named\ndiagnostics:\n  1:3: warning: never fire\n"
                                        "case: none\ndiagnostics:\n");
  const auto outcome = run("test " + path + " --engine reference");
  EXPECT_THAT(outcome.out, HasSubstr(path + ":8: case 'none'"));
  EXPECT_THAT(outcome.out, HasSubstr("  + 1:3: warning: rule `a.Never` can never fire"));
  EXPECT_THAT(outcome.out, HasSubstr("2 passed, 1 failed\n"));
}

TEST_F(CommandLine, RunHasRowsThatHaveATimeAlsoWithoutEvents) {
  write("r.tesla", kLimits);
  write("l.csv", "area,most,ts\nA,1,500\nB,,600\n");
  write("e", "");
  const auto timed = run("run r.tesla --events e --table Limit=l.csv");
  EXPECT_EQ(timed.exit_code, 1);
  EXPECT_THAT(timed.err, HasSubstr("l.csv: line 3: event of type `Limit` refused"));
  write("l.csv", "area,most\nA,1\nB,\n");
  EXPECT_EQ(run("run r.tesla --events e --table Limit=l.csv").exit_code, 0);
  write("e", "{\"tick\":1000}\n");
  EXPECT_EQ(run("run r.tesla --events e --table Limit=l.csv").exit_code, 1);
}

TEST_F(CommandLine, RunRefusesOptionsOfCsvForEventLines) {
  write("r.tesla", kRules);
  write("e", "");
  for (const std::string option :
       {"--type Temp", "--type-column kind", "--time-column at", "--time-format s", "--tz UTC",
        "--separator ';'", "--rename a=b"}) {
    const auto outcome = run("run r.tesla --events e " + option);
    EXPECT_EQ(outcome.exit_code, 2) << option;
    EXPECT_THAT(outcome.err, HasSubstr("say nothing about event lines")) << option;
  }
}

TEST_F(CommandLine, RunReadsNoRowUnderAnotherHeader) {
  write("r.tesla", kRules);
  write("e", "area,value\"x\nA,50\nB,51\n");
  const auto refused = run("run r.tesla --events e --input-format csv --type Temp");
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_THAT(refused.err, HasSubstr("e: line 1: cell 2: a quote inside an unquoted cell"));
  EXPECT_THAT(refused.out, IsEmpty());
  write("e", "\xEF\xBB\xBF\"area\",\"ts\",\"value\"\r\n\"A\",1,50\r\n");
  const auto marked = run("run r.tesla --events e --input-format csv --type Temp");
  EXPECT_EQ(marked.exit_code, 0) << marked.err;
  EXPECT_THAT(marked.out, HasSubstr("Hot,1,A,50.0"));
  write("limits.tesla", kLimits);
  write("l.csv", "\xEF\xBB\xBF\"area\",\"most\"\nA,3\n");
  write("asks", R"({"type":"Ask","ts":1000,"attrs":{"area":"A"}})");
  const auto table = run("run limits.tesla --events asks --table Limit=l.csv");
  EXPECT_THAT(table.out, HasSubstr(R"("most":3)")) << table.err;
}

TEST_F(CommandLine, TestFailsWithoutTests) {
  const auto folder = run("test .");
  EXPECT_EQ(folder.exit_code, 1);
  EXPECT_THAT(folder.err, HasSubstr("there is no *.test file under"));
  EXPECT_EQ(run("test " + write("broken.test", "hello\n")).exit_code, 1);
  const auto absent = run("test absent.test");
  EXPECT_EQ(absent.exit_code, 1);
  EXPECT_THAT(absent.err, HasSubstr("gorgo: cannot read absent.test"));
}

}  // namespace
}  // namespace gorgo::tools
