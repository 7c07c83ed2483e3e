#include <gmock/gmock.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "command_line.hpp"

/// What all commands have in common.
namespace gorgo::tools {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

const std::vector<std::string> kCommands = {
    "check",    "explain", "why",         "fmt",    "lsp",     "run",     "sample",    "test",
    "serve",    "trace",   "pub",         "replay", "sub",     "rules",   "types",     "ping",
    "doctor",   "context", "connections", "top",    "user",    "engines", "functions", "journal",
    "backtest", "bench",   "completion",  "man",    "version", "help"};
/// Those that ask a server, with what they need besides.
const std::vector<std::string> kAsking = {
    "explain --live", "trace 'T()'", "pub /dev/null", "replay /dev/null",
    "sub T",          "rules list",  "types",         "ping",
    "doctor",         "top",         "engines"};

class Commands : public CommandLine {
 protected:
  void SetUp() override {
    CommandLine::SetUp();
    // Other tests run at the same time.
    const std::string test = testing::UnitTest::GetInstance()->current_test_info()->name();
    const std::string home = testing::TempDir() + "/gorgo_home_" + test;
    std::filesystem::remove_all(home);
    setenv("XDG_CONFIG_HOME", home.c_str(), 1);
  }
};

TEST_F(Commands, ExplainThemselvesAlikeInTheirHelpTheirPageAndTheCompletions) {
  const std::string bash = run("completion bash").out, fish = run("completion fish").out,
                    zsh = run("completion zsh").out, program = run("man").out;
  for (const std::string& command : kCommands) {
    const Outcome help = run(command + " --help");
    EXPECT_EQ(help.exit_code, 0) << command;
    EXPECT_THAT(help.out, HasSubstr("Usage: gorgo " + command));
    EXPECT_EQ(run("help " + command).out, help.out);
    EXPECT_THAT(run("man " + command).out, HasSubstr(".TH gorgo-" + command + " 1"));
    EXPECT_THAT(program, HasSubstr(".SS gorgo " + command + "\n"));
    EXPECT_THAT(bash, HasSubstr("'" + command + "')"));
    EXPECT_THAT(fish, HasSubstr(" -a " + command + " "));
    EXPECT_THAT(zsh, HasSubstr("'" + command + "')"));
  }
}

TEST_F(Commands, ExplainTheirOwnCommands) {
  for (const std::string command :
       {"rules deploy", "journal backup", "sample host", "rules shadow list"}) {
    const Outcome help = run("help " + command);
    EXPECT_EQ(help.exit_code, 0) << help.err;
    EXPECT_THAT(help.out, HasSubstr("Usage: gorgo " + command));
    EXPECT_EQ(run(command + " --help").out, help.out);
  }
  EXPECT_EQ(run("help").out, run("--help").out);
  const Outcome slip = run("help rules depoy");
  EXPECT_EQ(slip.exit_code, 2);
  EXPECT_THAT(slip.err, HasSubstr("there is no command 'rules depoy'"));
  EXPECT_THAT(slip.err, HasSubstr("did you mean 'rules deploy'?"));
  EXPECT_THAT(run("help pub file").err, HasSubstr("gorgo help pub explains what there is"));
  EXPECT_THAT(run("help rules none").err, HasSubstr("gorgo help rules lists them"));
}

TEST_F(Commands, EndWithTwoWhenTheCommandLineIsWrong) {
  for (const std::string& command : kCommands) {
    const Outcome outcome = run(command + " --no-such-option");
    EXPECT_EQ(outcome.exit_code, 2) << command;
    EXPECT_THAT(outcome.err, HasSubstr("unknown option '--no-such-option'")) << command;
  }
}

TEST_F(Commands, EndWithOneWhenThereIsNoServer) {
  for (const std::string& command : kAsking) {
    const Outcome outcome = run(command + " --to 127.0.0.1:1");
    EXPECT_EQ(outcome.exit_code, 1) << command;
    EXPECT_THAT(outcome.err, HasSubstr("gorgo: cannot connect to 127.0.0.1:1")) << command;
  }
}

TEST_F(Commands, TakeTheServerOfTheContextUnlessTheyAreTold) {
  ASSERT_EQ(run("context add prod --server 127.0.0.1:2 --user me --password-file p").exit_code, 0);
  ASSERT_EQ(run("context add test --server 127.0.0.1:3").exit_code, 0);
  write("p", "secret\n");
  EXPECT_THAT(run("types").err, HasSubstr("127.0.0.1:2"));
  EXPECT_THAT(run("types --to 127.0.0.1:1").err, HasSubstr("127.0.0.1:1"));
  EXPECT_THAT(run("--context test types").err, HasSubstr("127.0.0.1:3"));
  ASSERT_EQ(run("context use test").exit_code, 0);
  EXPECT_THAT(run("types").err, HasSubstr("127.0.0.1:3"));
  const auto list = nlohmann::json::parse(run("context list --format json").out);
  ASSERT_EQ(list.size(), 2U);
  EXPECT_EQ(list[0]["name"], "prod");
  EXPECT_EQ(list[0]["options"]["password-file"], (folder() / "p").string());
  EXPECT_EQ(list[1]["current"], true);
  ASSERT_EQ(run("context remove test").exit_code, 0);
  EXPECT_EQ(run("--context test types").exit_code, 2);
  EXPECT_EQ(run("context use test").exit_code, 1);
}

/// What each command that asks a server needs besides; `F` is a file.
const std::vector<std::string> kTakingContexts = {
    "explain --live",
    "trace 'T()'",
    "pub F",
    "replay F",
    "sub T",
    "types",
    "ping",
    "doctor",
    "top --format json",
    "connections",
    "doors",
    "doors show d",
    "doors add d F",
    "doors remove d",
    "actions",
    "actions show a",
    "why --rule b",
    "rules list",
    "rules show r",
    "rules deploy F",
    "rules pin r column",
    "rules history",
    "rules diff d",
    "rules rollback d",
    "rules remove r",
    "rules shadow list",
    "rules shadow show d",
    "rules shadow promote d",
    "rules shadow drop d",
};

TEST_F(Commands, TakeTheServerOfTheContextAtAnyDepth) {
  write("F", "");
  ASSERT_EQ(run("context add here --server 127.0.0.1:2").exit_code, 0);
  ASSERT_EQ(run("context add other --server 127.0.0.1:3").exit_code, 0);
  for (const std::string& command : kTakingContexts) {
    EXPECT_THAT(run(command).err, HasSubstr("127.0.0.1:2")) << command;
    EXPECT_THAT(run("--context other " + command).err, HasSubstr("127.0.0.1:3")) << command;
    EXPECT_THAT(run(command + " --to 127.0.0.1:1").err, HasSubstr("127.0.0.1:1")) << command;
  }
}

TEST_F(Commands, TakeUserAndCertificatesOfTheContextAtAnyDepth) {
  write("F", "");
  ASSERT_EQ(run("context add user --server 127.0.0.1:2 --user me --password-file no-pw").exit_code,
            0);
  Background server = start("serve --listen 127.0.0.1:0");
  const std::string address = server.line().substr(std::string("listening on ").size());
  ASSERT_EQ(run("context add tls --server " + address + " --tls --ca no-ca").exit_code, 0);
  for (const std::string& command : kTakingContexts) {
    EXPECT_THAT(run("--context user " + command).err, HasSubstr("no-pw")) << command;
    EXPECT_THAT(run("--context tls " + command).err, HasSubstr("no-ca")) << command;
  }
}

/// As the file of contexts, with `text` in it.
void write_contexts_file(const std::string& text) {
  const std::filesystem::path folder = std::string(std::getenv("XDG_CONFIG_HOME")) + "/gorgo";
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "contexts.toml") << text;
}
std::string contexts_file() {
  std::ifstream file(std::string(std::getenv("XDG_CONFIG_HOME")) + "/gorgo/contexts.toml");
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

TEST_F(Commands, AskNoOtherServerWhereTheFileOfContextsIsWrong) {
  write("F", "");
  write("r.tesla", "define Hot() from Temp(value > 45);\n");
  write_contexts_file("x = [");
  for (const std::string& command : kTakingContexts) {
    const Outcome outcome = run(command);
    EXPECT_EQ(outcome.exit_code, 2) << command;
    EXPECT_THAT(outcome.err, HasSubstr("the current context cannot be used")) << command;
    EXPECT_THAT(outcome.err, HasSubstr("name a server with --to")) << command;
  }
  EXPECT_THAT(run("types --to 127.0.0.1:1").err, HasSubstr("cannot connect to 127.0.0.1:1"));
  const Outcome local = run("check r.tesla");
  EXPECT_EQ(local.exit_code, 0);
  EXPECT_THAT(local.err, Not(HasSubstr("context")));
}

TEST_F(Commands, AskNoOtherServerWhereTheCurrentContextIsUnknown) {
  const std::string prod = "[contexts.prod]\nto = \"127.0.0.1:2\"\n";
  for (const std::string& wrong :
       {"current = \"gone\"\n" + prod, "current = 3\n" + prod, "curent = \"prod\"\n" + prod,
        std::string("contexts = 1\n"),
        std::string("current = \"prod\"\n[contexts.prod]\nserver = \"127.0.0.1:2\"\n"),
        std::string("current = \"prod\"\n[contexts.prod]\nto = 7450\n"),
        std::string("current = \"prod\"\n[contexts.prod]\nuser = \"me\"\n")}) {
    write_contexts_file(wrong);
    const Outcome outcome = run("types");
    EXPECT_EQ(outcome.exit_code, 2) << wrong;
    EXPECT_THAT(outcome.err, HasSubstr("the current context cannot be used")) << wrong;
  }
}

TEST_F(Commands, TakeTheNameOfAContextBehindASignOfEquality) {
  ASSERT_EQ(run("context add here --server 127.0.0.1:2").exit_code, 0);
  ASSERT_EQ(run("context add other --server 127.0.0.1:3").exit_code, 0);
  EXPECT_THAT(run("--context=other types").err, HasSubstr("127.0.0.1:3"));
  EXPECT_EQ(run("--context=gone types").exit_code, 2);
}

TEST_F(Commands, KeepContextsThatAreAddedAtTheSameTime) {
  ASSERT_EQ(run("context add base --server 127.0.0.1:2").exit_code, 0);
  std::string together;
  for (int i = 0; i < 12; ++i) {
    together += "'" GORGO_BINARY "' context add c" + std::to_string(i) + " --server 127.0.0.1:3 & ";
  }
  ASSERT_EQ(std::system((together + "wait").c_str()), 0);
  EXPECT_EQ(nlohmann::json::parse(run("context list --format json").out).size(), 13U);
}

TEST_F(Commands, KeepTheContextsWhereTheirFileCannotBeWritten) {
  ASSERT_EQ(run("context add base --server 127.0.0.1:2").exit_code, 0);
  const std::string before = contexts_file();
  const std::string long_name(5000, 'x');
  const std::string command = "ulimit -f 1; trap '' XFSZ; '" GORGO_BINARY "' context add " +
                              long_name + " --server 127.0.0.1:3 2>'" +
                              (folder() / "said").string() + "'";
  EXPECT_NE(std::system(command.c_str()), 0);
  EXPECT_THAT(read("said"), HasSubstr("File too large"));
  EXPECT_EQ(contexts_file(), before);
}

TEST_F(Commands, KeepALinkToTheFileOfContextsAndItsPermissions) {
  ASSERT_EQ(run("context add base --server 127.0.0.1:2").exit_code, 0);
  namespace fs = std::filesystem;
  const fs::path file = std::string(std::getenv("XDG_CONFIG_HOME")) + "/gorgo/contexts.toml";
  fs::rename(file, folder() / "kept.toml");
  fs::permissions(folder() / "kept.toml", fs::perms(0640));
  fs::create_symlink(folder() / "kept.toml", file);
  ASSERT_EQ(run("context add other --server 127.0.0.1:3").exit_code, 0);
  EXPECT_TRUE(fs::is_symlink(file));
  EXPECT_THAT(read("kept.toml"), HasSubstr("other"));
  EXPECT_EQ(fs::status(folder() / "kept.toml").permissions(), fs::perms(0640));
}

TEST_F(Commands, KeepAnyNameOfAContextThatIsOneLine) {
  const std::vector<std::string> names = {"a b", "a.b", "a\"b", "a'b", "'\"", "b\\s", "\xC3\xA4"};
  for (const std::string& name : names) {
    setenv("NAME", name.c_str(), 1);
    EXPECT_EQ(run("context add \"$NAME\" --server 127.0.0.1:2").exit_code, 0) << name;
    EXPECT_EQ(run("context use \"$NAME\"").exit_code, 0) << name;
    EXPECT_THAT(run("types").err, HasSubstr("127.0.0.1:2")) << name;
  }
  const auto list = nlohmann::json::parse(run("context list --format json").out);
  EXPECT_EQ(list.size(), names.size());
  const std::string before = contexts_file();
  for (const std::string name : {"", "n\nl", "t\tb", "\xFF"}) {
    setenv("NAME", name.c_str(), 1);
    EXPECT_EQ(run("context add \"$NAME\" --server 127.0.0.1:2").exit_code, 2) << name;
    EXPECT_EQ(run("context add n --server 127.0.0.1:2 --ca \"x$NAME\"").exit_code,
              name.empty() ? 0 : 2)
        << name;
    if (name.empty()) {
      EXPECT_EQ(run("context remove n").exit_code, 0);
    }
  }
  EXPECT_EQ(contexts_file(), before);
}

TEST_F(Commands, AskNoServerOfAContextWhereWhyHasFiles) {
  ASSERT_EQ(run("context add here --server 127.0.0.1:2").exit_code, 0);
  write("r.tesla", "define Hot() from Temp(value > 45);\n");
  write("e", R"({"type":"Temp","ts":1000,"attrs":{"value":46}})");
  EXPECT_EQ(run("why r.tesla --events e").exit_code, 0) << read("err.txt");
}

TEST_F(Commands, CheckTheAddressOfAContextAndKeepItsPathsWhole) {
  const Outcome wrong = run("context add q --server nonsense");
  EXPECT_EQ(wrong.exit_code, 2);
  EXPECT_THAT(wrong.err, HasSubstr("nonsense"));
  ASSERT_EQ(run("context add q --server 127.0.0.1:2 --user me --password-file sub/../pw").exit_code,
            0);
  const auto list = nlohmann::json::parse(run("context list --format json").out);
  EXPECT_EQ(list[0]["options"]["password-file"], (folder() / "pw").string());
}

TEST_F(Commands, NameTheChoicesOfAnOption) {
  const std::vector<std::pair<std::string, std::string>> wrong = {
      {"sub --slow bogus X", "--slow: bogus is none of block, disconnect, drop"},
      {"pub --ack foo", "--ack: foo is none of accepted, durable, none, processed"},
      {"top --sort n", "--sort: n is none of load, memory, name, rate"},
      {"types --format xml", "--format: xml is none of text, json"},
      {"run r --events e --engine foo", "--engine: foo is none of auto, "}};
  for (const auto& [command, message] : wrong) {
    const Outcome outcome = run(command);
    EXPECT_EQ(outcome.exit_code, 2) << command;
    EXPECT_THAT(outcome.err, HasSubstr(message)) << command;
  }
  EXPECT_THAT(run("top --sort name --format json --to 127.0.0.1:1").err,
              HasSubstr("cannot connect"));
}

TEST_F(Commands, RefuseNegativeNumbersWhereNoneCanBe) {
  for (const std::string command : {"why --last -1", "sub X --count -1", "sub X --ahead -1",
                                    "pub --producer -1", "journal dump . --from -1"}) {
    const Outcome outcome = run(command);
    EXPECT_EQ(outcome.exit_code, 2) << command;
    EXPECT_THAT(outcome.err, HasSubstr("-1 is negative")) << command;
  }
}

TEST_F(Commands, TakeNoCountOfNoEvents) {
  const Outcome outcome = run("sub X --count 0 --timeout 1ms --to 127.0.0.1:1");
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("--count"));
}

TEST_F(Commands, LimitTheNumberOfThreads) {
  for (const std::string command :
       {"run r --events e", "backtest r --journal j", "bench base", "serve"}) {
    const Outcome outcome = run(command + " --threads 1025");
    EXPECT_EQ(outcome.exit_code, 2) << command;
    EXPECT_THAT(outcome.err, HasSubstr("--threads")) << command;
  }
}

TEST_F(Commands, SayThatADeviceDoesNotEnd) {
  EXPECT_THAT(run("check /dev/full").err, HasSubstr("it is a device that does not end"));
}

TEST_F(Commands, AreCompletedByBash) {
  const auto completed = [this](const std::string& words, int at) {
    write("complete", "source <('" GORGO_BINARY "' completion bash)\nCOMP_WORDS=(" + words +
                          ")\nCOMP_CWORD=" + std::to_string(at) +
                          "\n_gorgo\necho \"${COMPREPLY[*]}\" >words\n");
    const std::string command = "cd '" + folder().string() + "' && bash complete";
    EXPECT_EQ(std::system(command.c_str()), 0);
    return read("words");
  };
  EXPECT_EQ(completed("gorgo rules d", 2), "deploy diff\n");
  EXPECT_EQ(completed("gorgo pub --st", 2), "--stamp\n");
  EXPECT_EQ(completed("gorgo --context prod ty", 3), "types\n");
  EXPECT_EQ(completed("gorgo pub --ack ''", 3), "none accepted processed durable\n");
  EXPECT_EQ(completed("gorgo rules list --format j", 4), "json\n");
  const std::string binary = "'" GORGO_BINARY "'";
  for (const std::string name : {"prod", "test", "trial"}) {
    ASSERT_EQ(run("context add " + name + " --server 127.0.0.1:2").exit_code, 0);
  }
  EXPECT_EQ(completed(binary + " --context ''", 2), "prod test trial\n");
  EXPECT_EQ(completed(binary + " context use t", 3), "test trial\n");
  EXPECT_EQ(completed(binary + " context remove p", 3), "prod\n");
  ASSERT_EQ(run("context add 'my own' --server 127.0.0.1:2").exit_code, 0);
  EXPECT_EQ(completed(binary + " context use m", 3), "my\\ own\n");
  EXPECT_EQ(completed("gorgo-that-is-not-there --context ''", 2), "\n");
  EXPECT_EQ(completed("gorgo serve --config ''", 3), "\n") << "the shell completes files then";
  EXPECT_EQ(completed("gorgo serve --log-level ''", 3), "\n");
  EXPECT_EQ(completed("gorgo completion f", 2), "fish\n");
  EXPECT_EQ(completed("gorgo help pin", 2), "ping\n");
  EXPECT_EQ(completed("gorgo man expl", 2), "explain\n");
}

// The functions of zsh's completion system, which only works at a terminal, print what they get.
TEST_F(Commands, AreCompletedByZsh) {
  const auto completed = [this](const std::string& words, int at) {
    write("complete",
          "compdef() { }\n_describe() { print -r -- ${choices%%:*} >words }\n"
          "source <(gorgo completion zsh)\nwords=(" +
              words + ")\nCURRENT=" + std::to_string(at) + "\n_gorgo\n");
    const std::string command = "cd '" + folder().string() +
                                "' && PATH=\"$(dirname '" GORGO_BINARY "'):$PATH\" zsh -f complete";
    EXPECT_EQ(std::system(command.c_str()), 0);
    return read("words");
  };
  ASSERT_EQ(run("context add prod --server 127.0.0.1:2").exit_code, 0);
  ASSERT_EQ(run("context add test --server 127.0.0.1:2").exit_code, 0);
  EXPECT_THAT(completed("gorgo rules ''", 3), HasSubstr("deploy"));
  EXPECT_EQ(completed("gorgo pub --ack ''", 4), "none accepted processed durable\n");
  EXPECT_EQ(completed("gorgo --context ''", 3), "prod test\n");
  EXPECT_EQ(completed("gorgo context use ''", 4), "prod test\n");
}

TEST_F(Commands, AreCompletedByFish) {
  const auto completed = [this](const std::string& line) {
    const std::string command = "cd '" + folder().string() +
                                "' && PATH=\"$(dirname '" GORGO_BINARY
                                "'):$PATH\" fish -N -c 'gorgo completion fish | source; "
                                "complete -C \"" +
                                line + "\"' >words";
    EXPECT_EQ(std::system(command.c_str()), 0);
    return read("words");
  };
  ASSERT_EQ(run("context add prod --server 127.0.0.1:2").exit_code, 0);
  EXPECT_THAT(completed("gorgo rules dep"), StartsWith("deploy\t"));
  EXPECT_THAT(completed("gorgo pub --ack "), HasSubstr("durable\t"));
  EXPECT_THAT(completed("gorgo context use "), HasSubstr("prod"));
}

TEST_F(Commands, AreColouredOnTerminalsUnlessNobodyWantsIt) {
  write("wrong.tesla", "define Hot(");
  const auto on_terminal = [this](const std::string& environment) {
    const std::string command = "cd '" + folder().string() + "' && " + environment +
                                " script -qec \"'" GORGO_BINARY "' check wrong.tesla\" seen " +
                                ">/dev/null </dev/null";
    EXPECT_NE(std::system(command.c_str()), 0);
    return read("seen");
  };
  EXPECT_THAT(on_terminal("env -u NO_COLOR TERM=xterm"), HasSubstr("\033[31m error: \033[0m"));
  for (const char* plain : {"NO_COLOR=1 TERM=xterm", "env -u NO_COLOR TERM=dumb"}) {
    EXPECT_THAT(on_terminal(plain), HasSubstr(": error: ")) << plain;
    EXPECT_THAT(on_terminal(plain), Not(HasSubstr("\033["))) << plain;
  }
  EXPECT_THAT(run("check wrong.tesla").err, Not(HasSubstr("\033[")));
}

TEST_F(Commands, RefuseASpeedThatIsNone) {
  for (const char* wrong : {"3", "x", "-1x", "fast"}) {
    EXPECT_EQ(run("replay e --speed " + std::string(wrong)).exit_code, 2) << wrong;
  }
}

}  // namespace
}  // namespace gorgo::tools
