// gorgo backtest over the journal of a server, both run as a user runs them.

#include <gmock/gmock.h>

#include "command_line.hpp"
#include "journal/journal.hpp"
#include "journal/records.hpp"

namespace gorgo::tools {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr const char* kEvents = R"({"type":"Temp","ts":1000,"attrs":{"area":"A","value":46}})"
                                "\n"
                                R"({"type":"Temp","ts":2000,"attrs":{"area":"B","value":30}})"
                                "\n"
                                R"({"type":"Temp","ts":3000,"attrs":{"area":"A","value":"none"}})"
                                "\n"
                                R"({"type":"Smoke","ts":4000,"attrs":{"area":"A"}})"
                                "\n"
                                R"({"type":"Temp","ts":5000,"attrs":{"area":"B","value":50}})"
                                "\n";
constexpr const char* kTypes =
    "event Temp(area: string, value: float); event Smoke(area: string);\n";

class BacktestCommandTest : public CommandLine {
 protected:
  void SetUp() override {
    CommandLine::SetUp();
    write("deployed.tesla", std::string(kTypes) +
                                "rule hot: define Hot(area: string) "
                                "from Temp(value > 45) where area = Temp.area;");
    write("events", kEvents);
  }
  Background serve() const {
    return start(
        "serve --listen 127.0.0.1:0 --rules deployed.tesla --journal journal --log-level off");
  }
  /// One of the events is refused, and must stay so.
  void publish(Background& server) const {
    const std::string ready = server.line();
    const auto published =
        run("pub events --batch 2 --ack durable --to " + ready.substr(ready.rfind(' ') + 1));
    ASSERT_THAT(published.err, HasSubstr("refused")) << ready;
  }
};

std::int64_t time_of_writing = 0;

/// A server's journal again in the folder `aged`, with each record in a file of its own, as if the
/// last publication had come an hour ago, and each other one an hour before the next.
class AgedJournal : public BacktestCommandTest {
 protected:
  static constexpr std::int64_t kHour = 3'600'000'000'000;

  void SetUp() override {
    BacktestCommandTest::SetUp();
    auto server = serve();
    const std::string ready = server.line();
    write("events", kFourReadings);
    run("pub events --batch 1 --ack durable --to " + ready.substr(ready.rfind(' ') + 1));
    age();
  }

 private:
  static constexpr const char* kFourReadings =
      R"({"type":"Temp","ts":3600000,"attrs":{"area":"A","value":1}})"
      "\n"
      R"({"type":"Temp","ts":7200000,"attrs":{"area":"A","value":2}})"
      "\n"
      R"({"type":"Temp","ts":10800000,"attrs":{"area":"A","value":3}})"
      "\n"
      R"({"type":"Temp","ts":14400000,"attrs":{"area":"A","value":4}})"
      "\n";

  static std::string folder(const std::string& name) {
    return testing::TempDir() + "gorgo_" +
           testing::UnitTest::GetInstance()->current_test_info()->name() + "/" + name;
  }

  static void age() {
    const auto disk = journal::make_posix_disk();
    const auto found =
        journal::survey_beside_writer(*disk, folder("journal"), journal::Depth::tail);
    ASSERT_TRUE(found) << found.error().message;
    const std::int64_t begin = journal::now() - 5 * kHour;
    time_of_writing = begin;
    const auto aged = journal::Journal::open(
        *disk, folder("aged"), {.segment_bytes = 1, .clock = [] { return time_of_writing; }});
    ASSERT_TRUE(aged) << aged.error().message;
    journal::Reader reader(*disk, folder("journal"), found->segments, found->low, found->end);
    for (auto record = reader.next(); record && *record; record = reader.next()) {
      copy(**record, **aged);
    }
    ASSERT_TRUE((*aged)->close());
    ASSERT_EQ(time_of_writing, begin + 4 * kHour) << "not four publications";
  }

  static void copy(const journal::Record& record, journal::Journal& aged) {
    journal::Bytes rest = record.payload;
    std::vector<journal::Bytes> parts;
    journal::stored::Acceptance how;
    if (static_cast<journal::stored::Kind>(record.kind) == journal::stored::Kind::Frame) {
      const auto frame = journal::decode_frame(record.payload);
      ASSERT_TRUE(frame);
      time_of_writing += kHour;
      how = {time_of_writing, frame->acceptance.frame_at(), frame->acceptance.first_row(),
             frame->acceptance.rows()};
      parts.push_back(journal::bytes_of(how));
      rest = frame->frame;
    }
    parts.push_back(rest);
    ASSERT_TRUE(aged.append(record.kind, parts));
  }
};

constexpr const char* kWholeJournal = "--journal aged";
constexpr const char* kLastTwo = "--journal aged --since 9000s";

TEST_F(AgedJournal, SinceATimeIsPrintedWhatWasReceivedSince) {
  write("new.tesla",
        std::string(kTypes) + "define Seen(value: float) from Temp() where value = Temp.value;");
  EXPECT_EQ(run("backtest new.tesla " + std::string(kLastTwo)).out,
            "{\"type\":\"Seen\",\"ts\":10800000,\"attrs\":{\"value\":3.0}}\n"
            "{\"type\":\"Seen\",\"ts\":14400000,\"attrs\":{\"value\":4.0}}\n");
}

TEST_F(AgedJournal, WhatARuleProducedAndCountedBeforeIsKnownToIt) {
  write("new.tesla", std::string(kTypes) +
                         "@at_most(1, per = 2 h) define Rare(value: float) from Temp() "
                         "where value = Temp.value; "
                         "define Third(value: float) from every 3 Temp() "
                         "where value = Temp.value;");
  const std::string rare = "{\"type\":\"Rare\",\"ts\":10800000,\"attrs\":{\"value\":3.0}}\n",
                    third = "{\"type\":\"Third\",\"ts\":10800000,\"attrs\":{\"value\":3.0}}\n";
  EXPECT_EQ(run("backtest new.tesla " + std::string(kWholeJournal)).out,
            "{\"type\":\"Rare\",\"ts\":3600000,\"attrs\":{\"value\":1.0}}\n" + rare + third);
  EXPECT_EQ(run("backtest new.tesla " + std::string(kLastTwo)).out, rare + third);
}

TEST_F(BacktestCommandTest, PrintsWhatRulesWouldHaveDetected) {
  auto server = serve();
  publish(server);
  write("new.tesla", std::string(kTypes) +
                         "define Fire(area: string, value: float) from Smoke(area = $a) and last "
                         "Temp(area = $a) within 1 min from Smoke "
                         "where area = Smoke.area, value = Temp.value;");
  const auto tested = run("backtest new.tesla --journal journal --stats");
  EXPECT_EQ(tested.exit_code, 0) << tested.err;
  EXPECT_EQ(tested.out, R"({"type":"Fire","ts":4000,"attrs":{"area":"A","value":46.0}})"
                        "\n");
  EXPECT_THAT(tested.err, HasSubstr("4 events in "));
  EXPECT_EQ(run("backtest new.tesla --journal journal --since 1h").out, tested.out);
}

TEST_F(BacktestCommandTest, PrintsTheDifferencesToOtherRules) {
  auto server = serve();
  publish(server);
  write("new.tesla", std::string(kTypes) +
                         "rule hot: define Hot(area: string) from Temp(value < 48) "
                         "where area = Temp.area;");
  const auto tested = run("backtest new.tesla --against deployed.tesla --journal journal");
  EXPECT_EQ(tested.exit_code, 0) << tested.err;
  EXPECT_EQ(tested.out,
            "+ {\"type\":\"Hot\",\"ts\":2000,\"attrs\":{\"area\":\"B\"}}\n"
            "- {\"type\":\"Hot\",\"ts\":5000,\"attrs\":{\"area\":\"B\"}}\n");
  EXPECT_THAT(tested.err, HasSubstr("1 composites in both, 1 only with the other rules, "
                                    "1 only with these"));
}

TEST_F(BacktestCommandTest, WritesALineOfItsOutputAsATestOfTheNewRules) {
  auto server = serve();
  publish(server);
  write("new.tesla", std::string(kTypes) +
                         "const limit = 10.0; rule hot: define Hot(area: string, value: float) "
                         "from Smoke(area = $a) and last Temp(area = $a, value > limit) within 1 "
                         "min from Smoke where area = $a, value = Temp.value;");
  const auto tested =
      run("backtest new.tesla --journal journal --set limit=40.0 --case 1 -o hot.test");
  EXPECT_EQ(tested.exit_code, 0) << tested.err;
  EXPECT_THAT(tested.out, HasSubstr("hot.test: 4 events; `gorgo test hot.test` runs it"));
  const auto passed = run("test hot.test");
  EXPECT_EQ(passed.exit_code, 0) << passed.out << passed.err;
  const std::string text = read("hot.test");
  EXPECT_THAT(text, HasSubstr("const limit = 40.0;"));
  EXPECT_THAT(text, HasSubstr("@4000 Hot(area=\"A\", value=46.0)"));
  // The case of a difference: what the deployed rules gave and the new ones do not.
  EXPECT_EQ(run("backtest new.tesla --against deployed.tesla --journal journal --case 1 -o "
                "gone.test")
                .exit_code,
            0);
  EXPECT_EQ(run("test gone.test").exit_code, 0);
  const auto beyond = run("backtest new.tesla --journal journal --case 9 -o none.test");
  EXPECT_EQ(beyond.exit_code, 1);
  EXPECT_THAT(beyond.err, HasSubstr("its last one is 1"));
}

TEST_F(BacktestCommandTest, EventsThatTheRulesRefuseAreCounted) {
  auto server = serve();
  publish(server);
  write("new.tesla",
        "event Temp(area: string); define Any(area: string) from Temp() where area = Temp.area;");
  const auto tested = run("backtest new.tesla --journal journal");
  EXPECT_EQ(tested.exit_code, 0);
  EXPECT_THAT(tested.out, IsEmpty());
  EXPECT_THAT(tested.err, AllOf(HasSubstr("3 events that the server took are refused"),
                                HasSubstr("no attribute `value`")));
}

TEST_F(BacktestCommandTest, WrongUseIsNamed) {
  auto server = serve();
  publish(server);
  EXPECT_THAT(run("backtest deployed.tesla --journal nowhere").err, HasSubstr("nowhere"));
  EXPECT_EQ(run("backtest deployed.tesla").exit_code, 2);
  const auto only = run("backtest deployed.tesla --journal journal --only Hut");
  EXPECT_EQ(only.exit_code, 1);
  EXPECT_THAT(only.err, HasSubstr("did you mean 'Hot'?"));
}

}  // namespace
}  // namespace gorgo::tools
