#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "process.hpp"

/// Commands that ask a server, as a user sees them.
namespace gorgo {
namespace {

using testing::HasSubstr;

class ServerCommands : public testing::Test {
 protected:
  void SetUp() override { std::filesystem::create_directories(folder_); }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string write(const std::string& name, const std::string& text) {
    std::ofstream(folder_ / name) << text;
    return folder_ / name;
  }

  const std::filesystem::path folder_ =
      std::filesystem::path(testing::TempDir()) / ("gorgo_commands_" + std::to_string(getpid()));
};

/// Events at 0, at one minute twice, and at two minutes.
constexpr const char* kMinutes =
    "{\"type\":\"T\",\"ts\":0,\"attrs\":{\"n\":1}}\n"
    "{\"type\":\"T\",\"ts\":60000,\"attrs\":{\"n\":2}}\n"
    "{\"type\":\"T\",\"ts\":60000,\"attrs\":{\"n\":3}}\n"
    "{\"type\":\"T\",\"ts\":120000,\"attrs\":{\"n\":4}}\n";

/// The times of the next events that are printed, in milliseconds.
std::vector<double> times(Process& sub, int count) {
  std::vector<double> found;
  for (int i = 0; i < count; ++i) {
    found.push_back(nlohmann::json::parse(sub.out_line(), nullptr, false).value("ts", 0.0));
  }
  return found;
}

TEST_F(ServerCommands, ReplayAtManyTimesThePaceHappensNow) {
  Process server({"serve", "--listen", "127.0.0.1:0"});
  const std::string address = address_in(server.out_line());
  Process sub({"sub", "--to", address, "T", "--count", "4"});
  EXPECT_THAT(sub.err_line(), HasSubstr("subscribed"));
  Process replay({"replay", write("e.ndjson", kMinutes), "--to", address, "--speed", "600x",
                  "--shift-to", "now"});
  EXPECT_EQ(replay.err_line("sent"), "sent 4, accepted 4, refused 0, bad lines 0\n");
  EXPECT_EQ(replay.wait(), 0);
  const auto at = times(sub, 4);
  EXPECT_NEAR(at[1] - at[0], 100, 0.01) << "a minute is a tenth of a second";
  EXPECT_EQ(at[1], at[2]);
  EXPECT_NEAR(at[3] - at[2], 100, 0.01);
}

TEST_F(ServerCommands, ReplayAtFullSpeedHappensWhenItIsSent) {
  Process server({"serve", "--listen", "127.0.0.1:0"});
  const std::string address = address_in(server.out_line());
  Process stamped({"trace", "T(n=0)", "--to", address});
  EXPECT_EQ(stamped.wait(), 0);
  Process sub({"sub", "--to", address, "T", "--count", "4"});
  EXPECT_THAT(sub.err_line(), HasSubstr("subscribed"));
  Process replay({"replay", write("e.ndjson", kMinutes), "--to", address, "--speed", "max",
                  "--shift-to", "now"});
  EXPECT_EQ(replay.err_line("sent"), "sent 4, accepted 4, refused 0, bad lines 0\n");
  EXPECT_EQ(replay.wait(), 0);
  const auto at = times(sub, 4);
  EXPECT_LT(at[0], at[1]);
  EXPECT_EQ(at[1], at[2]) << "they share a time in the file";
  EXPECT_LT(at[2], at[3]);
}

TEST_F(ServerCommands, ASubscriberComesBackWithItsServerAndSaysWhereEventsMayBeMissing) {
  auto server =
      std::make_unique<Process>(std::vector<std::string>{"serve", "--listen", "127.0.0.1:0"});
  const std::string address = address_in(server->out_line());
  Process sub({"sub", "--to", address, "T", "--count", "2"});
  EXPECT_THAT(sub.err_line(), HasSubstr("subscribed"));
  const auto events = write("e.ndjson", "{\"type\":\"T\",\"ts\":1,\"attrs\":{}}\n");
  Process first({"pub", events, "--to", address});
  EXPECT_EQ(first.wait(), 0);
  EXPECT_THAT(sub.out_line(), HasSubstr("\"T\""));
  server.reset();
  EXPECT_THAT(sub.err_line(), HasSubstr("the connection is lost"));
  server = std::make_unique<Process>(std::vector<std::string>{"serve", "--listen", address});
  server->out_line();
  EXPECT_THAT(sub.err_line(), HasSubstr("connected again"));
  EXPECT_THAT(sub.err_line(), HasSubstr("gap: events may not have come"));
  Process second({"pub", events, "--to", address});
  EXPECT_EQ(second.wait(), 0);
  EXPECT_EQ(sub.wait(), 0);
}

TEST_F(ServerCommands, ADurableSubscriberGoesOnBehindWhatItPrintedThroughAKill) {
  const std::vector<std::string> with_journal = {"--journal", folder_ / "journal"};
  std::vector<std::string> serve = {"serve", "--listen", "127.0.0.1:0"};
  serve.insert(serve.end(), with_journal.begin(), with_journal.end());
  auto server = std::make_unique<Process>(serve);
  const std::string address = address_in(server->out_line());
  const auto publish = [&] {
    Process pub({"pub", write("e.ndjson", kMinutes), "--to", address, "--ack", "durable"});
    EXPECT_EQ(pub.wait(), 0);
  };
  Process sub({"sub", "--to", address, "T", "--durable", "billing", "--count", "6"});
  EXPECT_THAT(sub.err_line(), HasSubstr("subscribed"));
  publish();
  for (int n = 1; n <= 4; ++n) {
    EXPECT_THAT(sub.out_line(), HasSubstr("\"n\":" + std::to_string(n)));
  }
  server.reset();
  serve[2] = address;
  server = std::make_unique<Process>(serve);
  server->out_line();
  EXPECT_THAT(sub.err_line("connected again"), HasSubstr("connected again"));
  Process more({"pub",
                write("m.ndjson",
                      "{\"type\":\"T\",\"attrs\":{\"n\":5}}\n"
                      "{\"type\":\"T\",\"attrs\":{\"n\":6}}\n"
                      "{\"type\":\"T\",\"attrs\":{\"n\":7}}\n"),
                "--to", address, "--ack", "durable"});
  EXPECT_EQ(more.wait(), 0);
  EXPECT_THAT(sub.out_line(), HasSubstr("\"n\":5"));
  EXPECT_THAT(sub.out_line(), HasSubstr("\"n\":6"));
  EXPECT_EQ(sub.wait(), 0);
  Process rest({"sub", "--to", address, "T", "--durable", "billing", "--count", "1"});
  EXPECT_THAT(rest.out_line(), HasSubstr("\"n\":7"));
  EXPECT_EQ(rest.wait(), 0);
}

TEST_F(ServerCommands, TopPrintsOnceWhereNobodyLooks) {
  const auto rules = write("a.tesla", "define Hot() from Temp(value > 5);");
  Process server({"serve", "--listen", "127.0.0.1:0", "--rules", rules});
  const std::string address = address_in(server.out_line());
  Process text({"top", "--to", address, "--interval", "50ms"});
  EXPECT_THAT(text.out_line(), testing::StartsWith("events/s 0  refused/s 0  composites/s 0"));
  EXPECT_THAT(text.out_line(), testing::StartsWith("latency p50 -  p99 -  round trip "));
  EXPECT_THAT(text.out_line(), HasSubstr("rules 1  connections 1"));
  EXPECT_EQ(text.wait(), 0);
  Process json({"top", "--to", address, "--interval", "50ms", "--once", "--format", "json"});
  std::string all;
  for (std::string line = json.out_line(); !line.empty(); line = json.out_line()) all += line;
  EXPECT_EQ(json.wait(), 0);
  const auto view = nlohmann::json::parse(all);
  EXPECT_GE(view["seconds"], 0.05);
  EXPECT_EQ(view["rules"][0]["name"], "a.Hot");
  EXPECT_EQ(view["engines"][0]["rules"], 1);
  EXPECT_EQ(view["connections"][0]["name"], "gorgo top");
}

TEST_F(ServerCommands, PubPublishesTheRestOfAFileThatMayBeRepeated) {
  Process server({"serve", "--listen", "127.0.0.1:0"});
  const std::string address = address_in(server.out_line());
  const auto events = write("e.ndjson", kMinutes);
  for (const char* told : {"sent 4, accepted 4, refused 0, bad lines 0\n",
                           "sent 4, accepted 0, refused 0, bad lines 0\n"}) {
    Process pub(
        {"pub", events, "--to", address, "--producer", "7", "--sequence", "1", "--batch", "3"});
    EXPECT_EQ(pub.err_line("sent"), told);
    EXPECT_EQ(pub.wait(), 0);
  }
  Process unnumbered({"pub", events, "--to", address, "--producer", "7"});
  EXPECT_THAT(unnumbered.err_line(), HasSubstr("name the number of the first batch"));
  EXPECT_EQ(unnumbered.wait(), 2);
}

TEST_F(ServerCommands, PubNamesTheLineOfEachRefusalAmongManyBatches) {
  const auto rules = write("a.tesla", "event T(n: int);\ndefine U() from T();");
  Process server({"serve", "--listen", "127.0.0.1:0", "--rules", rules});
  const std::string address = address_in(server.out_line());
  std::string lines;
  for (int line = 1; line <= 2000; ++line) {
    lines += line == 1500 ? "{\"type\":\"T\",\"attrs\":{\"n\":\"x\"}}\n"
                          : "{\"type\":\"T\",\"attrs\":{\"n\":1}}\n";
  }
  Process pub({"pub", write("e.ndjson", lines), "--to", address, "--batch", "1"});
  EXPECT_THAT(pub.err_line(), testing::StartsWith("gorgo: line 1500 refused: "));
  EXPECT_EQ(pub.err_line("sent"), "sent 2000, accepted 1999, refused 1, bad lines 0\n");
  EXPECT_EQ(pub.wait(), 1);
}

TEST_F(ServerCommands, ASubscriberTellsNoticesAmongItsEventsWhereJsonIsAskedFor) {
  auto server =
      std::make_unique<Process>(std::vector<std::string>{"serve", "--listen", "127.0.0.1:0"});
  const std::string address = address_in(server->out_line());
  Process sub({"sub", "--to", address, "T", "--format", "json", "--output-times", "rfc3339"});
  EXPECT_THAT(sub.err_line(), HasSubstr("subscribed"));
  Process pub({"pub", write("e.ndjson", "{\"type\":\"T\",\"ts\":1000}\n"), "--to", address});
  EXPECT_EQ(pub.wait(), 0);
  EXPECT_EQ(sub.out_line(), "{\"type\":\"T\",\"ts\":\"1970-01-01T00:00:01Z\",\"attrs\":{}}\n");
  server.reset();
  const auto notice = [&] { return nlohmann::json::parse(sub.out_line(), nullptr, false); };
  const auto lost = notice();
  EXPECT_EQ(lost["notice"], "disconnected");
  EXPECT_NE(lost["reason"], "");
  server = std::make_unique<Process>(std::vector<std::string>{"serve", "--listen", address});
  EXPECT_EQ(notice()["notice"], "reconnected");
  const auto gap = notice();
  EXPECT_EQ(gap["notice"], "gap");
  EXPECT_TRUE(gap["lost"].is_null());
}

TEST_F(ServerCommands, TraceFollowsEachEventOfAFile) {
  const auto rules = write("a.tesla", "define Hot() from Temp(value > 5);");
  Process server({"serve", "--listen", "127.0.0.1:0", "--rules", rules});
  const std::string address = address_in(server.out_line());
  Process trace({"trace", "--events", write("e.csv", "value\n6\n4\n7\n"), "--input-format", "csv",
                 "--type", "Temp", "--to", address, "--format", "json"});
  for (const std::size_t composites : {1, 0, 1}) {
    const auto traced = nlohmann::json::parse(trace.out_line(), nullptr, false);
    EXPECT_EQ(traced["composites"].size(), composites);
  }
  EXPECT_EQ(trace.wait(), 0);
}

TEST_F(ServerCommands, DiffTellsWhatADeploymentOfAFileWouldChange) {
  const auto rules = write("a.tesla", "define Hot() from Temp(value > 5);\n");
  Process server({"serve", "--listen", "127.0.0.1:0"});
  const std::string address = address_in(server.out_line());
  Process deploy({"rules", "deploy", folder_, "--to", address});
  EXPECT_EQ(deploy.wait(), 0);
  const auto changed = write("b.tesla", "define Hot() from Temp(value > 6);\n");
  Process diff({"rules", "diff", rules, "--file", changed, "--to", address});
  EXPECT_THAT(diff.out_line(), testing::StartsWith("--- change 1, "));
  EXPECT_EQ(diff.out_line(), "+++ " + changed + "\n");
  EXPECT_EQ(diff.out_line(), "  - define Hot() from Temp(value > 5);\n");
  EXPECT_EQ(diff.out_line(), "  + define Hot() from Temp(value > 6);\n");
  EXPECT_EQ(diff.wait(), 0);
}

TEST_F(ServerCommands, TraceOfATypeThatNoRuleKnowsSaysSoAndSuggests) {
  const auto rules = write("a.tesla", "define Hot() from Temp(value > 5);");
  Process server({"serve", "--listen", "127.0.0.1:0", "--rules", rules});
  const std::string address = address_in(server.out_line());
  for (int i = 0; i < 2; ++i) {
    Process trace({"trace", "Tmp(value=6)", "--to", address});
    EXPECT_EQ(trace.err_line(),
              "gorgo: no rule of the server knows the type 'Tmp', did you mean 'Temp'?\n");
    EXPECT_EQ(trace.wait(), 0);
  }
  Process own({"sub", "gorgo.DeadLetter", "--to", address, "--timeout", "1ms"});
  EXPECT_THAT(own.err_line(), HasSubstr("subscribed at"));
}

}  // namespace
}  // namespace gorgo
