#include <gmock/gmock.h>

#include <filesystem>
#include <iterator>

#include "command_line.hpp"

/// `gorgo fmt`, as a user meets it.
namespace gorgo::tools {
namespace {

constexpr std::string_view kUgly = "event  B ( x:INT ) ; // of B";
constexpr std::string_view kPretty = "event B(x: int);  // of B\n";

TEST_F(CommandLine, FmtPrintsFormattedFiles) {
  write("a.tesla", kUgly);
  write("b.tesla", kPretty);
  const auto outcome = run("fmt a.tesla b.tesla");
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(outcome.out, std::string(kPretty) + std::string(kPretty));
  EXPECT_EQ(outcome.err, "");
  EXPECT_EQ(read("a.tesla"), kUgly);
}

TEST_F(CommandLine, FmtReadsStandardInput) {
  write("a.tesla", kUgly);
  EXPECT_EQ(run("fmt - < a.tesla").out, kPretty);
  EXPECT_EQ(run("fmt --write - < a.tesla").out, kPretty);
}

TEST_F(CommandLine, FmtWritesInPlace) {
  write("a.tesla", kUgly);
  const auto outcome = run("fmt -w a.tesla");
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(outcome.out, "");
  EXPECT_EQ(read("a.tesla"), kPretty);
}

TEST_F(CommandLine, FmtKeepsAFileThatItCannotWrite) {
  std::string ugly;
  for (int i = 0; i < 200; ++i) ugly += "event  B" + std::to_string(i) + " ( x:INT ) ;\n";
  write("a.tesla", ugly);
  const std::string limited = "cd '" + folder().string() +
                              "'; ulimit -f 1; trap '' XFSZ; '" GORGO_BINARY
                              "' fmt -w a.tesla 2>err.txt";
  EXPECT_NE(std::system(limited.c_str()), 0);
  EXPECT_THAT(read("err.txt"), testing::HasSubstr("cannot write a.tesla: File too large"));
  EXPECT_EQ(read("a.tesla"), ugly);
  std::filesystem::remove(folder() / "err.txt");
  const std::filesystem::directory_iterator files(folder());
  EXPECT_EQ(std::distance(begin(files), end(files)), 1) << "nothing else is left";
}

TEST_F(CommandLine, FmtChecks) {
  write("a.tesla", kUgly);
  write("b.tesla", kPretty);
  auto outcome = run("fmt --check a.tesla b.tesla");
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_EQ(outcome.out, "a.tesla\n");
  EXPECT_EQ(read("a.tesla"), kUgly);
  outcome = run("fmt --check b.tesla");
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(outcome.out, "");
  EXPECT_EQ(run("fmt --check --write b.tesla").exit_code, 2);
}

TEST_F(CommandLine, FmtLeavesFilesWithErrorsAlone) {
  write("a.tesla", "event B(x:INT)\nevent C();");
  write("b.tesla", kUgly);
  const auto outcome = run("fmt -w a.tesla missing.tesla b.tesla");
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_TRUE(outcome.err.starts_with("a.tesla:1:15: error: expected `;`")) << outcome.err;
  EXPECT_NE(outcome.err.find("gorgo: cannot read missing.tesla: "), std::string::npos);
  EXPECT_EQ(read("a.tesla"), "event B(x:INT)\nevent C();");
  EXPECT_EQ(read("b.tesla"), kPretty);
}

TEST_F(CommandLine, FmtPrintsRulesForTRex) {
  write("a.tesla",
        "event B(x: int);\n"
        "rule r: Assign 7 => B, 8 => A define A(x: int) from B(x > 1) where x = B.x;\n");
  auto outcome = run("fmt --trex a.tesla");
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(outcome.err, "");
  EXPECT_EQ(outcome.out,
            "Assign 7 => B, 8 => A\nDefine A(x: int)\nFrom   B(x > 1)\nWhere  x := B.x;\n");
  write("b.tesla", "event B(x: int);\ndefine A() from B(x = 1 or x = 2);\n");
  outcome = run("fmt --trex b.tesla");
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_EQ(outcome.out, "");
  EXPECT_TRUE(outcome.err.starts_with("b.tesla:2:25: warning: T-Rex has no `or`\n")) << outcome.err;
  EXPECT_EQ(run("fmt --trex -w a.tesla").exit_code, 2);
}

}  // namespace
}  // namespace gorgo::tools
