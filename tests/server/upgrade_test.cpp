// This program goes on from what earlier versions of it have written: tests/server/fixtures has,
// for each of them, the journal and the snapshots of a server that was killed. GORGO_RECORD=FOLDER
// has the test write what this version leaves.

#include <gmock/gmock.h>

#include <cstdlib>
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
  fs::path copy() const {
    fs::path copy = folder_ / "copy";
    fs::copy(fs::path(GORGO_FIXTURES) / "version_1", copy, fs::copy_options::recursive);
    return copy;
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

TEST_P(UpgradeTest, AServerGoesOnFromWhatAnEarlierVersionHasWritten) { expect_to_go_on(copy()); }

TEST_P(UpgradeTest, ItReplaysTheJournalWhereTheSnapshotHasGone) {
  const fs::path journal = copy();
  const auto disk = journal::make_posix_disk();
  for (const auto place : journal::snapshots_in(*disk, journal.string()).value()) {
    fs::remove(journal::snapshot_path(journal.string(), place));
  }
  expect_to_go_on(journal);
}

TEST_P(UpgradeTest, WhatThisVersionWritesCanBeRecorded) {
  const char* target = std::getenv("GORGO_RECORD");
  if (target == nullptr) GTEST_SKIP() << "GORGO_RECORD names no folder";
  RunningServer server(options(journal()));
  Client client = server.connect();
  begin(client, true);
  const fs::path left = crash(journal());
  ASSERT_GT(files_of(left).size(), 2u);
  fs::remove(left / "lock");
  fs::remove(left / "unfinished-snapshot");
  fs::copy(left, target, fs::copy_options::recursive);
}

INSTANTIATE_TEST_SUITE_P(Version1, UpgradeTest, testing::Values(8000), name_of_snapshots);

}  // namespace
}  // namespace gorgo::server
