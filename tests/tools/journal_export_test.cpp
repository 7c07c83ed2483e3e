// gorgo journal export: what a server was sent becomes a rule test, which gorgo test runs.

#include <gmock/gmock.h>

#include <filesystem>

#include "command_line.hpp"

namespace gorgo::tools {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kExportedRules =
    "event Temp(area: string, value: float); event Smoke(area: string); event Noise(n: int);\n"
    "rule fire: define Fire(area: string, value: float)\n"
    "from Smoke(area = $a) and last Temp(area = $a and value > 45) within 5 min from Smoke\n"
    "where area = Smoke.area, value = Temp.value;\n"
    "rule quiet: define Quiet(area: string)\n"
    "from Smoke(area = $a) and not Temp(area = $a) within 2 s after Smoke\n"
    "where area = Smoke.area;\n";

std::string event_line(const std::string& type, long ts, const std::string& attributes) {
  return R"({"type":")" + type + R"(","ts":)" + std::to_string(ts) + R"(,"attrs":{)" + attributes +
         "}}\n";
}

class JournalExport : public CommandLine {
 protected:
  void SetUp() override {
    CommandLine::SetUp();
    write("fire.tesla", kExportedRules);
  }
  Background serve(const std::string& more = "") const {
    return start("serve --listen 127.0.0.1:0 --rules fire.tesla --journal journal --log-level off" +
                 more);
  }
  static std::string address(Background& server) {
    const std::string ready = server.line();
    return ready.substr(ready.rfind(' ') + 1);
  }
  void publish(const std::string& to, const std::string& lines, int batch = 2) const {
    write("events", lines);
    const auto published =
        run("pub events --ack durable --batch " + std::to_string(batch) + " --to " + to);
    ASSERT_THAT(published.err, HasSubstr("sent ")) << published.err;
  }
  void wait_for_record(const std::string& kind) const {
    const std::string wanted = "\"kind\": \"" + kind + "\"";
    while (run("journal dump journal --format json").out.find(wanted) == std::string::npos) {
    }
  }
};

TEST_F(JournalExport, WritesATestThatPassesAndThatAnotherRuleFails) {
  auto server = serve();
  // A slow server cuts a batch of several events into several records.
  const int batch = 1;
  publish(address(server),
          event_line("Temp", 1000, R"("area":"A","value":50.0)") +
              event_line("Temp", 400'000, R"("area":"A","value":46.0)") +
              event_line("Noise", 401'000, R"("n":1)") +
              event_line("Temp", 402'000, R"("area":"A","value":"none")") +
              event_line("Smoke", 404'000, R"("area":"A")") +
              event_line("Noise", 409'000, R"("n":2)") +
              event_line("Smoke", 3'404'000, R"("area":"A")"),
          batch);
  const auto exported = run("journal export journal --around 5 -o incident.test");
  EXPECT_EQ(exported.exit_code, 0) << exported.err;
  const std::string text = read("incident.test");
  EXPECT_THAT(text, HasSubstr("expect:\n"
                              "  @404000 Fire(area=\"A\", value=46.0)\n"
                              "  @406000 Quiet(area=\"A\")\n"));
  EXPECT_THAT(text, AllOf(Not(HasSubstr("@1000 ")), Not(HasSubstr("none")), Not(HasSubstr("340"))));
  const auto by_id = run("journal export journal --around 4-1 -o by_id.test");
  EXPECT_EQ(by_id.exit_code, 0) << by_id.err;
  EXPECT_EQ(by_id.err, "");
  EXPECT_EQ(run("journal export journal --around 4-0 -o published.test").err, "");
  EXPECT_EQ(run("journal export journal --around 6 -o by_place.test").exit_code, 0);
  const std::string same = read("by_id.test"), by_place = read("by_place.test");
  EXPECT_EQ(same.substr(same.find('\n')), by_place.substr(by_place.find('\n')));
  const auto passed = run("test incident.test");
  EXPECT_EQ(passed.exit_code, 0) << passed.out;
  std::string changed = text;
  changed.replace(changed.find("value > 45"), 10, "value > 48");
  write("changed.test", changed);
  const auto failed = run("test changed.test");
  EXPECT_EQ(failed.exit_code, 1);
  EXPECT_THAT(failed.out, HasSubstr("- @404000 Fire(area=\"A\", value=46.0)"));
}

TEST_F(JournalExport, EventsThatTheServerStampedGetItsClock) {
  auto server = serve();
  const std::string to = address(server);
  publish(to,
          "{\"type\":\"Temp\",\"attrs\":{\"area\":\"A\",\"value\":50.0}}\n"
          "{\"type\":\"Noise\",\"attrs\":{\"n\":1}}\n"
          "{\"type\":\"Smoke\",\"attrs\":{\"area\":\"A\"}}\n");
  const auto exported = run("journal export journal --around 4 -o incident.test");
  EXPECT_EQ(exported.exit_code, 0) << exported.err;
  EXPECT_THAT(read("incident.test"), AllOf(HasSubstr(" clock\n"), HasSubstr("Fire(area=\"A\"")));
  EXPECT_EQ(run("test incident.test").exit_code, 0);
}

TEST_F(JournalExport, RulesThatOnlyASnapshotHasAreFound) {
  write("gorgo.toml", "[journal]\nsnapshot_bytes = 4096\nsegment_bytes = 8192\n");
  auto server = serve(" --config gorgo.toml");
  const std::string to = address(server);
  const std::string first = testing::TempDir() +
                            "gorgo_RulesThatOnlyASnapshotHasAreFound/journal/" +
                            "00000000000000000001.journal";
  ASSERT_TRUE(std::filesystem::exists(first));
  long ts = 0;
  while (std::filesystem::exists(first)) {
    std::string lines;
    for (int i = 0; i < 100; ++i) {
      lines += event_line("Temp", ts += 1000, R"("area":"A","value":46.0)");
    }
    publish(to, lines);
  }
  publish(to, event_line("Smoke", ts, R"("area":"A")"));
  const auto dump = run("journal dump journal --format json").out;
  const auto last = dump.rfind("\"kind\": \"Frame\"");
  const auto place = dump.rfind("\"place\": ", last) + 9;
  const auto exported = run("journal export journal -o incident.test --around " +
                            dump.substr(place, dump.find(',', place) - place));
  EXPECT_EQ(exported.exit_code, 0) << exported.err;
  EXPECT_THAT(read("incident.test"), HasSubstr("Fire(area=\"A\", value=46.0)\n"));
  EXPECT_EQ(run("test incident.test").exit_code, 0);
  const auto trimmed = run("journal export journal --around 1-0 -o trimmed.test");
  EXPECT_EQ(trimmed.exit_code, 1);
  EXPECT_THAT(trimmed.err, AllOf(HasSubstr("because what stood before was trimmed, and event 1"),
                                 HasSubstr("-0 on or a place from "), Not(HasSubstr("restore"))));
}

TEST_F(JournalExport, AnEventIsFoundBehindWhatADurableSubscriptionAcknowledged) {
  auto server = serve();
  const std::string to = address(server);
  auto subscriber = start("sub Fire --durable billing --count 1 --to " + to);
  wait_for_record("Subscription");
  const std::string fire = event_line("Temp", 1000, R"("area":"A","value":50.0)") +
                           event_line("Smoke", 2000, R"("area":"A")");
  publish(to, fire);
  ASSERT_THAT(subscriber.line(), HasSubstr("Fire"));
  wait_for_record("Cursor");
  publish(to, event_line("Smoke", 3000, R"("area":"A")"));
  const auto exported = run("journal export journal --around 2-1 -o incident.test");
  EXPECT_EQ(exported.exit_code, 0) << exported.err;
  EXPECT_EQ(exported.err, "");
  const auto behind = run("journal export journal --around 3-1 -o behind.test");
  EXPECT_EQ(behind.exit_code, 0) << behind.err;
  EXPECT_THAT(read("behind.test"), HasSubstr("  @3000 Fire(area=\"A\", value=50.0)\n"));
}

TEST_F(JournalExport, SaysWhichRulesDependOnWhatIsNotInTheTest) {
  write("fire.tesla",
        "event Temp(value: int); @at_most(1, per = 1 h) define Rare(value: int) from Temp() "
        "where value = Temp.value; define Each(value: int) from Temp() where value = Temp.value;");
  auto server = serve();
  publish(address(server),
          event_line("Temp", 1000, R"("value":1)") + event_line("Temp", 3000000, R"("value":2)"),
          1);
  const auto all = run("journal export journal --around 1-0 -o all.test");
  EXPECT_EQ(all.exit_code, 0) << all.err;
  EXPECT_THAT(all.err, Not(HasSubstr("@at_most")));
  const auto late = run("journal export journal --around 2-0 -o late.test");
  EXPECT_EQ(late.exit_code, 0) << late.err;
  EXPECT_THAT(late.err, HasSubstr("the rules of `Rare` depend on what they produced"));
  EXPECT_THAT(read("late.test"), HasSubstr("Rare(value=2)"));
}

TEST_F(JournalExport, WrongUseIsNamed) {
  auto server = serve();
  publish(address(server), event_line("Noise", 1, R"("n":2)"));
  EXPECT_THAT(run("journal export journal --around 99 -o x.test").err,
              HasSubstr("the journal has no record at place 99"));
  EXPECT_THAT(run("journal export journal --around 1 -o x.test").err,
              HasSubstr("no event stands at place 1 or before it"));
  EXPECT_THAT(run("journal export journal --around 1-7 -o x.test").err,
              HasSubstr("no event has the id 1-7"));
  EXPECT_THAT(run("journal export journal --around 9-1 -o x.test").err,
              HasSubstr("no event of the journal is as late as 9"));
  EXPECT_THAT(run("journal export journal --around x -o x.test").err, HasSubstr("'x' is no place"));
  EXPECT_EQ(run("journal export journal -o x.test").exit_code, 2);
  EXPECT_EQ(run("journal export nowhere --around 1 -o x.test").exit_code, 1);
}

}  // namespace
}  // namespace gorgo::tools
