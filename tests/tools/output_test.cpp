#include <gmock/gmock.h>

#include "command_line.hpp"

/// What is printed and cannot be written is a failure, of every command.
namespace gorgo::tools {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

constexpr const char* kNoSpace =
    "gorgo: cannot write to standard output: No space left on device\n";

class Output : public CommandLine {
 protected:
  void SetUp() override {
    CommandLine::SetUp();
    write("r.tesla",
          "event Temp(value: float);\n"
          "rule hot: define Hot(value: float) from Temp(value > 45) where value = Temp.value;\n");
    write("bad.tesla", "define Hot(");
    write("untidy.tesla", "define   Hot()   from Temp();");
    write("e", R"({"type":"Temp","ts":1,"attrs":{"value":46.5}})");
    write("a.test",
          "rules:\n  define Hot() from Temp(value > 45.0);\n"
          "case: hot\nevents:\n  @1 Temp(value=46.0)\nexpect:\n  @1 Hot()\n");
  }

  void expect_failure(const std::string& command) const {
    const auto outcome = run(command, "/dev/full");
    EXPECT_EQ(outcome.exit_code, 1) << command;
    EXPECT_THAT(outcome.err, HasSubstr(kNoSpace)) << command;
  }
};

TEST_F(Output, ThatCannotBeWrittenIsAFailure) {
  for (const char* command :
       {"fmt r.tesla", "fmt --check untidy.tesla", "fmt --trex r.tesla",
        "check --format json bad.tesla", "explain r.tesla", "explain --format json r.tesla",
        "why r.tesla --events e", "why --json r.tesla --events e", "run r.tesla --events e",
        "test a.test", "test --coverage a.test", "engines", "sample host --count 1 --interval 1ms",
        "bench --list", "serve --listen 127.0.0.1:0", "--help", "run --help", "--version"}) {
    expect_failure(command);
  }
}

TEST_F(Output, ThatFillsManyBuffersAndCannotBeWrittenIsAFailure) {
  std::string rules;
  for (int i = 0; i < 500; ++i) rules += "define Hot() from Temp(value > 45);\n";
  write("many.tesla", rules);
  expect_failure("fmt many.tesla");
  expect_failure("explain many.tesla");
}

TEST_F(Output, OfAnEditorsSessionThatCannotBeWrittenEndsIt) {
  const std::string request = R"({"jsonrpc":"2.0","id":1,"method":"initialize","params":{}})";
  write("in", "Content-Length: " + std::to_string(request.size()) + "\r\n\r\n" + request);
  expect_failure("lsp <in");
}

TEST_F(Output, OfAServersClientsThatCannotBeWrittenIsAFailure) {
  auto server = start("serve --listen 127.0.0.1:0 --rules r.tesla --remember 1min --log-level off");
  const std::string line = server.line();
  ASSERT_THAT(line, StartsWith("listening on "));
  const std::string to = " --to " + line.substr(std::string("listening on ").size());
  ASSERT_EQ(run("pub e" + to).exit_code, 0);
  for (const char* command :
       {"rules list", "rules list --memory", "rules list --format json", "rules show hot",
        "explain --live", "why --rule hot", "trace 'Temp(value=46.5)'",
        "trace --json 'Temp(value=1.0)'", "rules deploy bad.tesla --format json"}) {
    expect_failure(command + to);
  }
}

TEST_F(Output, OfASubscriberThatCannotBeWrittenEndsIt) {
  auto server = start("serve --listen 127.0.0.1:0 --rules r.tesla --log-level off");
  const std::string address = server.line().substr(std::string("listening on ").size());
  auto subscriber = start("sub '*' --from " + address + " 2>&1 >/dev/full");
  EXPECT_THAT(subscriber.line(), HasSubstr("subscribed"));
  ASSERT_EQ(run("pub e --to " + address).exit_code, 0);
  EXPECT_EQ(subscriber.line() + "\n", kNoSpace);
  EXPECT_EQ(subscriber.line(), "");
}

TEST_F(Output, NobodyMissesIsNoFailure) {
  EXPECT_EQ(run("check r.tesla", "/dev/full").exit_code, 0);
  EXPECT_EQ(run("fmt -w r.tesla", "/dev/full").exit_code, 0);
}

TEST_F(Output, FilesThatNoLineCanBeUsedOfAreFailuresAndTheirMessagesAreFew) {
  std::string lines;
  for (int i = 0; i < 1000; ++i) lines += "nonsense\n";
  write("bad", lines);
  const auto ran = run("run r.tesla --events bad");
  EXPECT_EQ(ran.exit_code, 1);
  EXPECT_THAT(ran.err, AllOf(HasSubstr("bad: line 20: "), testing::Not(HasSubstr("line 21: ")),
                             HasSubstr("bad: 1000 lines skipped; the first 20 are shown"),
                             HasSubstr("bad: no line could be used")));
  const auto asked = run("why r.tesla --events bad");
  EXPECT_EQ(asked.exit_code, 1);
  EXPECT_THAT(asked.err, AllOf(testing::Not(HasSubstr("line 21: ")), HasSubstr("1000 lines")));
  auto server = start("serve --listen 127.0.0.1:0 --log-level off");
  const std::string address = server.line().substr(std::string("listening on ").size());
  const auto published = run("pub bad --to " + address);
  EXPECT_EQ(published.exit_code, 1);
  EXPECT_THAT(published.err,
              AllOf(HasSubstr("bad: line 20: "), testing::Not(HasSubstr("line 21: ")),
                    HasSubstr("bad: no line could be used"), HasSubstr("bad lines 1000")));
}

TEST_F(Output, FilesWithOneLineThatCanBeUsedAreNoFailures) {
  write("mixed", "nonsense\n{\"tick\":5}\n");
  write("empty", "");
  EXPECT_EQ(run("run r.tesla --events mixed").exit_code, 0);
  EXPECT_EQ(run("run r.tesla --events empty").exit_code, 0);
  EXPECT_THAT(run("run r.tesla --events mixed").err, HasSubstr("mixed: 1 line skipped\n"));
  auto server = start("serve --listen 127.0.0.1:0 --log-level off");
  const std::string to = " --to " + server.line().substr(std::string("listening on ").size());
  EXPECT_EQ(run("pub mixed" + to).exit_code, 0);
  EXPECT_EQ(run("pub empty" + to).exit_code, 0);
}

TEST_F(Output, FoldersAreNoFiles) {
  for (const char* command :
       {"run r.tesla --events .", "run r.tesla --format csv --type Temp --events .",
        "why r.tesla --events .", "lsp .", "bench plot .", "serve --config .",
        "serve --rules r.tesla/x"}) {
    const auto outcome = run(command);
    EXPECT_EQ(outcome.exit_code, 1) << command;
    EXPECT_THAT(outcome.err, HasSubstr("gorgo: cannot read ")) << command;
  }
}

TEST_F(Output, RulesAndEventsMayComeThroughPipes) {
  const std::string pipes = "mkfifo rules events && (cat r.tesla >rules & cat e >events &) && ";
  const std::string wanted = "{\"type\":\"Hot\",\"ts\":1,\"attrs\":{\"value\":46.5}}\n";
  write("pipes.sh", pipes + "'" GORGO_BINARY "' run rules --events events");
  EXPECT_EQ(run("--version >/dev/null && sh pipes.sh").out, wanted);
  EXPECT_EQ(run("fmt - <untidy.tesla").exit_code, 0);
  EXPECT_EQ(run("check - <untidy.tesla").exit_code, 0);
  EXPECT_EQ(run("run r.tesla --events - <e").out, wanted);
}

}  // namespace
}  // namespace gorgo::tools
