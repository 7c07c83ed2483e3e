#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "gorgo/client.hpp"
#include "http_support.hpp"
#include "process.hpp"
#include "serve_support.hpp"
#include "slow_rule.hpp"

// The real binary: signals, exit codes, its one line on stdout.
namespace gorgo {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

TEST_F(Serve, StopsOnSigtermWithClientsConnected) {
  Process server({"serve", "--listen", "127.0.0.1:0"});
  auto client = Client::connect(address_in(server.out_line()));
  ASSERT_TRUE(client) << client.error().to_string();
  ASSERT_TRUE(client->publish(std::vector{Event{"A", std::nullopt, {}}}));
  server.signal(SIGTERM);
  const auto end = client->next(30'000'000'000);
  ASSERT_FALSE(end);
  EXPECT_THAT(end.error().message, HasSubstr("stopping"));
  client = Error{};  // closes the connection
  EXPECT_THAT(server.err_line("stopped"), HasSubstr("accepted=1"));
  EXPECT_EQ(server.wait(), 0);
}

TEST_F(Serve, StopsAtOnceOnTheSecondSigtermWhateverItEvaluates) {
  Process server({"serve", "--listen", "127.0.0.1:0", "--rules", write("a.tesla", kSlowRule)});
  keep_busy(address_in(server.out_line()));
  server.signal(SIGTERM);
  EXPECT_NE(server.err_line("stopping"), "");
  server.signal(SIGTERM);
  EXPECT_THAT(server.err_line("stopped"), HasSubstr("composites=0"));
  EXPECT_EQ(server.wait(), 1);
}

/// The records of a journal, a line each.
std::string records_in(const std::string& journal) {
  Process dump({"journal", "dump", journal});
  std::string lines;
  for (auto line = dump.out_line(); !line.empty(); line = dump.out_line()) lines += line;
  EXPECT_EQ(dump.wait(), 0);
  return lines;
}

/// What was given up is evaluated by the next start, which compares what comes of it with the hash.
TEST_F(Serve, WritesNoHashOfResultsThatItHasGivenUp) {
  const auto journal = (folder_ / "journal").string();
  const std::vector<std::string> serve = {"serve", "--listen", "127.0.0.1:0", "--journal", journal};
  {
    Process server(serve);
    auto client = Client::connect(address_in(server.out_line()));
    ASSERT_TRUE(client) << client.error().to_string();
    ASSERT_TRUE(client->publish(std::vector{Event{"A", std::nullopt, {}}}));
    server.signal(SIGTERM);
    EXPECT_EQ(server.wait(), 0);
  }
  EXPECT_THAT(records_in(journal), HasSubstr(" Results "));
  fs::remove_all(journal);
  auto slow = serve;
  slow.insert(slow.end(), {"--rules", write("a.tesla", kSlowRule)});
  Process server(slow);
  keep_busy(address_in(server.out_line()));
  server.signal(SIGTERM);
  EXPECT_NE(server.err_line("stopping"), "");
  server.signal(SIGTERM);
  EXPECT_EQ(server.wait(), 1);
  EXPECT_THAT(records_in(journal), testing::Not(HasSubstr(" Results ")));
}

/// Accepted events are given up in the end, and the exit code says so.
TEST_F(Serve, GivesUpWhatTakesLongerThanItsTimeToStop) {
  const auto config = write("gorgo.toml", "[operations]\nstop_timeout_ms = 10\n");
  Process server({"serve", "--listen", "127.0.0.1:0", "--rules", write("a.tesla", kSlowRule),
                  "--config", config});
  keep_busy(address_in(server.out_line()));
  server.signal(SIGTERM);
  EXPECT_NE(server.err_line("stopping at once"), "");
  EXPECT_THAT(server.err_line("stopped"), HasSubstr("composites=0"));
  EXPECT_EQ(server.wait(), 1);
}

/// The server waits for its configuration, which comes through a pipe with a name.
TEST_F(Serve, SighupWhileItReadsItsConfigurationChangesNothing) {
  const std::string config = write("gorgo.toml", "");
  ASSERT_EQ(std::remove(config.c_str()), 0);
  ASSERT_EQ(mkfifo(config.c_str(), 0600), 0);
  Process server({"serve", "--listen", "127.0.0.1:0", "--config", config});
  std::ofstream pipe(config);  // opened once the server reads
  server.signal(SIGHUP);
  pipe.close();
  EXPECT_THAT(server.out_line(), HasSubstr("listening on "));
  server.signal(SIGTERM);
  EXPECT_EQ(server.wait(), 0);
}

TEST_F(Serve, SigtermWhileItReadsItsConfigurationEndsItInOrder) {
  const std::string config = write("gorgo.toml", "");
  ASSERT_EQ(std::remove(config.c_str()), 0);
  ASSERT_EQ(mkfifo(config.c_str(), 0600), 0);
  Process server({"serve", "--listen", "127.0.0.1:0", "--config", config});
  const std::ofstream pipe(config);
  server.signal(SIGTERM);
  EXPECT_EQ(server.wait(), 0);
}

TEST_F(Serve, SighupWhileItStopsChangesNothing) {
  Process server({"serve", "--listen", "127.0.0.1:0", "--rules", write("a.tesla", kSlowRule),
                  "--config", write("gorgo.toml", "")});
  keep_busy(address_in(server.out_line()));
  server.signal(SIGTERM);
  EXPECT_NE(server.err_line("stopping"), "");
  server.signal(SIGHUP);
  EXPECT_NE(server.err_line("not reloading"), "");
  server.signal(SIGTERM);
  EXPECT_NE(server.err_line("stopping at once"), "");
  EXPECT_EQ(server.wait(), 1);
}

TEST_F(Serve, ServesOnForTheGraceAndASecondSigtermEndsIt) {
  const auto config = write("gorgo.toml", "[operations]\ngrace_ms = 3600000\n");
  Process server({"serve", "--listen", "127.0.0.1:0", "--config", config});
  const std::string address = address_in(server.out_line());
  server.signal(SIGTERM);
  EXPECT_THAT(server.err_line("about to stop"), HasSubstr("grace_ms=3600000"));
  auto client = Client::connect(address);
  ASSERT_TRUE(client) << client.error().to_string();
  ASSERT_TRUE(client->publish(std::vector{Event{"A", std::nullopt, {}}}));
  EXPECT_TRUE(client->is_leaving());
  server.signal(SIGTERM);
  EXPECT_FALSE(client->next(30'000'000'000));
  EXPECT_THAT(server.err_line("stopped"), HasSubstr("accepted=1"));
  EXPECT_EQ(server.wait(), 0);
}

/// Arguments of a shell that runs the server behind `limit`, a command of it.
std::vector<std::string> limited(const std::string& limit, std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(),
                   {"-c", limit + "; exec \"$0\" \"$@\"", GORGO_BINARY, "serve"});
  return arguments;
}

TEST_F(Serve, TakesALimitOnTheSizeOfFilesForAnError) {
  Process server(limited("ulimit -f 1000", {"--journal", (folder_ / "j").string()}), 0, "/bin/sh");
  EXPECT_THAT(server.err_line("cannot begin a file"), HasSubstr("File too large"));
  EXPECT_EQ(server.wait(), 1);
}

TEST_F(Serve, ItsUnitIsOneThatSystemdTakes) {
  if (std::system("systemd-analyze --version >/dev/null 2>&1") != 0) {
    GTEST_SKIP() << "there is no systemd-analyze";
  }
  std::ifstream file(GORGO_DOCS "/../packaging/gorgo.service");
  std::string unit((std::istreambuf_iterator<char>(file)), {});
  ASSERT_THAT(unit, HasSubstr("Type=notify"));
  const std::string program = "/usr/bin/gorgo";
  for (auto at = unit.find(program); at != unit.npos; at = unit.find(program, at + 1)) {
    unit.replace(at, program.size(), GORGO_BINARY);
  }
  const auto path = write("gorgo.service", unit);
  const auto check = "systemd-analyze verify --man=no " + path + " 2>&1";
  FILE* output = popen(check.c_str(), "r");
  ASSERT_NE(output, nullptr);
  std::string said;
  for (int c = fgetc(output); c != EOF; c = fgetc(output)) said += static_cast<char>(c);
  EXPECT_EQ(pclose(output), 0) << said;
  EXPECT_THAT(said, testing::Not(HasSubstr("Unknown")));
}

TEST_F(Serve, StopsOnSigint) {
  Process server({"serve", "--listen", "127.0.0.1:0", "--log-format", "json"});
  EXPECT_NE(address_in(server.out_line()), "");
  EXPECT_NE(server.err_line("\"message\":\"listening\""), "");
  server.signal(SIGINT);
  EXPECT_EQ(server.wait(), 0);
}

TEST_F(Serve, AnswersWhyAndTrace) {
  const auto rules = write("a.tesla", "event B(x: int); rule big: define A() from B(x > 5);");
  Process server({"serve", "--listen", "127.0.0.1:0", "--rules", rules, "--remember", "1min"});
  const std::string address = address_in(server.out_line());
  Process trace({"trace", "@1000 B(x=6)", "--to", address});
  EXPECT_EQ(trace.out_line(), "B at 1000: evaluated\n");
  EXPECT_EQ(trace.wait(), 0);
  Process refused({"trace", "@1000 B(x=true)", "--to", address});
  EXPECT_THAT(refused.err_line(), HasSubstr("attribute `x` is bool"));
  EXPECT_EQ(refused.wait(), 1);
  Process line({"trace", R"({"type":"B","ts":50000,"attrs":{"x":5}})", "--to", address});
  EXPECT_EQ(line.out_line(), "B at 50000: evaluated\n");
  EXPECT_EQ(line.wait(), 0);
  Process why({"why", "--to", address, "--rule", "big", "--at", "50000"});
  EXPECT_EQ(why.out_line(), "rule big: 1 composite of 1 terminator B(x > 5)\n");
  EXPECT_EQ(why.out_line(), "\n");
  EXPECT_EQ(why.out_line(), "B@50000 {x=5}: no composite\n");
  EXPECT_EQ(why.wait(), 0);
  Process exact({"trace", "@1795967299992.630466 B(x=6)", "--json", "--to", address});
  std::string told;
  for (auto got = exact.out_line(); !got.empty(); got = exact.out_line()) told += got;
  EXPECT_EQ(nlohmann::json::parse(told)["composites"].size(), 1u) << told;
  EXPECT_THAT(told, testing::ContainsRegex("\\{\n  \"ts\": 1795967299992.630466,(.|\n)*"
                                           "\"ts\": 1795967299992.630466,"));
  EXPECT_EQ(exact.wait(), 0);
}

TEST_F(Serve, RulesArePinnedAndExplained) {
  const auto rules = write("a.tesla",
                           "event A(x: int); event B(x: int); rule pair: define P(x: int) from "
                           "B(x = $x) and last A(x = $x) within 5 min from B where x = B.x;");
  Process server({"serve", "--listen", "127.0.0.1:0", "--rules", rules});
  const std::string address = address_in(server.out_line());
  Process before({"explain", "--live", "--to", address});
  EXPECT_EQ(before.out_line(), "pair: column, where it costs least, moves: 0\n");
  EXPECT_EQ(before.wait(), 0);
  Process pin({"rules", "pin", "pair", "automaton", "--to", address});
  EXPECT_EQ(pin.err_line(), "pair runs on automaton\n");
  EXPECT_EQ(pin.wait(), 0);
  Process after({"explain", "--live", "pair", "--to", address});
  EXPECT_EQ(after.out_line(), "pair: automaton, pinned, moves: 1\n");
  std::string plan;
  for (std::string line = after.out_line(); !line.empty(); line = after.out_line()) plan += line;
  EXPECT_THAT(plan, HasSubstr("state 0        B: terminator"));
  EXPECT_THAT(plan, HasSubstr("equality   x = B.x"));
  EXPECT_EQ(after.wait(), 0);
  Process wrong({"rules", "pin", "pair", "warp", "--to", address});
  EXPECT_THAT(wrong.err_line(), HasSubstr("there is no engine `warp`"));
  EXPECT_EQ(wrong.wait(), 1);
  Process free({"rules", "pin", "pair", "auto", "--to", address});
  EXPECT_EQ(free.err_line(), "pair runs where it costs least\n");
  EXPECT_EQ(free.wait(), 0);
  Process no_file({"explain"});
  EXPECT_THAT(no_file.err_line(), HasSubstr("FILE is required"));
  EXPECT_NE(no_file.wait(), 0);
}

TEST_F(Serve, ListsTheTypesThatItsRulesRead) {
  const auto rules = write("a.tesla", "event B(x: int); rule big: define A() from B(x > 5);");
  Process server({"serve", "--listen", "127.0.0.1:0", "--rules", rules});
  const std::string address = address_in(server.out_line());
  auto client = Client::connect(address);
  ASSERT_TRUE(client) << client.error().to_string();
  ASSERT_TRUE(client->publish(std::vector<Event>(3, {"B", std::nullopt, {{"x", 1}}})));
  Process types({"types", "--to", address});
  EXPECT_THAT(types.out_line(), HasSubstr("TOO LATE  SEEN  ACCEPTED  NO VALUE  ATTRIBUTES"));
  const auto line = types.out_line();
  EXPECT_THAT(line, testing::ContainsRegex("^B .* 0 +0 +3 +3 +0 +x: int"));
  EXPECT_EQ(types.wait(), 0);
  Process as_json({"types", "--to", address, "--format", "json"});
  EXPECT_EQ(as_json.out_line(), "[\n");
  EXPECT_EQ(as_json.wait(), 0);
}

TEST_F(Serve, SaysWhatStandsOut) {
  const auto rules = write("a.tesla",
                           "event B(x: int); event Misspelt(); event D();"
                           "rule never: define A() from B(x > 5);"
                           "rule always: define C() from B() and last D() within 1 min from B;"
                           "rule waiting: define E() from Misspelt();"
                           "rule quiet: define F() from D();");
  Process server({"serve", "--listen", "127.0.0.1:0", "--rules", rules});
  const std::string address = address_in(server.out_line());
  auto client = Client::connect(address);
  ASSERT_TRUE(client) << client.error().to_string();
  const PublishOptions processed{.acknowledge = Acknowledge::processed, .sequence = {}};
  std::vector<Event> events(101, {"B", std::nullopt, {{"x", 1}}});
  events.front() = {"D", std::nullopt, {}};
  events.push_back({"Bee", std::nullopt, {{"x", 1}}});
  ASSERT_TRUE(client->publish(events, processed));
  Process doctor({"doctor", "--to", address});
  EXPECT_THAT(
      doctor.out_line(),
      testing::StartsWith("No event of type Misspelt has come since rules read it (waiting)"));
  EXPECT_THAT(doctor.out_line(), testing::StartsWith("1 event of type Bee came, which no rule"));
  EXPECT_THAT(doctor.out_line(), testing::StartsWith("Rule never has never fired"));
  EXPECT_THAT(doctor.out_line(),
              testing::StartsWith("Rule always has fired for every one of its 100 terminators"));
  EXPECT_EQ(doctor.out_line(), "");
  EXPECT_EQ(doctor.wait(), 0);
}

TEST_F(Serve, TellsWhetherAStartWouldTakeTheConfigurationAndItsRules) {
  const auto good = write("good.tesla", "event B(x: int); rule r: define A() from B();");
  const auto bad = write("bad.tesla", "rule r: define A() from");
  const auto config = write("gorgo.toml", "listen = \"127.0.0.1:0\"\nrules = [\"" + good + "\"]\n");
  Process right({"serve", "-t", "--config", config});
  EXPECT_EQ(right.out_line(), "the configuration and its rules are in order\n");
  EXPECT_EQ(right.wait(), 0);
  Process wrong_rule({"serve", "-t", "--config", config, "--rules", bad});
  EXPECT_THAT(wrong_rule.err_line("error"), HasSubstr("bad.tesla:1:24: error:"));
  EXPECT_EQ(wrong_rule.wait(), 1);
  write("gorgo.toml", "[limits]\nmax_row = 1\n");
  Process wrong_key({"serve", "-t", "--config", config});
  EXPECT_THAT(wrong_key.err_line("gorgo:"), HasSubstr("2:11: limits.max_row: unknown key"));
  EXPECT_EQ(wrong_key.wait(), 1);
  write("gorgo.toml", "[security]\nusers = \"absent.toml\"\n");
  Process no_users({"serve", "-t", "--config", config});
  EXPECT_THAT(no_users.err_line("gorgo:"), HasSubstr("security.users: cannot read absent.toml"));
  EXPECT_EQ(no_users.wait(), 1);
  Process exposed({"serve", "-t", "--http", "0.0.0.0:0"});
  EXPECT_THAT(exposed.err_line("gorgo:"), HasSubstr("will not listen on 0.0.0.0:0"));
  EXPECT_EQ(exposed.wait(), 1);
  Process twice({"serve", "-t", "--listen", "127.0.0.1:7450", "--http", "127.0.0.1:7450"});
  EXPECT_THAT(twice.err_line("gorgo:"),
              HasSubstr("--http 127.0.0.1:7450: another port of this server has the address"));
  EXPECT_EQ(twice.wait(), 1);
  Process nowhere({"serve", "-t", "--trex", "no-such-host.invalid:7451"});
  EXPECT_THAT(nowhere.err_line("gorgo:"), HasSubstr("cannot resolve no-such-host.invalid:7451"));
  EXPECT_EQ(nowhere.wait(), 1);
}

TEST_F(Serve, SaysThatItHasNoRoomForPublications) {
  const auto config =
      write("gorgo.toml", "[journal]\nbacklog_bytes = 1048576\nbacklog_policy = \"refuse\"\n");
  Process server({"serve", "--listen", "127.0.0.1:0", "--config", config, "--journal",
                  (folder_ / "journal").string()});
  const std::string address = address_in(server.out_line());
  auto reader = Client::connect(address), client = Client::connect(address);
  ASSERT_TRUE(reader && client);
  ASSERT_TRUE(reader->subscribe("A", {.durable = "slow"}));
  const std::vector events(1000, Event{"A", std::nullopt, {{"text", std::string(1000, 'x')}}});
  while (client->publish(events)) continue;
  EXPECT_THAT(server.err_line("publications are not taken"), HasSubstr("subscription 'slow'"));
}

TEST_F(Serve, SaysThatItsClockIsBehindTheEvents) {
  const auto journal = (folder_ / "journal").string();
  {
    Process server({"serve", "--listen", "127.0.0.1:0", "--journal", journal, "--max-ahead", "2h",
                    "--max-late", "3h"});
    auto client = Client::connect(address_in(server.out_line()));
    ASSERT_TRUE(client);
    const auto now = std::chrono::system_clock::now().time_since_epoch() + std::chrono::hours(1);
    const auto later = std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
    EXPECT_EQ(client->publish(std::vector{Event{"A", later, {}}})->accepted, 1u);
    server.signal(SIGTERM);
    EXPECT_EQ(server.wait(), 0);
  }
  Process server({"serve", "--listen", "127.0.0.1:0", "--journal", journal});
  auto client = Client::connect(address_in(server.out_line()));
  ASSERT_TRUE(client);
  EXPECT_EQ(client->publish(std::vector{Event{"A", std::nullopt, {}}})->accepted, 1u);
  EXPECT_THAT(server.err_line("clock is behind the events"), HasSubstr("behind_ms=3"));
}

TEST_F(Serve, PrintsTheConfigurationThatWouldHold) {
  const auto config = write("gorgo.toml", "[limits]\nmax_rows = 17\n");
  Process printing({"serve", "--print-config", "--config", config, "--listen", "[::1]:7"});
  EXPECT_THAT(printing.out_line(), HasSubstr("listen = \"[::1]:7\""));
  EXPECT_EQ(printing.wait(), 0);
}

TEST_F(Serve, DoesNotStartWithRuleFilesThatItCannotRead) {
  fs::create_directory(folder_ / "folder.tesla");
  ASSERT_EQ(mkfifo((folder_ / "pipe.tesla").c_str(), 0600), 0);
  for (const std::string path : {"", "pipe.tesla", "absent.tesla"}) {
    Process server({"serve", "--listen", "127.0.0.1:0", "--rules", (folder_ / path).string()});
    EXPECT_THAT(server.err_line(), HasSubstr("gorgo: cannot read ")) << path;
    EXPECT_EQ(server.wait(), 1) << path;
  }
}

TEST_F(Serve, ShowsRulesWhoseCommentsAreNoUtf8) {
  const auto rules = write("a.tesla", "rule one: define C() // \xff\n from A();");
  Process server({"serve", "--listen", "127.0.0.1:0", "--rules", rules});
  const std::string address = address_in(server.out_line());
  Process show({"rules", "show", "one", "--format", "json", "--to", address});
  EXPECT_EQ(show.out_line(), "{\n");
  EXPECT_EQ(show.wait(), 0);
}

TEST_F(Serve, PortsThatAreNoneAreErrors) {
  const std::string wrong = "127.0.0.1:99999";
  const std::string error = "'127.0.0.1:99999' is no address: '99999' is no port";
  for (const std::string option : {"--listen", "--http", "--trex"}) {
    Process server({"serve", option, wrong});
    EXPECT_THAT(server.err_line(), HasSubstr(error)) << option;
    EXPECT_EQ(server.wait(), 1);
  }
  const std::vector<std::string> commands[] = {
      {"pub", "/dev/null", "--to"}, {"sub", "*", "--from"},         {"rules", "list", "--to"},
      {"engines", "--to"},          {"why", "--rule", "x", "--to"}, {"trace", "A()", "--to"},
      {"explain", "--live", "--to"}};
  for (const auto& command : commands) {
    for (const std::string port : {"99999", "0", "-1", "http"}) {
      auto arguments = command;
      arguments.push_back("127.0.0.1:" + port);
      Process client(arguments);
      EXPECT_THAT(client.err_line(), HasSubstr("'" + port + "' is no port")) << command[0];
      EXPECT_EQ(client.wait(), 1) << command[0];
    }
  }
}

TEST_F(Serve, LimitsThatNoServerCouldWorkWithAreErrors) {
  const auto small = write("small.toml", "[limits]\nmax_frame = 1\n");
  Process one({"serve", "--listen", "127.0.0.1:0", "--config", small});
  EXPECT_THAT(one.err_line(), HasSubstr(small + ":2:13: limits.max_frame: 1 is out of range"));
  EXPECT_EQ(one.wait(), 1);
  const auto unequal = write("unequal.toml", "[limits]\nqueue_bytes = 1048576\n");
  Process two({"serve", "--listen", "127.0.0.1:0", "--config", unequal});
  EXPECT_THAT(two.err_line(), HasSubstr(unequal + ": limits.queue_bytes = 1048576 is less than"));
  EXPECT_EQ(two.wait(), 1);
}

/// The command line and the configuration have to agree that a public address is meant.
TEST_F(Serve, PublicAddressesAreRefusedUntilToldTwice) {
  const auto config = write("insecure.toml", "[security]\ninsecure = true\n");
  const std::string both = "--insecure and [security] insecure = true";
  for (const std::string address : {"0.0.0.0:0", "[::]:0"}) {
    const std::vector<std::string> plain = {"serve", "--listen", address};
    auto flag = plain, key = plain, told_twice = plain;
    flag.push_back("--insecure");
    key.insert(key.end(), {"--config", config});
    for (const auto& arguments : {plain, flag, key}) {
      Process server(arguments);
      const std::string error = server.err_line();
      EXPECT_THAT(error, HasSubstr("gorgo: will not listen on " + address));
      EXPECT_THAT(error, HasSubstr(both));
      EXPECT_EQ(server.wait(), 1);
    }
    told_twice.insert(told_twice.end(), {"--insecure", "--config", config});
    Process server(told_twice);
    EXPECT_NE(address_in(server.out_line()), "");
    server.signal(SIGTERM);
    EXPECT_EQ(server.wait(), 0);
  }
}

TEST_F(Serve, APortInUseIsOneLineAndExitCodeOne) {
  Process server({"serve", "--listen", "127.0.0.1:0"});
  const std::string address = address_in(server.out_line());
  Process second({"serve", "--listen", address});
  EXPECT_THAT(second.err_line(),
              HasSubstr("gorgo: cannot listen on " + address + ": address already in use"));
  EXPECT_EQ(second.err_line(), "");
  EXPECT_EQ(second.wait(), 1);
}

TEST_F(Serve, BadRulesAtTheStartAreDiagnosticsAndExitCodeOne) {
  const std::string file = write("bad.tesla", "define X(");
  Process server({"serve", "--listen", "127.0.0.1:0", "--rules", file});
  EXPECT_THAT(server.err_line(), HasSubstr(file + ":1:"));
  EXPECT_EQ(server.wait(), 1);
}

TEST_F(Serve, MissingRulesAndConfigurationsAreExitCodeOne) {
  Process rules({"serve", "--listen", "127.0.0.1:0", "--rules", "nowhere.tesla"});
  EXPECT_THAT(rules.err_line(), HasSubstr("nowhere.tesla"));
  EXPECT_EQ(rules.wait(), 1);
  Process config({"serve", "--config", write("g.toml", "listn = 'x'")});
  EXPECT_THAT(config.err_line(), HasSubstr("did you mean 'listen'?"));
  EXPECT_EQ(config.wait(), 1);
}

TEST_F(Serve, EventsGoFromPubToSub) {
  const auto rules = write("fire.tesla",
                           "define Fire(area: string, measuredTemp: float)\n"
                           "from Smoke(area = $a) and last Temp(area = $a and value > 45) within 5 "
                           "min from Smoke\n"
                           "where area = Smoke.area and measuredTemp = Temp.value;");
  Process server({"serve", "--listen", "127.0.0.1:0", "--rules", rules});
  const std::string address = address_in(server.out_line());
  Process sub({"sub", "--from", address, "Fire(measuredTemp > 50)", "--count", "1"});
  EXPECT_THAT(sub.err_line(), HasSubstr("subscribed"));
  const auto events =
      write("e.ndjson",
            "{\"type\":\"Temp\",\"ts\":1000,\"attrs\":{\"area\":\"A1\",\"value\":55.5}}\n"
            "nonsense\n"
            "{\"type\":\"Smoke\",\"ts\":2000,\"attrs\":{\"area\":\"A1\"}}\n");
  Process pub({"pub", "--to", address, events});
  EXPECT_EQ(sub.out_line(),
            "{\"type\":\"Fire\",\"ts\":2000,\"attrs\":{\"area\":\"A1\",\"measuredTemp\":55.5}}\n");
  EXPECT_EQ(sub.wait(), 0);
  EXPECT_THAT(pub.err_line(), HasSubstr("line 2: "));
  EXPECT_EQ(pub.err_line("sent"), "sent 2, accepted 2, refused 0, bad lines 1\n");
  EXPECT_EQ(pub.wait(), 0);
  Process memory({"rules", "list", "--memory", "--to", address});
  EXPECT_THAT(memory.out_line(), HasSubstr("OVERFLOWS  DECLINED  BYTES"));
  EXPECT_THAT(memory.out_line(), HasSubstr("fire.Fire"));
  EXPECT_EQ(memory.out_line(), "\n");
  EXPECT_THAT(memory.out_line(), HasSubstr("KEPT FOR"));
  EXPECT_THAT(memory.out_line(), testing::ContainsRegex("Smoke +10000 ms +1 +[0-9]+ +0 +0"));
  EXPECT_THAT(memory.out_line(), testing::ContainsRegex("Temp +310000 ms +1 +[0-9]+ +0 +0"));
  EXPECT_EQ(memory.wait(), 0);
  Process list({"rules", "list", "--to", address});
  EXPECT_THAT(list.out_line(),
              HasSubstr("DECLINED  EV/S  TERM/S  COMP/S  BYTES  EACH TAKES  STATE"));
  // Evaluated and produced one; three rates, memory; nothing has been measured of one terminator.
  EXPECT_THAT(list.out_line(),
              testing::ContainsRegex("^fire.Fire +Fire +column +1 +1 +0 +0"
                                     " +[0-9.]+k? +[0-9.]+k? +[0-9.]+k? +[0-9.]+k? .*auto\n"));
  EXPECT_EQ(list.wait(), 0);
}

TEST_F(Serve, FloatsThatAreNoNumbersGoThroughPub) {
  const auto rules = write("odd.tesla",
                           "event Temp(value: float);"
                           "define Odd(value: float) from Temp(value != value or value > 1e308)"
                           " where value = Temp.value;");
  Process server({"serve", "--listen", "127.0.0.1:0", "--rules", rules});
  const std::string address = address_in(server.out_line());
  Process sub({"sub", "--from", address, "Odd", "--count", "2"});
  EXPECT_THAT(sub.err_line(), HasSubstr("subscribed"));
  Process lines({"pub", "--to", address,
                 write("e.ndjson",
                       "{\"type\":\"Temp\",\"ts\":1,\"attrs\":{\"value\":\"NaN\"}}\n"
                       "{\"type\":\"Temp\",\"ts\":2,\"attrs\":{\"value\":\"-Infinity\"}}\n")});
  EXPECT_EQ(lines.wait(), 0);
  Process csv({"pub", "--to", address, "--format", "csv", "--type", "Temp",
               write("e.csv", "ts,value\n3,Infinity\n")});
  EXPECT_EQ(csv.wait(), 0);
  EXPECT_EQ(sub.out_line(), "{\"type\":\"Odd\",\"ts\":1,\"attrs\":{\"value\":\"NaN\"}}\n");
  EXPECT_EQ(sub.out_line(), "{\"type\":\"Odd\",\"ts\":3,\"attrs\":{\"value\":\"Infinity\"}}\n");
  EXPECT_EQ(sub.wait(), 0);
}

TEST_F(Serve, TicksGoThroughPubInOrder) {
  const auto rules =
      write("calm.tesla", "define Calm() from Smoke() and not Temp() within 30 ms after Smoke;");
  Process server({"serve", "--listen", "127.0.0.1:0", "--rules", rules});
  const std::string address = address_in(server.out_line());
  Process sub({"sub", "--from", address, "*", "--count", "3"});
  EXPECT_THAT(sub.err_line(), HasSubstr("subscribed"));
  const auto events = write(
      "e.ndjson", "{\"type\":\"Smoke\",\"ts\":1}\n{\"tick\":31}\n{\"type\":\"Temp\",\"ts\":32}\n");
  Process pub({"pub", "--to", address, events});
  EXPECT_EQ(sub.out_line(), "{\"type\":\"Smoke\",\"ts\":1,\"attrs\":{}}\n");
  EXPECT_EQ(sub.out_line(), "{\"type\":\"Calm\",\"ts\":31,\"attrs\":{}}\n");
  EXPECT_EQ(sub.out_line(), "{\"type\":\"Temp\",\"ts\":32,\"attrs\":{}}\n");
  EXPECT_EQ(pub.wait(), 0);
}

TEST_F(Serve, ClientsSayWhenThereIsNoServer) {
  Process server({"serve", "--listen", "127.0.0.1:0"});
  const std::string address = address_in(server.out_line());
  server.signal(SIGTERM);
  EXPECT_EQ(server.wait(), 0);
  Process list({"rules", "list", "--to", address});
  EXPECT_EQ(list.err_line(), "gorgo: cannot connect to " + address +
                                 ": connection refused; is `gorgo serve` running?\n");
  EXPECT_EQ(list.wait(), 1);
}

}  // namespace
}  // namespace gorgo
