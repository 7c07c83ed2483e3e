#include <nlohmann/json.hpp>

#include "command_line.hpp"

/// `gorgo explain`, as a user meets it.
namespace gorgo::tools {
namespace {

TEST_F(CommandLine, ExplainShowsRulesOfAllFiles) {
  write("types.tesla", "event B(x: int);");
  write("a.tesla",
        "define A(x: int) from B(x = $x) and last B(x > $x) as C within 5 from B"
        " where x = C.x; define D() from A();");
  const auto outcome = run("explain types.tesla a.tesla");
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(outcome.err, "");
  EXPECT_EQ(outcome.out,
            "rule a.A: event A(x: int);\n"
            "  engine         auto (default)\n"
            "  stratum        0\n"
            "  state 0        B: terminator\n"
            "      binds      x\n"
            "  state 1        C: last, within 5 ms from B\n"
            "      column     B()\n"
            "      range      x > B.x\n"
            "  where          x = C.x\n"
            "  reach          B 5 ms\n"
            "\n"
            "rule a.D: event D();\n"
            "  engine         auto (default)\n"
            "  stratum        1\n"
            "  state 0        A: terminator\n"
            "  reach          A 0\n"
            "\n"
            "types\n"
            "  composite      event A(x: int);\n"
            "  declared       event B(x: int);\n"
            "  composite      event D();\n");
}

TEST_F(CommandLine, ExplainWritesJson) {
  write("a.tesla",
        "event B(x: int); @engine(reference) define A() from B(x > 5) and"
        " not B() within 1 s from B and not B() within 30 s after B;");
  const auto outcome = run("explain a.tesla --format json");
  EXPECT_EQ(outcome.exit_code, 0);
  const auto json = nlohmann::json::parse(outcome.out);
  const auto& rule = json.at("rules").at(0);
  EXPECT_EQ(rule.at("name"), "a.A");
  EXPECT_EQ(rule.at("engine"), "reference");
  EXPECT_EQ(rule.at("states").at(0).at("scan").at("constant"), nlohmann::json({"x > 5"}));
  EXPECT_EQ(rule.at("negations").at(0).at("completed_at"), "B");
  EXPECT_TRUE(rule.at("negations").at(1).at("completed_at").is_null());
  EXPECT_EQ(rule.at("deadline"), "30 s");
  EXPECT_EQ(json.at("types").at(1).at("origin"), "declared");
}

TEST_F(CommandLine, ExplainSaysWhereRulesRunInACluster) {
  write("a.tesla",
        "event B(k: int); rule Pair: define A(k: int) from B(k = $k) and last B(k = $k) as C"
        " within 5 s from B where k = $k; rule Loose: define D() from B() and last B() as C"
        " within 5 s from B;");
  const auto outcome = run("explain --cluster a.tesla");
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(outcome.out,
            "FAMILY  RULES  KEY\n"
            "k       1      B.k\n"
            "whole   1      none: one partition\n"
            "\n"
            "RULE   FAMILY  NOT DIVIDED BECAUSE\n"
            "Pair   k\n"
            "Loose  whole   state C need not equal B.k\n"
            "\n"
            "EVENTS  SENT     TO\n"
            "B       2 times  k, whole\n");
  const auto json = nlohmann::json::parse(run("explain --cluster a.tesla --format json").out);
  EXPECT_EQ(json.at("families").at(0).at("keys"), nlohmann::json({{"B", "k"}}));
  EXPECT_EQ(json.at("rules").at(1).at("family"), "whole");
  EXPECT_EQ(json.at("events").at(0).at("sent"), 2);
  EXPECT_EQ(run("explain --cluster --live a.tesla").exit_code, 2);
}

TEST_F(CommandLine, ExplainReportsWhatIsWrong) {
  write("bad.tesla", "define A() from B");
  EXPECT_EQ(run("explain bad.tesla").exit_code, 1);
  EXPECT_EQ(run("explain bad.tesla").out, "");
  EXPECT_EQ(run("explain missing.tesla").exit_code, 1);
  EXPECT_EQ(run("explain").exit_code, 2);
}

TEST_F(CommandLine, CheckAndExplainWarn) {
  write("a.tesla", "event B(x: int); define A() from B(x > 5, x < 3);");
  const std::string warning =
      "a.tesla:1:18: warning: rule `a.A` can never fire: no value satisfies `x > 5` and `x < 3`\n";
  const auto checked = run("check a.tesla");
  EXPECT_EQ(checked.exit_code, 0);
  EXPECT_TRUE(checked.err.starts_with(warning)) << checked.err;
  EXPECT_TRUE(checked.err.ends_with("1 file, 1 rule: 0 errors, 1 warning\n")) << checked.err;
  const auto explained = run("explain a.tesla");
  EXPECT_EQ(explained.exit_code, 0);
  EXPECT_TRUE(explained.err.starts_with(warning)) << explained.err;
}

}  // namespace
}  // namespace gorgo::tools
