#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "server/options.hpp"

namespace gorgo::server {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Result<ServerOptions> read(const std::string& text) {
  const auto path = std::filesystem::path(testing::TempDir()) /
                    ("gorgo_" + std::to_string(getpid()) + "_" +
                     testing::UnitTest::GetInstance()->current_test_info()->name() + ".toml");
  std::ofstream(path) << text;
  ServerOptions options;
  const auto done = read_config(path.string(), options);
  std::filesystem::remove(path);
  if (!done) return done.error();
  return options;
}

TEST(Config, EveryKeyIsRead) {
  const auto options = read(R"(
listen = "0.0.0.0:9000"
rules = ["a.tesla", "more"]
drain_timeout_ms = 500
linger_ms = 600
reports = "/var/tmp"
greeting_timeout_ms = 700
frame_timeout_ms = 800
idle_timeout_ms = 900
[limits]
max_frame = 1048576
max_rows = 10
max_sessions = 11
reserved_sessions = 2
max_newcomers = 3
max_subscriptions = 12
subscription_bytes = 21
all_subscription_bytes = 22
max_producers = 13
queue_bytes = 1048577
queue_work_ms = 15
memory_bytes = 1048579
reserve_bytes = 1048581
outbound_bytes = 1048578
batch_events = 17
batch_bytes = 1048580
slow_consumer = "drop"
[engine]
default = "reference"
threads = 9
max_depth = 3
max_composites = 4
max_held_bytes = 8
max_instants = 7
max_ahead_ms = 5
lateness_ms = 0
max_late_ms = 6
remember_ms = 7
[cuda]
devices = "0+1"
memory = "256MiB"
page_events = 4096
least_pairs = 0
least_terminators = 8
compile = "never"
negations = "separate"
[http]
listen = "127.0.0.1:9001"
origins = ["https://a.example"]
max_header_bytes = 2000
max_body_bytes = 3000
max_message_bytes = 5000
keep_alive_ms = 40
trial_timeout_ms = 45
[trex]
listen = "127.0.0.1:9002"
[security]
insecure = true
[log]
format = "json"
level = "error"
)");
  ASSERT_TRUE(options) << options.error().to_string();
  ASSERT_TRUE(options->cuda.has_value());
  EXPECT_THAT(options->cuda->devices, ElementsAre(0, 1));
  EXPECT_EQ(options->cuda->memory, std::uint64_t{256} << 20);
  EXPECT_EQ(options->cuda->page_events, 4096u);
  EXPECT_EQ(options->cuda->least_pairs, 0u);
  EXPECT_EQ(options->cuda->least_terminators, 8u);
  EXPECT_EQ(options->cuda->compile, gpu::Compile::never);
  EXPECT_EQ(options->cuda->longest_inside, 0u);
  EXPECT_EQ(options->listen, "0.0.0.0:9000");
  EXPECT_EQ(options->http.listen, "127.0.0.1:9001");
  EXPECT_THAT(options->http.origins, ElementsAre("https://a.example"));
  EXPECT_EQ(options->http.max_header_bytes, 2000u);
  EXPECT_EQ(options->http.max_body_bytes, 3000u);
  EXPECT_EQ(options->http.max_message_bytes, 5000u);
  EXPECT_EQ(options->http.keep_alive.count(), 40);
  EXPECT_EQ(options->http.trial_timeout.count(), 45);
  EXPECT_EQ(options->trex.listen, "127.0.0.1:9002");
  EXPECT_TRUE(options->security.insecure);
  EXPECT_FALSE(options->insecure);
  EXPECT_THAT(options->rules, ElementsAre("a.tesla", "more"));
  EXPECT_EQ(options->drain_timeout.count(), 500);
  EXPECT_EQ(options->linger.count(), 600);
  EXPECT_EQ(options->reports, "/var/tmp");
  EXPECT_EQ(options->greeting_timeout.count(), 700);
  EXPECT_EQ(options->limits.max_frame, 1048576u);
  EXPECT_EQ(options->limits.max_rows, 10u);
  EXPECT_EQ(options->limits.max_sessions, 11u);
  EXPECT_EQ(options->limits.max_subscriptions, 12u);
  EXPECT_EQ(options->limits.max_producers, 13u);
  EXPECT_EQ(options->limits.queue_bytes, 1048577u);
  EXPECT_EQ(options->limits.queue_work.count(), 15);
  EXPECT_EQ(options->limits.memory_bytes, 1048579u);
  EXPECT_EQ(options->limits.reserve_bytes, 1048581u);
  EXPECT_EQ(options->limits.reserved_sessions, 2u);
  EXPECT_EQ(options->limits.max_newcomers, 3u);
  EXPECT_EQ(options->limits.subscription_bytes, 21u);
  EXPECT_EQ(options->limits.all_subscription_bytes, 22u);
  EXPECT_EQ(options->frame_timeout.count(), 800);
  EXPECT_EQ(options->idle_timeout.count(), 900);
  EXPECT_EQ(options->limits.outbound_bytes, 1048578u);
  EXPECT_EQ(options->limits.batch_events, 17u);
  EXPECT_EQ(options->limits.batch_bytes, 1048580u);
  EXPECT_EQ(options->limits.slow_consumer, SlowConsumer::drop);
  EXPECT_EQ(options->processor.engine, "reference");
  EXPECT_EQ(options->processor.threads, 9u);
  EXPECT_EQ(options->processor.max_depth, 3u);
  EXPECT_EQ(options->processor.max_composites, 4u);
  EXPECT_EQ(options->processor.max_held_bytes, 8u);
  EXPECT_EQ(options->processor.max_instants, 7u);
  EXPECT_EQ(options->processor.max_ahead, 5'000'000);
  EXPECT_EQ(options->processor.lateness, 0);
  EXPECT_EQ(options->processor.max_late, 6'000'000);
  EXPECT_EQ(options->processor.remember, 7'000'000);
  EXPECT_EQ(options->log_format, LogFormat::json);
  EXPECT_EQ(options->log_level, LogLevel::error);
}

TEST(Config, NamesTheTypesOfTRexByTheirNumbers) {
  const auto options = read("[trex.types]\n2001 = 'Temp'\n-5 = 'Odd'");
  ASSERT_TRUE(options) << options.error().to_string();
  const std::map<std::int32_t, std::string> names = {{2001, "Temp"}, {-5, "Odd"}};
  EXPECT_EQ(options->trex.types, names);
  const auto printed = read(print_config(*options));
  ASSERT_TRUE(printed) << printed.error().to_string();
  EXPECT_EQ(printed->trex.types, names);
}

TEST(Config, WrongNamesOfTypesOfTRexAreErrors) {
  EXPECT_THAT(read("[trex.types]\nTemp = 'Temp'").error().message,
              HasSubstr("1:1: trex.types: 'Temp' is no number of a type"));
  EXPECT_THAT(read("[trex.types]\n2147483648 = 'Temp'").error().message, HasSubstr("no number"));
  EXPECT_THAT(read("[trex.types]\n1 = 'and'").error().message, HasSubstr("cannot be the name"));
  EXPECT_THAT(read("[trex.types]\n1 = 'A'\n2 = 'A'").error().message,
              HasSubstr("'A' has two numbers, 1 and 2"));
  EXPECT_THAT(read("[trex.types]\n01 = \"A\"\n1 = \"B\"\n").error().message,
              HasSubstr("the type 1 has two names, 'A' and 'B'"));
  EXPECT_THAT(read("[trex.types]\n5 = 'T6'").error().message,
              HasSubstr("'T6' is what the type 6 is called"));
  EXPECT_TRUE(read("[trex.types]\n6 = 'T6'\n7 = 'T06'\n8 = 'T'\n9 = 'T99999999999'"));
  EXPECT_THAT(read("[trex.types]\n1 = 2").error().message,
              HasSubstr("expected a table of strings"));
  EXPECT_THAT(read("[trex]\ntypes = 'A'").error().message,
              HasSubstr("expected a table of strings"));
}

TEST(Config, AnEmptyFileChangesNothing) {
  const auto options = read("");
  ASSERT_TRUE(options);
  EXPECT_EQ(options->listen, "127.0.0.1:7450");
  EXPECT_EQ(options->processor.max_ahead, 5'000'000'000);
  EXPECT_FALSE(options->cuda.has_value());
}

TEST(Config, ATimestampThatIsJustAcceptedMustNotMakeOthersLate) {
  EXPECT_TRUE(check_times(ServerOptions().processor));
  const auto wrong = check_times(read("[engine]\nmax_late_ms = 5000")->processor);
  ASSERT_FALSE(wrong);
  EXPECT_THAT(wrong.error().message, HasSubstr("engine.max_ahead_ms (5000 ms) must be below "
                                               "engine.max_late_ms (5000 ms)"));
  EXPECT_TRUE(check_times(read("[engine]\nmax_late_ms = 5001")->processor));
  EXPECT_TRUE(check_times(read("[engine]\nmax_late_ms = 0\nmax_ahead_ms = 0")->processor));
}

TEST(Config, MisspeltKeysAreErrors) {
  const auto options = read("[limits]\nmax_fram = 5\n");
  ASSERT_FALSE(options);
  EXPECT_THAT(options.error().message,
              HasSubstr(".toml:2:12: limits.max_fram: unknown key, did you mean 'max_frame'?"));
}

TEST(Config, WrongValuesAreErrors) {
  EXPECT_THAT(read("listen = 5").error().message, HasSubstr("listen: expected a string"));
  EXPECT_THAT(read("[limits]\nmax_rows = 'all'").error().message,
              HasSubstr("2:12: limits.max_rows: expected a number, 1 to 16777216"));
  EXPECT_THAT(read("rules = [1]").error().message, HasSubstr("list of strings"));
  EXPECT_THAT(read("limits = 1").error().message, HasSubstr("expected a table"));
  EXPECT_THAT(read("[log]\nlevel = 'loud'").error().message, HasSubstr("unknown log level 'loud'"));
  EXPECT_THAT(read("[cuda]\npage_events = 1000").error().message,
              HasSubstr("2:15: cuda.page_events: 'page_events=1000' is no option of CUDA"));
  EXPECT_THAT(read("[cuda]\nnegations = 'some'").error().message,
              HasSubstr("2:13: cuda.negations: 'negations=some' is no option of CUDA"));
  EXPECT_FALSE(read("listen = "));
}

TEST(Config, ANumberOutOfRangeIsAnErrorThatNamesKeyValueAndRange) {
  const std::pair<const char*, const char*> cases[] = {
      {"[limits]\nmax_frame = 1",
       "2:13: limits.max_frame: 1 is out of range, expected 1048576 to 1073741824"},
      {"[limits]\nmax_frame = 4294967296", "expected 1048576 to 1073741824"},
      {"[limits]\nmax_rows = -1", "limits.max_rows: -1 is out of range, expected 1 to 16777216"},
      {"[limits]\nmax_sessions = 0", "limits.max_sessions: 0 is out of range"},
      {"[limits]\nmax_subscriptions = 65537", "expected 1 to 65536"},
      {"[limits]\nqueue_bytes = 14", "limits.queue_bytes: 14 is out of range"},
      {"[limits]\noutbound_bytes = 16", "limits.outbound_bytes: 16 is out of range"},
      {"[limits]\nbatch_events = 0", "limits.batch_events: 0 is out of range"},
      {"[engine]\nthreads = 100000", "engine.threads: 100000 is out of range, expected 0 to 1024"},
      {"[engine]\nlateness_ms = -1", "engine.lateness_ms: -1 is out of range, expected 0 to"},
      {"[engine]\nmax_late_ms = 9223372036855", "expected 0 to 9223372036854"},
      {"greeting_timeout_ms = 0", "greeting_timeout_ms: 0 is out of range, expected 1 to 86400000"},
      {"drain_timeout_ms = 9223372036854775807", "expected 1 to 86400000"}};
  for (const auto& [text, message] : cases) {
    const auto options = read(text);
    ASSERT_FALSE(options) << text;
    EXPECT_THAT(options.error().message, HasSubstr(message));
  }
}

TEST(Config, TheDefaultsCanRun) { EXPECT_TRUE(check(ServerOptions())); }

TEST(Config, ANodeOfAClusterKeepsWhatItTakes) {
  auto options = *read("[cluster]\nname = 'plant'\nnode = 'north'\nbrokers = 'a:4222,b:4222'");
  EXPECT_EQ(options.cluster.brokers, "a:4222,b:4222");
  EXPECT_THAT(check(options).error().to_string(), HasSubstr("journal.path"));
  options.journal.path = "journal";
  EXPECT_THAT(check(options).error().to_string(), HasSubstr("backlog_policy = \"refuse\""));
  options.journal.backlog_policy = BacklogPolicy::refuse;
  EXPECT_TRUE(check(options));
  options.cluster.node = "north of here";
  EXPECT_THAT(check(options).error().message, HasSubstr("cluster.node: 'north of here'"));
  options.cluster.node = "north";
  options.cluster.brokers = "a";
  EXPECT_THAT(check(options).error().message, HasSubstr("cluster.brokers"));
  options.cluster.name = "";
  EXPECT_THAT(check(options).error().message, HasSubstr("says nothing without cluster.name"));
}

TEST(Config, LimitsThatContradictEachOtherAreErrors) {
  ServerOptions options;
  options.limits.queue_bytes = options.limits.max_frame - 1;
  EXPECT_THAT(check(options).error().message,
              HasSubstr("limits.queue_bytes = 16777215 is less than limits.max_frame = 16777216"));
  options = {};
  options.limits.outbound_bytes = options.limits.max_frame - 1;
  EXPECT_THAT(check(options).error().message, HasSubstr("limits.outbound_bytes = 16777215"));
  options.limits.max_frame = options.limits.outbound_bytes;
  EXPECT_TRUE(check(options));
}

TEST(Config, OriginsThatNoPageHasAreErrors) {
  ServerOptions options;
  options.http.origins = {"http://app.example", "https://[::1]:8443", "app://window"};
  EXPECT_TRUE(check(options));
  for (const char* origin : {"*", "app.example", "http://app.example/", "https://*.example",
                             "https://App.example", "https://", "://app"}) {
    options.http.origins = {origin};
    EXPECT_THAT(check(options).error().message, HasSubstr(origin));
  }
}

TEST(Config, TheEngineAndTheAddressAreChecked) {
  ServerOptions options;
  options.processor.engine = "warp";
  EXPECT_THAT(check(options).error().to_string(), HasSubstr("unknown engine 'warp' (one of auto"));
  options = {};
  options.listen = "127.0.0.1:99999";
  EXPECT_THAT(check(options).error().to_string(),
              HasSubstr("listen: '127.0.0.1:99999' is no address: '99999' is no port"));
}

TEST(Config, WhatIsPrintedIsReadAsTheSame) {
  ServerOptions options;
  options.listen = "[::1]:1";
  options.rules = {"a \"b\".tesla", "c"};
  options.limits.slow_consumer = SlowConsumer::drop;
  options.limits.max_rows = 5;
  options.processor.lateness = 7'000'000;
  options.security.insecure = true;
  options.log_level = LogLevel::off;
  options.cuda.emplace().memory = std::uint64_t{3} << 20;
  options.cuda->devices = {0, 2};
  const auto again = read(print_config(options));
  ASSERT_TRUE(again) << again.error().to_string();
  EXPECT_EQ(print_config(*again), print_config(options));
  EXPECT_NE(print_config(options), print_config(ServerOptions()));
  const auto defaults = read(print_config(ServerOptions()));
  ASSERT_TRUE(defaults);
  EXPECT_FALSE(defaults->cuda);
}

TEST(Config, TheDocsShowEveryKey) {
  std::ifstream file(GORGO_DOCS "/server.md");
  const std::string docs((std::istreambuf_iterator<char>(file)), {});
  EXPECT_THAT(docs, HasSubstr("```toml\n" + print_config(ServerOptions()) + "```\n"))
      << "put there what `gorgo serve --print-config` prints";
}

/// Sets a variable of the environment for as long as it lives.
class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name) { setenv(name, value, 1); }
  ~Variable() { unsetenv(name_); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  const char* name_;
};

TEST(Config, TheEnvironmentOverridesKeys) {
  const Variable listen("GORGO__LISTEN", "127.0.0.1:9");
  const Variable rows("GORGO__LIMITS__MAX_ROWS", "12");
  const Variable insecure("GORGO__SECURITY__INSECURE", "true");
  const Variable rules("GORGO__RULES", R"(["a", "b"])");
  const Variable memory("GORGO__CUDA__MEMORY", "2GiB");
  ServerOptions options;
  options.limits.max_rows = 5;
  const auto done = read_environment(options);
  ASSERT_TRUE(done) << done.error().to_string();
  EXPECT_EQ(options.listen, "127.0.0.1:9");
  EXPECT_EQ(options.limits.max_rows, 12u);
  EXPECT_TRUE(options.security.insecure);
  EXPECT_THAT(options.rules, ElementsAre("a", "b"));
  EXPECT_EQ(options.cuda->memory, std::uint64_t{2} << 30);
  const Variable one("GORGO__RULES", "my rules.tesla");
  ASSERT_TRUE(read_environment(options));
  EXPECT_THAT(options.rules, ElementsAre("my rules.tesla"));
}

TEST(Config, WrongVariablesAreErrors) {
  const std::pair<std::array<const char*, 2>, const char*> cases[] = {
      {{"GORGO__LIMITS__MAX_ROW", "1"}, "did you mean 'GORGO__LIMITS__MAX_ROWS'?"},
      {{"GORGO__LIMITS__MAX_ROWS", "1e3"}, "'1e3': expected a number, 1 to 16777216"},
      {{"GORGO__LIMITS__MAX_ROWS", "0"}, "GORGO__LIMITS__MAX_ROWS: 0 is out of range"},
      {{"GORGO__SECURITY__INSECURE", "yes"}, "'yes': expected true or false"},
      {{"GORGO__RULES", "[1]"}, "'[1]': expected a list of strings"},
      {{"GORGO__RULES", "["}, "'[': expected a list of strings"}};
  for (const auto& [set, message] : cases) {
    const Variable variable(set[0], set[1]);
    ServerOptions options;
    const auto done = read_environment(options);
    ASSERT_FALSE(done) << set[0];
    EXPECT_THAT(done.error().message, HasSubstr(message));
  }
}

TEST(Config, AMissingFileIsAnError) {
  ServerOptions options;
  EXPECT_FALSE(read_config("/nonexistent/gorgo.toml", options));
}

}  // namespace
}  // namespace gorgo::server
