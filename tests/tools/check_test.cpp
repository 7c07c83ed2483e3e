#include "command_line.hpp"

/// `gorgo check` and the frame of the command line, as a user meets them.
namespace gorgo::tools {
namespace {

TEST_F(CommandLine, CheckAcceptsGoodFiles) {
  write("a.tesla", "event B(x: int); define A(x: int) from B() where x = B.x;");
  const auto outcome = run("check a.tesla");
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(outcome.out, "");
  EXPECT_EQ(outcome.err, "1 file, 1 rule: 0 errors, 0 warnings\n");
}

TEST_F(CommandLine, CheckReportsAndFails) {
  write("a.tesla", "define A() from B;\n");
  const auto outcome = run("check a.tesla");
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_EQ(outcome.out, "");
  EXPECT_EQ(outcome.err,
            "a.tesla:1:18: error: unexpected `;`, expected `(`\n"
            "  define A() from B;\n"
            "                   ^\n"
            "  hint: a type is followed by brackets, even without conditions: `B()`\n"
            "1 file, 0 rules: 1 error, 0 warnings\n");
}

TEST_F(CommandLine, CheckKnowsTheEngines) {
  write("a.tesla", "@engine(colum) define A() from B();\n@engine(column) define C() from B();\n");
  const auto outcome = run("check a.tesla");
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_EQ(outcome.err,
            "a.tesla:1:9: error: there is no engine `colum`\n"
            "  @engine(colum) define A() from B();\n"
            "          ^~~~~\n"
            "  hint: did you mean `column`?\n"
            "1 file, 0 rules: 1 error, 0 warnings\n");
}

TEST_F(CommandLine, CheckCarriesTypesFromFileToFile) {
  write("types.tesla", "event B(x: int);");
  write("rules.tesla", "define A(x: int) from B() where x = B.y;");
  EXPECT_EQ(run("check types.tesla rules.tesla").exit_code, 1);
  write("rules.tesla", "define A(x: int) from B() where x = B.x;");
  EXPECT_EQ(run("check types.tesla rules.tesla").exit_code, 0);
}

TEST_F(CommandLine, CheckGoesOnBehindAnUnreadableFile) {
  write("b.tesla", "define");
  const auto outcome = run("check missing.tesla b.tesla --format json");
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_EQ(outcome.err, "gorgo: cannot read missing.tesla: No such file or directory\n");
  EXPECT_EQ(outcome.out,
            "{\"severity\":\"error\",\"file\":\"b.tesla\",\"line\":1,\"column\":7,\"length\":1,"
            "\"message\":\"unexpected end of the text, expected an event type\",\"hint\":\"\"}\n");
}

TEST_F(CommandLine, CheckReadsStandardInput) {
  const auto outcome = run("check - --format json < /dev/null");
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(outcome.out, "");
}

TEST_F(CommandLine, UsageErrorsExitTwo) {
  EXPECT_EQ(run("").exit_code, 2);
  EXPECT_EQ(run("check").exit_code, 2);
  EXPECT_EQ(run("check a.tesla --format xml").exit_code, 2);
  const auto outcome = run("chek a.tesla");
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_TRUE(outcome.err.starts_with("gorgo: unknown command 'chek', did you mean 'check'?\n"))
      << outcome.err;
}

TEST_F(CommandLine, HelpAndVersionExitZero) {
  const std::string version = run("--version").out;
  EXPECT_TRUE(version.starts_with("gorgo " GORGO_VERSION "\ncommit:  ")) << version;
  EXPECT_NE(version.find("\nengines: auto, column, "), version.npos) << version;
  EXPECT_EQ(run("version").out, version);
  const auto outcome = run("--help");
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_NE(outcome.out.find("check"), std::string::npos);
}

TEST_F(CommandLine, SettingsGiveConstantsOtherValues) {
  write("limit.tesla",
        "const limit = 45;\nconst name = \"a\";\n"
        "define Hot() from Temp(value > limit, area = name, value < 50);\n");
  EXPECT_EQ(run("check limit.tesla").err.find("never"), std::string::npos);
  const auto other = run("check limit.tesla --set limit=70 --set 'name=\"b\"'");
  EXPECT_EQ(other.exit_code, 0);
  EXPECT_NE(other.err.find("no value satisfies `value > 70` and `value < 50`"), std::string::npos)
      << other.err;
  const auto slip = run("check limit.tesla --set limt=70");
  EXPECT_EQ(slip.exit_code, 1);
  EXPECT_NE(slip.err.find("did you mean limit?"), std::string::npos) << slip.err;
  EXPECT_EQ(run("check limit.tesla --set limit").exit_code, 2);
  const auto twice = run("check limit.tesla --set limit=1 --set limit=6");
  EXPECT_EQ(twice.exit_code, 2);
  EXPECT_NE(twice.err.find("limit is given twice"), std::string::npos) << twice.err;
  for (const char* wrong : {"limit=+", "'limit=70; define B() from Temp()'", "limit=70//"}) {
    const auto refused = run("check limit.tesla --set " + std::string(wrong));
    EXPECT_EQ(refused.exit_code, 2) << wrong;
    EXPECT_THAT(refused.err, HasSubstr("is no literal")) << wrong;
  }
}

}  // namespace
}  // namespace gorgo::tools
