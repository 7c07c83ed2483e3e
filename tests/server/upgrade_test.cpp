// This program goes on from what earlier versions of it have written: tests/server/fixtures has,
// for each of them, the journal and the snapshots of a server that was killed, and those of one
// that had suspended rules. GORGO_RECORD=FOLDER has the tests write what this version leaves.

#include <gmock/gmock.h>

#include <array>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <random>

#include "journal/snapshot.hpp"
#include "recovery_support.hpp"

namespace gorgo::server {
namespace {

// They remember in every way in which a rule can: windows, consumed events, deadlines, timers.
constexpr const char* kRecordedRules = R"(
event A(k: int, v: int);
event B(k: int, text: string);
rule pair:
define Pair(k: int, v: int, text: string)
from   B(k = $k) and each A(k = $k and v > 20) within 3 s from B
where  k = B.k and v = A.v and text = B.text
consuming A;
rule silence:
define Silence(k: int)
from   A(k = $k) and not B(k = $k) within 2 s after A
where  k = A.k;
rule load:
define Load(n: int, mean: float)
from   Timer(every = 1 s)
where  n = COUNT(A() within 5 s from Timer) and mean = AVG(A().v within 5 s from Timer);
)";
constexpr const char* kLaterRecordedRules =
    "rule loud: define Loud(v: int) from Pair(v > 50) where v = Pair.v;";

/// The second one has packed records.
constexpr std::array kRecorded = {"version_1", "version_1_packed"};

/// These events never change, because the recorded journals have them.
std::vector<Event> recorded_events() {
  std::mt19937_64 random(1);
  std::vector<Event> events;
  Timestamp now = 1'700'000'000 * kSecond;
  for (int i = 0; i < 240; ++i) {
    now += static_cast<Duration>(random() % 400) * kMillisecond;
    const auto k = static_cast<std::int64_t>(random() % 4);
    const auto v = static_cast<std::int64_t>(random() % 100);
    if (random() % 3 == 0) {
      events.push_back({"B", now, {{"k", k}, {"text", "text " + std::to_string(v)}}});
    } else {
      events.push_back({"A", now, {{"k", k}, {"v", v}}});
    }
  }
  return events;
}

class UpgradeTest : public RecoveryTest {
 protected:
  /// What every server of a journal was sent. `durable`: it has one.
  static void begin(Client& client, bool durable) {
    deploy(client, kRecordedRules);
    const auto all = recorded_events();
    publish(client, std::span(all).first(80));
    ASSERT_TRUE(client.deploy("later.tesla", kLaterRecordedRules, {}));
    ASSERT_TRUE(client.declare("Unread", {{"x", ValueType::integer}}));
    if (durable) {
      ASSERT_TRUE(client.subscribe("Loud", {.durable = "billing"}));
    }
    publish(client, std::span(all).subspan(80, 80));
  }
  static std::vector<std::string> go_on(RunningServer& server) {
    Client client = server.connect();
    subscribe_all(client);
    const auto all = recorded_events();
    publish(client, std::span(all).subspan(160));
    return delivered(client);
  }
  fs::path copy(const std::string& recorded) const {
    fs::path copy = folder_ / recorded;
    fs::copy(fs::path(GORGO_FIXTURES) / recorded, copy, fs::copy_options::recursive);
    return copy;
  }
  /// Kills the server and keeps what it leaves, as `recorded`.
  void keep(const fs::path& recorded) {
    wait_until([this] {
      return std::ranges::any_of(files_of(journal()),
                                 [](const auto& name) { return name.starts_with("snapshot-"); });
    });
    const fs::path left = crash(journal());
    fs::remove(left / "lock");
    fs::remove(left / "unfinished-snapshot");
    fs::copy(left, recorded, fs::copy_options::recursive);
  }
  /// `journal`: a copy of what was recorded, from which some may have gone.
  void expect_to_go_on(const fs::path& journal) {
    ServerOptions without = options({});
    without.journal = {};
    RunningServer steady(without);
    {
      Client client = steady.connect();
      begin(client, false);
    }
    const auto expected = go_on(steady);
    ASSERT_GT(expected.size(), 100u);

    testing::internal::CaptureStderr();
    {
      RunningServer upgraded(options(journal), LogLevel::error);
      EXPECT_EQ(go_on(upgraded), expected);
      Client client = upgraded.connect();
      const auto rules = client.rules();
      ASSERT_TRUE(rules);
      EXPECT_EQ(rules->size(), 4u);
      const auto again = client.subscribe("Loud", {.durable = "billing"});
      ASSERT_TRUE(again && !again->diagnostics.failed());
      EXPECT_EQ(next(client).event.type, "Loud");
    }
    EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  }
};

TEST_P(UpgradeTest, AServerGoesOnFromWhatAnEarlierVersionHasWritten) {
  for (const char* const recorded : kRecorded) expect_to_go_on(copy(recorded));
}

TEST_P(UpgradeTest, ItReplaysTheJournalWhereTheSnapshotHasGone) {
  for (const char* const recorded : kRecorded) {
    const fs::path journal = copy(recorded);
    const auto disk = journal::make_posix_disk();
    for (const auto place : journal::snapshots_in(*disk, journal.string()).value()) {
      fs::remove(journal::snapshot_path(journal.string(), place));
    }
    expect_to_go_on(journal);
  }
}

/// A text of a value that does not depend on the version of GoogleTest, as a recorded one must not.
std::string recorded_value(const Value& value) {
  if (const auto* number = std::get_if<std::int64_t>(&value)) return std::to_string(*number);
  if (const auto* number = std::get_if<double>(&value)) return std::to_string(*number);
  return std::get<std::string>(value);
}

/// What the clients of a server with suspended rules see: its rules, then what is delivered.
std::string seen_of_suspended(Client& client) {
  std::string text;
  std::uint64_t composites = 0;
  for (const RuleInfo& rule : *client.rules()) {
    composites += rule.composites;
    text += rule.name + " terminators=" + std::to_string(rule.terminators) +
            " composites=" + std::to_string(rule.composites) +
            " passed_over=" + std::to_string(rule.passed_over) +
            (rule.suspended ? " suspended" : "") + "\n";
  }
  for (std::uint64_t i = 0; i < composites; ++i)
    text += text_of(next(client), recorded_value) + "\n";
  return text;
}

// When a rule was suspended depends on the speed of the machine at that time, so only the journal
// knows what the rule passed over.
TEST_P(UpgradeTest, RulesPassOverWhatAnEarlierVersionHadThemPassOver) {
  const fs::path journal = copy("version_1_suspended");
  std::ifstream file(fs::path(GORGO_FIXTURES) / "version_1_suspended.txt");
  const std::string expected(std::istreambuf_iterator<char>(file), {});
  ASSERT_THAT(expected, AllOf(HasSubstr(" suspended\n"), HasSubstr(" Pair@")));
  RunningServer server(options(journal));
  Client client = server.connect();
  const auto subscribed = client.subscribe("*", {.durable = "all"});
  ASSERT_TRUE(subscribed && !subscribed->diagnostics.failed());
  EXPECT_EQ(seen_of_suspended(client), expected);
}

TEST_P(UpgradeTest, WhatThisVersionWritesCanBeRecorded) {
  const char* target = std::getenv("GORGO_RECORD");
  if (target == nullptr) GTEST_SKIP() << "GORGO_RECORD names no folder";
  RunningServer server(options(journal()));
  Client client = server.connect();
  begin(client, true);
  keep(target);
  ASSERT_GT(files_of(target).size(), 2u);
}

TEST_P(UpgradeTest, WhatThisVersionWritesOfSuspendedRulesCanBeRecorded) {
  const char* target = std::getenv("GORGO_RECORD");
  if (target == nullptr) GTEST_SKIP() << "GORGO_RECORD names no folder";
  ServerOptions with = options(journal());
  with.processor.max_rule_time = 12'000;  // of a second, so that rules run at first
  RunningServer server(with);
  Client client = server.connect();
  deploy(client, kRecordedRules);
  ASSERT_TRUE(client.subscribe("*", {.durable = "all"}));
  const auto all = recorded_events();
  publish(client, all, 3);
  std::ofstream(target + std::string("_suspended.txt")) << seen_of_suspended(client);
  keep(target + std::string("_suspended"));
}

INSTANTIATE_TEST_SUITE_P(Version1, UpgradeTest, testing::Values(8000), name_of_snapshots);

}  // namespace
}  // namespace gorgo::server
