// Snapshots of a server, and what a start does with them.

#include <gmock/gmock.h>

#include <fstream>

#include "journal/recovery.hpp"
#include "journal/snapshot.hpp"
#include "recovery_support.hpp"

namespace gorgo::server {
namespace {

using testing::Gt;
using testing::HasSubstr;
using testing::SizeIs;

constexpr const char* kCounting =
    "event A(v: int); rule echo: define Echo(v: int, n: int) from A() "
    "where v = A.v, n = Count(A() within 1 h from A);";

class SnapshotTest : public RecoveryTest {
 protected:
  std::int64_t published_ = 0;

  void publish_some(Client& client) {
    std::vector<Event> events;
    for (int i = 0; i < 20; ++i) {
      ++published_;
      events.push_back({"A", published_ * kMillisecond, {{"v", published_}}});
    }
    // The disk sets the pace: it has to sync each of the small segments, so a snapshot would wait
    // for ever behind a faster one.
    const auto published = client.publish(events, {.acknowledge = Acknowledge::durable});
    ASSERT_TRUE(published) << published.error().to_string();
  }
  /// Publishes until the journal begins behind its first record, and copies it.
  fs::path trimmed_copy(const ServerOptions& options) {
    RunningServer server(options);
    Client client = server.connect();
    deploy(client, kCounting);
    const fs::path first = journal() / journal::segment_name(1);
    for (int i = 0; i < 100'000 && (i == 0 || fs::exists(first)); ++i) publish_some(client);
    EXPECT_FALSE(fs::exists(first));
    return crash(journal());
  }
  /// The next event finds all before it.
  void expect_whole(const fs::path& copy) {
    RunningServer server(options(copy));
    Client client = server.connect();
    ASSERT_TRUE(client.subscribe("Echo"));
    publish(client, std::vector<Event>{{"A", (published_ + 1) * kMillisecond, {{"v", 0L}}}});
    const auto echo = next(client);
    EXPECT_EQ(echo.place.root, static_cast<std::uint64_t>(published_) + 1);
    const Value counted = published_;
    EXPECT_EQ(echo.event.attributes.at(1).value, counted);
  }
  static Result<void> recover(const ServerOptions& options) {
    Log log(LogFormat::text, LogLevel::off);
    Server server(options, log);
    return server.recover();
  }

  static std::vector<journal::Place> snapshots(const fs::path& folder) {
    const auto disk = journal::make_posix_disk();
    return journal::snapshots_in(*disk, folder.string()).value();
  }
  static void damage(const fs::path& folder, journal::Place place) {
    const fs::path file = journal::snapshot_path(folder.string(), place);
    std::fstream stream(file, std::ios::in | std::ios::out | std::ios::binary);
    stream.seekp(static_cast<std::streamoff>(fs::file_size(file) / 2));
    stream << "damage";
  }
};

TEST_P(SnapshotTest, AStartFromATrimmedJournalFindsEverything) {
  const fs::path copy = trimmed_copy(options(journal()));
  EXPECT_THAT(snapshots(copy), SizeIs(testing::AllOf(Gt(0u), testing::Le(3u))));
  expect_whole(copy);
  expect_whole(crash(journal()));  // of the server that has ended
}

// A row has no window that says how long the journal is needed for.
TEST_P(SnapshotTest, RowsOfTablesOutliveTheJournalThatBroughtThem) {
  RunningServer server(options(journal()));
  Client client = server.connect();
  deploy(client,
         "table Limit(id: int key, most: int); event A(v: int); "
         "rule over: define Over(v: int, most: int) from A() and A.v > Limit(id = 1).most "
         "where v = A.v, most = Limit(id = 1).most;");
  publish(client, std::vector<Event>{{"Limit", ++published_, {{"id", 1L}, {"most", 7L}}},
                                     {"Limit", ++published_, {{"id", 1L}, {"most", 8L}}}});
  const fs::path first = journal() / journal::segment_name(1);
  for (int i = 0; i < 100'000 && (i == 0 || fs::exists(first)); ++i) publish_some(client);
  ASSERT_FALSE(fs::exists(first));
  RunningServer again(options(crash(journal())));
  Client other = again.connect();
  ASSERT_TRUE(other.subscribe("Over"));
  publish(other, std::vector<Event>{{"A", (published_ + 1) * kMillisecond, {{"v", 8L}}},
                                    {"A", (published_ + 2) * kMillisecond, {{"v", 9L}}}});
  const Event over = next(other).event;
  EXPECT_EQ(over.attributes.at(0).value, Value(std::int64_t{9}));
  EXPECT_EQ(over.attributes.at(1).value, Value(std::int64_t{8}));
}

TEST_P(SnapshotTest, ADamagedSnapshotIsPassedOverAndWithoutAnyTheStartIsRefused) {
  const fs::path copy = trimmed_copy(options(journal()));
  auto places = snapshots(copy);
  ASSERT_THAT(places, SizeIs(Gt(1u)));
  damage(copy, places[0]);
  expect_whole(crash(copy));
  for (const journal::Place place : places) damage(copy, place);
  const auto refused = recover(options(copy));
  ASSERT_TRUE(refused.has_error());
  EXPECT_THAT(refused.error().to_string(), HasSubstr("no snapshot tells what stood before"));
}

// As after a backup was put back over a folder in which newer snapshots were left.
TEST_P(SnapshotTest, ASnapshotAheadOfTheJournalIsRefused) {
  const fs::path copy = trimmed_copy(options(journal()));
  const journal::Place latest = snapshots(copy).front();
  const fs::path ahead = journal::snapshot_path(copy.string(), latest + 1'000'000);
  fs::copy_file(journal::snapshot_path(copy.string(), latest), ahead);
  const auto refused = recover(options(copy));
  ASSERT_TRUE(refused.has_error());
  EXPECT_THAT(refused.error().to_string(),
              HasSubstr(ahead.string() + " was made when it had more"));
  fs::remove(ahead);
  expect_whole(copy);
}

TEST_P(SnapshotTest, SnapshotsOfAnotherJournalDoNotStandForItsOwn) {
  const fs::path copy = trimmed_copy(options(journal()));
  {
    RunningServer server(options(copy));
    Client client = server.connect();
    const auto before = snapshots(copy);
    for (journal::Place more = 1; more <= 2; ++more) {
      fs::copy_file(journal::snapshot_path(copy.string(), before.front()),
                    journal::snapshot_path(copy.string(), before.front() + more * 1'000'000));
    }
    for (int i = 0; i < 100'000 && snapshots(copy).at(3) <= before.front(); ++i)
      publish_some(client);
  }
  for (const journal::Place foreign : {snapshots(copy).at(0), snapshots(copy).at(1)}) {
    fs::remove(journal::snapshot_path(copy.string(), foreign));
  }
  EXPECT_THAT(snapshots(copy), SizeIs(2));
  expect_whole(copy);
}

TEST_P(SnapshotTest, RecordsStayAsLongAsTheyAreToBeRetained) {
  ServerOptions options = this->options(journal());
  options.journal.retain_hours = 1;
  RunningServer server(options);
  Client client = server.connect();
  deploy(client, kCounting);
  for (int i = 0; i < 100'000 && snapshots(journal()).size() < 2; ++i) publish_some(client);
  const auto first = snapshots(journal()).front();
  for (int i = 0; i < 100'000 && snapshots(journal()).back() <= first; ++i) publish_some(client);
  EXPECT_TRUE(fs::exists(journal() / journal::segment_name(1)));
}

TEST_P(SnapshotTest, ABackupHasTheSnapshotsThatAStartNeeds) {
  const fs::path copy = trimmed_copy(options(journal()));
  const auto disk = journal::make_posix_disk();
  const fs::path backup = folder_ / "backup";
  const auto backed_up = journal::back_up(*disk, copy.string(), backup.string());
  ASSERT_TRUE(backed_up) << backed_up.error().to_string();
  expect_whole(backup);
}

TEST_P(SnapshotTest, OtherSettingsThanThoseOfTheSnapshotAreRefused) {
  ServerOptions other = options(trimmed_copy(options(journal())));
  other.journal.snapshot_bytes = 0;
  {
    RunningServer server(other);
    Client client = server.connect();
    publish_some(client);
  }
  other.processor.max_depth = 3;
  const auto refused = recover(other);
  ASSERT_TRUE(refused.has_error());
  EXPECT_THAT(refused.error().message, HasSubstr("engine.max_depth was 16"));
}

TEST_P(SnapshotTest, SettingsMayChangeWhereNothingIsToBeReplayed) {
  {
    RunningServer server(options(journal()));
    Client client = server.connect();
    deploy(client, kCounting);
    publish_some(client);
  }
  ServerOptions other = options(journal());
  other.processor.max_depth = 1;
  fs::path killed;
  {
    RunningServer server(other);
    Client client = server.connect();
    deploy(client, "rule deep: define Deep() from Echo();");
    ASSERT_TRUE(client.subscribe("*"));
    publish(client, std::vector<Event>{{"A", (published_ + 1) * kMillisecond, {{"v", 0L}}}});
    EXPECT_EQ(delivered(client).size(), 2u);  // A and Echo, which is as deep as may be
    killed = crash(journal());
  }
  other.journal.path = killed.string();
  EXPECT_TRUE(recover(other));
  other.processor.max_depth = 16;
  const auto refused = recover(other);
  ASSERT_TRUE(refused.has_error());
  EXPECT_THAT(refused.error().message, HasSubstr("engine.max_depth was 1 "));
}

TEST_P(SnapshotTest, AServerThatHasStoppedLeavesNothingToReplay) {
  {
    RunningServer server(options(journal()));
    Client client = server.connect();
    deploy(client, kCounting);
    publish_some(client);
  }
  const auto disk = journal::make_posix_disk();
  const auto opened = journal::Journal::open(*disk, crash(journal()).string());
  ASSERT_TRUE(opened);
  auto reader = (*opened)->read(snapshots(journal()).front());
  ASSERT_TRUE(reader);
  for (auto record = reader->next(); record && *record; record = reader->next()) {
    EXPECT_LT((*record)->kind, journal::kFirstKind) << journal::name_of((*record)->kind);
  }
  expect_whole(journal());
}

TEST_P(SnapshotTest, CountsOfWhatCameOutliveTheServer) {
  const auto counts = [](Client& client) {
    std::string text;
    const auto types = client.types();
    EXPECT_TRUE(types);
    for (const TypeInfo& type : *types) {
      text += type.name + " " + std::to_string(type.accepted) + " " +
              std::to_string(type.no_value) + " " + testing::PrintToString(type.unread_attributes) +
              "\n";
    }
    return text;
  };
  std::string before;
  {
    RunningServer server(options(journal()));
    Client client = server.connect();
    deploy(client, "define Echo(v: int) from A() where v = A.v;");
    publish(client, std::vector<Event>{{"A", kSecond, {{"x", 1L}}}, {"B", kSecond, {{"y", 1L}}}});
    before = counts(client);
  }
  RunningServer server(options(journal()));
  Client client = server.connect();
  EXPECT_EQ(counts(client), before);
  EXPECT_THAT(before, testing::AllOf(HasSubstr("A 1 1 { \"x\" }"), HasSubstr("B 1 0 { \"y\" }")));
}

TEST_P(SnapshotTest, ManyDeploymentsAndTheirHistoryOutliveTheServer) {
  constexpr std::size_t kDeployments = 60;
  const std::string comment = "// " + std::string(4000, 'x') + "\n";  // so they take several parts
  const auto name = [](std::size_t i) { return "d" + std::to_string(i) + ".tesla"; };
  {
    RunningServer server(options(journal()));
    Client client = server.connect();
    deploy(client, kCounting);
    for (std::size_t i = 0; i < kDeployments; ++i) {
      const std::string rule = "rule r" + std::to_string(i);
      const auto deployed =
          client.deploy(name(i), comment + rule + ": define R(v: int) from A() where v = A.v;");
      ASSERT_TRUE(deployed);
      ASSERT_FALSE(deployed->failed());
    }
    publish_some(client);
  }
  RunningServer server(options(journal()));
  Client client = server.connect();
  EXPECT_THAT(client.rules().value(), SizeIs(kDeployments + 1));
  const auto changes = client.rule_history().value();
  ASSERT_THAT(changes, SizeIs(kDeployments + 1));
  EXPECT_EQ(changes.back().name, name(kDeployments - 1));
  EXPECT_THAT(changes.back().text, testing::StartsWith(comment));
  for (std::size_t i = 0; i < kDeployments; ++i) EXPECT_TRUE(client.remove_deployment(name(i)));
  EXPECT_THAT(client.rules().value(), SizeIs(1));
}

INSTANTIATE_TEST_SUITE_P(Snapshots, SnapshotTest, testing::Values(2000), name_of_snapshots);

}  // namespace
}  // namespace gorgo::server
