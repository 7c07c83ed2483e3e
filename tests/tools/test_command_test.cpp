#include <nlohmann/json.hpp>

#include "command_line.hpp"

/// `gorgo test`, as a user meets it.
namespace gorgo::tools {
namespace {

constexpr const char* kTestedRules =
    "event B(x: int);\n"
    "rule high: define A(x: int) from B(x > 5 and x => $x) and not B(x > $x) within 10 ms from B\n"
    "  and B.x < 100 where x = B.x;\n";

TEST_F(CommandLine, TestReadsRulesFromAFile) {
  write("a.tesla", kTestedRules);
  write("a.test",
        "rules: a.tesla\n"
        "case: one\n"
        "events:\n"
        "  @1 B(x=6)\n"
        "expect:\n"
        "  @1 A(x=6)\n"
        "case: other rules\n"
        "rules:\n"
        "  define C() from B([int]x = 1);\n"
        "events:\n"
        "  @1 B(x=1)\n"
        "expect:\n"
        "  @1 C()\n");
  const auto outcome = run("test a.test");
  EXPECT_EQ(outcome.out, "2 passed, 0 failed\n");
  EXPECT_EQ(outcome.exit_code, 0);
  write("b.test", "rules: b.tesla\ncase: one\nexpect:\n");
  const auto unreadable = run("test b.test");
  EXPECT_EQ(unreadable.out, "0 passed, 1 failed\n");
  EXPECT_EQ(unreadable.err, "gorgo: b.test:1: cannot read b.tesla: No such file or directory\n");
}

TEST_F(CommandLine, TestUpdateRewritesExpectationsAndNothingElse) {
  write("a.tesla", kTestedRules);
  const std::string head =
      "# High readings.\n"
      "rules: a.tesla\n"
      "\n"
      "case: several\n"
      "events:\n"
      "  @1 B(x=6)   # first\n"
      "  @20 B(x=7)\n"
      "  @21 B(x=8)\n"
      "expect:\n";
  write("a.test", head +
                      "  @1 A(x=6)   # right\n"
                      "  # about the second\n"
                      "  @20 A(x=70)\n"
                      "\n"
                      "case: nothing yet\n"
                      "events:\n"
                      "  @1 B(x=6)\n"
                      "expect:");
  const auto outcome = run("test a.test --update");
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_NE(outcome.out.find("  - @20 A(x=70)\n  + @20 A(x=7)\n  + @21 A(x=8)\n"),
            std::string::npos)
      << outcome.out;
  EXPECT_TRUE(outcome.out.ends_with("a.test: rewritten\n0 passed, 0 failed, 2 updated\n"))
      << outcome.out;
  EXPECT_EQ(read("a.test"), head +
                                "  @1 A(x=6)   # right\n"
                                "  # about the second\n"
                                "  @20 A(x=7)\n"
                                "  @21 A(x=8)\n"
                                "\n"
                                "case: nothing yet\n"
                                "events:\n"
                                "  @1 B(x=6)\n"
                                "expect:\n"
                                "  @1 A(x=6)\n");
  EXPECT_EQ(run("test a.test").out, "2 passed, 0 failed\n");
}

TEST_F(CommandLine, TestUpdateKeepsTheEndsOfLines) {
  write("a.tesla", kTestedRules);
  const std::string head =
      "\xEF\xBB\xBFrules: a.tesla\r\ncase: one\r\nevents:\r\n  @1 B(x=6)\r\nexpect:";
  write("a.test", head);
  EXPECT_EQ(run("test a.test --update").exit_code, 0);
  EXPECT_EQ(read("a.test"), head + "\r\n  @1 A(x=6)\r\n");
}

TEST_F(CommandLine, TestUpdateLeavesWhatIsWrongOtherwise) {
  write("a.tesla", kTestedRules);
  const std::string text =
      "rules: a.tesla\n"
      "case: refused\n"
      "events:\n"
      "  @1 B(x=1.5)\n"
      "expect:\n"
      "case: a count\n"
      "events:\n"
      "  @1 B(x=6)\n"
      "expect:\n"
      "  @1 A(x=6)\n"
      "counts:\n"
      "  accepted = 7\n";
  write("a.test", text);
  const auto outcome = run("test a.test --update");
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_TRUE(outcome.out.ends_with("0 passed, 2 failed\n")) << outcome.out;
  EXPECT_EQ(read("a.test"), text);
}

TEST_F(CommandLine, TestCoverageNamesWhatNoCaseExercises) {
  write("a.tesla", kTestedRules);
  write("a.test",
        "rules: a.tesla\n"
        "case: one\n"
        "events:\n"
        "  @1 B(x=6)\n"
        "  @2 B(x=200)\n"
        "expect:\n"
        "  @1 A(x=6)\n");
  const auto gaps = run("test a.test --coverage");
  EXPECT_EQ(gaps.exit_code, 0);
  EXPECT_EQ(gaps.out,
            "1 passed, 0 failed\n"
            "a.tesla: rule high never excluded anything: not B(x > B.x) within 10 ms from B\n"
            "coverage: 4 of 5\n");
  EXPECT_EQ(run("test a.test --require-coverage").exit_code, 1);
  write("b.test",
        "rules: a.tesla\n"
        "case: the negation\n"
        "events:\n"
        "  @1 B(x=9)\n"
        "  @2 B(x=7)\n"
        "expect:\n"
        "  @1 A(x=9)\n");
  const auto all = run("test a.test b.test --require-coverage");
  EXPECT_EQ(all.out, "2 passed, 0 failed\ncoverage: 5 of 5\n");
  EXPECT_EQ(all.exit_code, 0);
}

TEST_F(CommandLine, TestCoverageSeesRulesThatAreReplaced) {
  write("a.test",
        "rules:\n"
        "  event B(x: int);\n"
        "  define A() from B(x = 1);\n"
        "case: one\n"
        "events:\n"
        "  @1 B(x=1)\n"
        "  replace a:\n"
        "    define A() from B(x = 2);\n"
        "expect:\n"
        "  @1 A()\n");
  EXPECT_EQ(run("test a.test --coverage").out,
            "1 passed, 0 failed\n"
            "a.test: rule a.A never saw an event of its terminator's type\n"
            "coverage: 3 of 4\n");
}

TEST_F(CommandLine, TestWatchRunsAgainWhenAFileChanges) {
  write("a.tesla", kTestedRules);
  write("a.test", "rules: a.tesla\ncase: one\nevents:\n  @1 B(x=6)\nexpect:\n  @1 A(x=6)\n");
  Background watch = start("test . --watch");
  EXPECT_EQ(watch.line(), "1 passed, 0 failed");
  // Another size, so that a coarse clock does not hide the change.
  write("a.tesla", std::string(kTestedRules) + "// changed\ndefine D() from B(x = 6);\n");
  EXPECT_EQ(watch.line(), "");
  EXPECT_NE(watch.line().find("the composites differ"), std::string::npos);
  EXPECT_EQ(watch.line(), "    @1 A(x=6)");
  EXPECT_EQ(watch.line(), "  + @1 D()");
  EXPECT_EQ(watch.line(), "    rule a.D: 1 composite of 1 terminator B(x = 6)");
  EXPECT_EQ(watch.line(), "    B@1 {x=6}: 1 composite");
  EXPECT_EQ(watch.line(), "      B(x = 6): passed");
  EXPECT_EQ(watch.line(), "      complete: 1");
}

TEST_F(CommandLine, TestSaysWhyACompositeIsMissingOrTooMany) {
  write("a.tesla", kTestedRules);
  write("a.test",
        "rules: a.tesla\n"
        "case: missing\n"
        "events:\n"
        "  @1 B(x=9)\n"
        "  @2 B(x=8)\n"
        "expect:\n"
        "  @1 A(x=9)\n"
        "  @2 A(x=8)\n");
  const std::string missing = run("test a.test").out;
  EXPECT_NE(missing.find("  - @2 A(x=8)\n"), missing.npos) << missing;
  EXPECT_NE(missing.find("    B@2 {x=8}: no composite\n"), missing.npos) << missing;
  EXPECT_NE(missing.find("not B(x > B.x) within 10 ms from B"), missing.npos) << missing;

  write("b.test",
        "rules: a.tesla\n"
        "case: a slip in the expectation\n"
        "events:\n"
        "  @1 B(x=6)\n"
        "expect:\n"
        "  @1 A(xx=6)\n");
  const std::string slip = run("test b.test").out;
  EXPECT_NE(slip.find("    A has no attribute 'xx': did you mean 'x'?\n"), slip.npos) << slip;

  write("c.test",
        "rules:\n"
        "  event Temp(value: int);\n"
        "  define Hot() from Temp(value > 1);\n"
        "case: a slip in an event\n"
        "events:\n"
        "  @1 Temp(valeu=6)\n"
        "expect:\n");
  const std::string refused = run("test c.test").out;
  EXPECT_NE(refused.find("did you mean `value`?"), refused.npos) << refused;
}

TEST_F(CommandLine, TestExplainsTheTerminatorsOfACompositeThatHasTheTimeOfItsDeadline) {
  write("a.test",
        "rules:\n"
        "  event A(x: int);\n"
        "  event B(x: int);\n"
        "  define D(x: int) from A(x = $x) and not B(x = $x) within 5 ms after A where x = $x;\n"
        "case: two of a time\n"
        "events:\n"
        "  @3 A(x=1)\n"
        "  @3 A(x=2)\n"
        "  @4 B(x=1)\n"
        "  @7 A(x=3)\n"
        "  @20 tick\n"
        "expect:\n"
        "  @8 D(x=1)\n"
        "  @8 D(x=2)\n"
        "  @12 D(x=3)\n");
  const std::string missing = run("test a.test").out;
  EXPECT_NE(missing.find("  - @8 D(x=1)\n"), missing.npos) << missing;
  EXPECT_NE(missing.find("    A@3 {x=1}: no composite\n"), missing.npos) << missing;
  EXPECT_NE(missing.find("    A@3 {x=2}: 1 composite\n"), missing.npos) << missing;
  EXPECT_EQ(missing.find("    A@7"), missing.npos) << missing;
}

TEST_F(CommandLine, TestShowsAttributesInTheOrderOfTheirType) {
  write("a.test",
        "rules:\n"
        "  event B(x: int, y: int);\n"
        "  define A(x: int, y: int) from B() where x = B.x, y = B.y;\n"
        "case: one is wrong\n"
        "events:\n"
        "  @1 B(x=1, y=2)\n"
        "  @2 B(x=3, y=4)\n"
        "expect:\n"
        "  @1 A(y=2, x=1)  # stays as it is\n"
        "  @2 A(y=5, x=3)\n");
  const std::string wrong = run("test a.test").out;
  EXPECT_NE(wrong.find("    @1 A(x=1, y=2)\n  - @2 A(x=3, y=5)\n  + @2 A(x=3, y=4)\n"), wrong.npos)
      << wrong;
  EXPECT_EQ(run("test a.test --update").exit_code, 0);
  EXPECT_NE(read("a.test").find("expect:\n"
                                "  @1 A(y=2, x=1)  # stays as it is\n"
                                "  @2 A(x=3, y=4)\n"),
            std::string::npos)
      << read("a.test");
  EXPECT_EQ(run("test a.test").exit_code, 0);
}

TEST_F(CommandLine, TestRunsTheCasesThatAreAskedForAndReportsThem) {
  write("a.tesla", kTestedRules);
  write("a.test",
        "rules: a.tesla\n"
        "case: a high one\n"
        "events:\n"
        "  @1 B(x=6)\n"
        "expect:\n"
        "  @1 A(x=6)\n"
        "case: a low <one> & more\n"
        "events:\n"
        "  @1 B(x=1)\n"
        "expect:\n"
        "  @1 A(x=1)\n");
  EXPECT_EQ(run("test a.test --case high").out, "1 passed, 0 failed\n");
  const auto none = run("test a.test --case nowhere");
  EXPECT_EQ(none.exit_code, 1);
  EXPECT_NE(none.err.find("no case has nowhere in its name"), std::string::npos);

  const auto json = run("test a.test --format json");
  EXPECT_EQ(json.exit_code, 1);
  const auto report = nlohmann::json::parse(json.out);
  EXPECT_EQ(report["passed"], 1);
  EXPECT_EQ(report["failed"], 1);
  EXPECT_EQ(report["cases"][1]["line"], 7);
  EXPECT_NE(report["cases"][1]["message"].get<std::string>().find("- @1 A(x=1)"),
            std::string::npos);

  const auto junit = run("test a.test --format junit");
  EXPECT_EQ(junit.exit_code, 1);
  EXPECT_NE(junit.out.find("<testsuites tests=\"2\" failures=\"1\" errors=\"0\">"),
            std::string::npos);
  EXPECT_NE(junit.out.find("name=\"a low &lt;one&gt; &amp; more\""), std::string::npos);
}

TEST_F(CommandLine, TestReportsFilesThatCannotBeRead) {
  write("good.test",
        "rules:\n  define C() from B([int]x = 1);\n"
        "case: one\nevents:\n  @1 B(x=1)\nexpect:\n  @1 C()\n");
  write("slip.test", "case: one\nevnts:\n");
  write("torn.test", "rules: missing.tesla\ncase: one\nexpect:\n");
  const std::string reason = "torn.test:1: cannot read missing.tesla: No such file or directory";

  const auto json = run("test . --format json");
  EXPECT_EQ(json.exit_code, 1);
  const auto report = nlohmann::json::parse(json.out);
  EXPECT_EQ(report["passed"], 1);
  EXPECT_EQ(report["failed"], 2);
  ASSERT_EQ(report["errors"].size(), 2);
  EXPECT_EQ(report["errors"][0]["file"], "./slip.test");
  EXPECT_NE(report["errors"][1]["message"].get<std::string>().find(reason), std::string::npos);

  const auto junit = run("test . --format junit");
  EXPECT_EQ(junit.exit_code, 1);
  EXPECT_NE(junit.out.find("<testsuites tests=\"3\" failures=\"0\" errors=\"2\">"),
            std::string::npos);
  EXPECT_NE(
      junit.out.find("<testsuite name=\"./torn.test\" tests=\"1\" failures=\"0\" errors=\"1\""),
      std::string::npos)
      << junit.out;
  EXPECT_NE(junit.out.find("<error>./" + reason + "</error>"), std::string::npos) << junit.out;
}

TEST_F(CommandLine, TestReportsThatNoCaseHasTheName) {
  write("a.test", "case: one\nrules:\n  define C() from B([int]x = 1);\nexpect:\n");
  const auto json = run("test a.test --case nowhere --format json");
  EXPECT_EQ(json.exit_code, 1);
  EXPECT_EQ(nlohmann::json::parse(json.out)["errors"][0]["message"],
            "no case has nowhere in its name");
  const auto junit = run("test a.test --case nowhere --format junit");
  EXPECT_NE(junit.out.find("<error>no case has nowhere in its name</error>"), std::string::npos)
      << junit.out;
}

}  // namespace
}  // namespace gorgo::tools
