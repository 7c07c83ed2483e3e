// A server that was killed goes on as if nothing had happened. The journal is copied while the
// server runs, which is what a kill leaves: everything that was written, and nothing of what is in
// memory.

#include <gmock/gmock.h>

#include <array>
#include <fstream>
#include <random>

#include "journal/journal.hpp"
#include "journal/records.hpp"
#include "recovery_support.hpp"

namespace gorgo::server {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// Those of the others, and two that count their terminators.
const std::string kCountingRules = std::string(kRules) + R"(
rule seventh:
define Seventh(k: int, v: int)
from   every 7 A(v > 5)
where  k = A.k and v = A.v;
rule of_key:
define OfKey(k: int, v: int)
from   every 11 B() per k
where  k = B.k and v = B.v;
)";

TEST_P(RecoveryTest, AKilledServerGoesOnAsIfNothingHadHappened) {
  const auto events = random_events(600, 1);
  const auto half = std::span(events).first(300), rest = std::span(events).subspan(300);

  ServerOptions without = options({});
  without.journal = {};
  RunningServer steady(without);
  Client steady_client = steady.connect();
  deploy(steady_client, kCountingRules);
  publish(steady_client, half);
  subscribe_all(steady_client);
  publish(steady_client, rest);
  const auto expected = delivered(steady_client);
  EXPECT_GT(expected.size(), 400u);

  RunningServer killed(options(journal()));
  Client before = killed.connect();
  deploy(before, kCountingRules);
  publish(before, half, 11);
  RunningServer again(options(crash(journal())));
  Client after = again.connect();
  subscribe_all(after);
  publish(after, rest, 5);
  EXPECT_EQ(delivered(after), expected);
}

TEST_P(RecoveryTest, EventsThatLatenessHoldsAreHeldAgain) {
  const auto events = random_events(300, 2);
  const auto half = std::span(events).first(150), rest = std::span(events).subspan(150);
  ServerOptions without = options({});
  without.journal = {};
  without.processor.lateness = 2 * kSecond;
  ServerOptions with = options(journal());
  with.processor.lateness = 2 * kSecond;
  const auto accepted = [](Client& client, std::span<const Event> some) {
    const auto published = client.publish(some);
    ASSERT_TRUE(published) << published.error().to_string();
  };
  RunningServer steady(without);
  Client steady_client = steady.connect();
  deploy(steady_client, kRules);
  accepted(steady_client, half);
  subscribe_all(steady_client);
  accepted(steady_client, rest);
  steady.stop();

  RunningServer killed(with);
  Client before = killed.connect();
  deploy(before, kRules);
  accepted(before, half);
  with.journal.path = crash(journal()).string();
  RunningServer again(with);
  Client after = again.connect();
  subscribe_all(after);
  accepted(after, rest);
  again.stop();
  const auto expected = all_delivered(steady_client);
  EXPECT_GT(expected.size(), 150u);
  EXPECT_EQ(all_delivered(after), expected);
}

TEST_P(RecoveryTest, RulesTypesAndPinsComeBackWithTheirDeployments) {
  fs::path copy;
  {
    RunningServer server(options(journal()));
    Client client = server.connect();
    deploy(client, kRules);
    ASSERT_TRUE(client.declare("Declared", {{"x", ValueType::integer}}));
    ASSERT_TRUE(client.pin("echo", "column-scan"));
    ASSERT_TRUE(client.remove("silence"));
    copy = crash(journal());
  }
  RunningServer again(options(copy));
  Client client = again.connect();
  const auto rules = client.rules();
  ASSERT_TRUE(rules) << rules.error().to_string();
  std::vector<std::string> names;
  for (const RuleInfo& rule : *rules) names.push_back(rule.name + " " + rule.engine);
  EXPECT_THAT(names, testing::Contains("echo column-scan"));
  EXPECT_EQ(names.size(), 3u);
  const auto wrong = client.publish(std::vector<Event>{{"Declared", 1, {{"y", std::int64_t(1)}}}});
  ASSERT_TRUE(wrong);
  EXPECT_EQ(wrong->refused, 1u);
  EXPECT_TRUE(client.remove("test.tesla"));
  EXPECT_THAT(*client.rules(), IsEmpty());
}

TEST_P(RecoveryTest, RuleFilesThatHaveNotChangedKeepTheirState) {
  const fs::path file = folder_ / "rules.tesla";
  std::ofstream(file) << kRules;
  const auto events = random_events(200, 3);
  const auto start = [&](const fs::path& journal) {
    ServerOptions with = options(journal);
    with.rules = {file.string()};
    return with;
  };
  const auto serials = [](Client& client) {
    std::map<std::string, std::uint64_t> composites;
    for (const RuleInfo& rule : *client.rules()) composites[rule.name] = rule.composites;
    return composites;
  };
  fs::path copy;
  std::map<std::string, std::uint64_t> before;
  {
    Log log(LogFormat::text, LogLevel::off);
    Server probe(start(folder_ / "probe"), log);
    ASSERT_TRUE(probe.recover());
    ASSERT_FALSE(probe.load_rules().failed());
  }
  {
    RunningServer server(start(journal()), LogLevel::off, true);
    Client client = server.connect();
    publish(client, events);
    before = serials(client);
    EXPECT_GT(before["pair"], 0u);
    copy = crash(journal());
  }
  {
    RunningServer again(start(copy), LogLevel::off, true);
    Client client = again.connect();
    EXPECT_EQ(serials(client), before);
  }
  std::ofstream(file) << kFireRule;
  RunningServer changed(start(copy), LogLevel::off, true);
  Client client = changed.connect();
  const auto now = serials(client);
  EXPECT_EQ(now.size(), 1u);
  EXPECT_TRUE(now.contains("fire_last"));
}

TEST_P(RecoveryTest, WhatARepeatedPublicationCarriedIsAppliedOnce) {
  fs::path copy;
  const auto frame = publish_frame(3, {temp(1, "a", 50)}, 77, 5, wire::AckMode::Durable);
  {
    RunningServer server(options(journal()));
    RawConnection raw(server->address());
    raw.greet();
    raw.send(frame);
    EXPECT_EQ(raw.expect<wire::Ack>(3).accepted, 1u);
    copy = crash(journal());
  }
  RunningServer again(options(copy));
  RawConnection raw(again->address());
  raw.greet();
  raw.send(frame);
  EXPECT_TRUE(raw.expect<wire::Ack>(3).duplicate);
}

TEST_P(RecoveryTest, RefusedRowsStayRefused) {
  const auto run = [&](Client& client) {
    const auto published =
        client.publish(std::vector<Event>{temp(kSecond, "a", 50),
                                          {"Temp", kSecond, {{"area", std::int64_t(3)}}},
                                          temp(2 * kSecond, "a", 60),
                                          temp(-100 * kSecond, "a", 70),
                                          smoke(3 * kSecond, "a")});
    ASSERT_TRUE(published);
    EXPECT_EQ(published->refused, 2u);
  };
  fs::path copy;
  std::vector<std::string> expected;
  {
    RunningServer server(options(journal()));
    Client client = server.connect();
    deploy(client, kFireRule);
    run(client);
    copy = crash(journal());
    subscribe_all(client);
    publish(client, std::vector<Event>{smoke(4 * kSecond, "a")});
    expected = delivered(client);
  }
  RunningServer again(options(copy));
  Client client = again.connect();
  subscribe_all(client);
  publish(client, std::vector<Event>{smoke(4 * kSecond, "a")});
  EXPECT_EQ(delivered(client), expected);
  EXPECT_EQ(expected.size(), 2u);
}

// Rows of a large publication are taken in pieces. A crash between them takes the rest as well.
TEST_P(RecoveryTest, APublicationOfWhichSomeRowsWereTakenIsTakenWhole) {
  std::vector<Event> events;
  for (int i = 0; i < 60'000; ++i) events.push_back(temp(kSecond + i, "area", i));
  fs::path copy;
  {
    RunningServer server(options(journal()));
    RawConnection raw(server->address());
    raw.greet();
    raw.send(publish_frame(3, events, 9, 1));
    // Copies the journal when it has the first piece.
    while (true) {
      copy = crash(journal());
      const auto disk = journal::make_posix_disk();
      auto opened = journal::Journal::open(*disk, copy.string());
      ASSERT_TRUE(opened) << opened.error().to_string();
      if ((*opened)->end() > 2) break;
      opened->reset();
      fs::remove_all(copy);
    }
    raw.expect<wire::Ack>(3);
  }
  RunningServer again(options(copy));
  RawConnection asking(again->address());
  asking.greet();
  asking.send(4, wire::AskStatisticsT());
  const auto statistics = asking.expect<wire::Statistics>(4);
  const auto accepted = std::ranges::find(statistics.list, "events_accepted",
                                          [](const auto& statistic) { return statistic->name; });
  ASSERT_NE(accepted, statistics.list.end());
  EXPECT_EQ((*accepted)->value, events.size());
}

TEST_P(RecoveryTest, ServerStampsComeBack) {
  fs::path copy;
  ServerOptions with = options(journal());
  with.processor.clock = [now = std::make_shared<Timestamp>(kSecond)] { return *now += 1000; };
  {
    RunningServer server(with);
    Client client = server.connect();
    deploy(client, kFireRule);
    publish(client, std::vector<Event>{temp(std::nullopt, "a", 50), temp(std::nullopt, "a", 60)});
    copy = crash(journal());
  }
  with.journal.path = copy.string();
  with.processor.clock = [] { return 2 * kSecond; };
  RunningServer again(with);
  Client client = again.connect();
  subscribe_all(client);
  publish(client, std::vector<Event>{smoke(std::nullopt, "a")});
  const auto list = delivered(client);
  ASSERT_EQ(list.size(), 2u);
  EXPECT_THAT(list[0], HasSubstr("3-0 Smoke"));
  EXPECT_THAT(list[1], HasSubstr("3-1 Fire"));
}

// Which rules are suspended when depends on the processor's speed, so only the journal can tell.
TEST_P(RecoveryTest, SuspendedRulesPassOverTheSameTerminators) {
  const auto events = random_events(600, 7);
  ServerOptions with = options(journal());
  with.processor.max_rule_time = 1;
  const auto counted = [](Client& client) {
    std::vector<std::string> list;
    for (const RuleInfo& rule : *client.rules()) {
      list.push_back(rule.name + " " + std::to_string(rule.terminators) + " " +
                     std::to_string(rule.composites) + " " + std::to_string(rule.passed_over) +
                     (rule.suspended ? " suspended" : ""));
    }
    return list;
  };
  RunningServer killed(with);
  Client before = killed.connect();
  deploy(before, kRules);
  ASSERT_TRUE(before.subscribe("Pair", {.durable = "pairs"}));
  publish(before, events);
  const auto statistics = counted(before);
  const auto expected = delivered(before);
  const std::uint64_t passed_over = before.rules()->front().passed_over;
  EXPECT_GT(passed_over, 0u);
  with.journal.path = crash(journal()).string();
  with.processor.max_rule_time = 0;  // what was decided stays decided
  RunningServer again(with);
  Client after = again.connect();
  EXPECT_EQ(counted(after), statistics);
  ASSERT_TRUE(after.subscribe("Pair", {.durable = "pairs"}));
  EXPECT_EQ(delivered(after), expected);
  publish(after, std::vector<Event>{events.back()});
  for (const RuleInfo& rule : *after.rules()) EXPECT_FALSE(rule.suspended);
  EXPECT_EQ(after.rules()->front().passed_over, passed_over);
}

TEST_P(RecoveryTest, ACleanEndIsGoneOnFrom) {
  const auto events = random_events(300, 4);
  {
    RunningServer server(options(journal()));
    Client client = server.connect();
    deploy(client, kRules);
    publish(client, std::span(events).first(200));
  }
  for (int i = 0; i < 3; ++i) {
    RunningServer again(options(journal()));
    Client client = again.connect();
    publish(client, std::span(events).subspan(200 + i * 20, 20));
  }
}

TEST_P(RecoveryTest, OtherSettingsAreRefusedByName) {
  ServerOptions other = options({}), first = options(journal());
  first.journal.snapshot_bytes = 0;  // a snapshot of everything would leave nothing to replay
  {
    RunningServer server(first);
    Client client = server.connect();
    deploy(client, kRules);
    other.journal.path = crash(journal()).string();
  }
  other.processor.lateness = kSecond;
  Log log(LogFormat::text, LogLevel::off);
  Server server(other, log);
  const auto recovered = server.recover();
  ASSERT_FALSE(recovered);
  EXPECT_THAT(recovered.error().message, HasSubstr("engine.lateness_ms was 0"));
}

/// They stand in the journal like all input, because rules read them.
TEST_P(RecoveryTest, TheServersOwnEventsComeBackAsTheyWere) {
  ServerOptions often = options(journal());
  often.operations.statistics = std::chrono::milliseconds(5);
  std::uint64_t delivered = 0;
  {
    RunningServer server(often);
    Client client = server.connect();
    deploy(client,
           "rule watch: define Watched(n: int) from gorgo.Stats(accepted >= 0)"
           " where n = gorgo.Stats.accepted;");
    ASSERT_TRUE(client.subscribe("Watched"));
    for (; delivered < 5; ++delivered) ASSERT_TRUE(client.next(30 * kSecond));
    server.stop();
    delivered += all_delivered(client).size();
  }
  testing::internal::CaptureStderr();
  often.operations.statistics = std::chrono::hours(1);
  {
    RunningServer again(often, LogLevel::error);
    Client client = again.connect();
    const auto rule = client.rule("watch");
    ASSERT_TRUE(rule);
    EXPECT_GE(rule->composites, delivered) << "the first may have come before the subscription";
  }
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST_P(RecoveryTest, OtherResultsThanThoseOfTheJournalAreTold) {
  {
    RunningServer server(options(journal()));
    Client client = server.connect();
    deploy(client, kRules);
    publish(client, random_events(50, 3));
  }
  const auto said_at_start = [this] {
    testing::internal::CaptureStderr();
    { RunningServer server(options(journal()), LogLevel::error); }
    return testing::internal::GetCapturedStderr();
  };
  EXPECT_THAT(said_at_start(), testing::Not(HasSubstr("other results")));
  {
    const auto disk = journal::make_posix_disk();
    const auto opened = journal::Journal::open(*disk, journal().string());
    ASSERT_TRUE(opened);
    journal::stored::ResultsT other;
    other.next_root = 51;
    other.composites = 1;
    const auto bytes = journal::encode<journal::stored::Results>(other);
    const std::array<journal::Bytes, 1> parts = {bytes};
    ASSERT_TRUE(
        (*opened)->append(static_cast<std::uint16_t>(journal::stored::Kind::Results), parts));
    ASSERT_TRUE((*opened)->close());
  }
  EXPECT_THAT(said_at_start(), HasSubstr("this program gives other results than the one"));
}

TEST_P(RecoveryTest, WhatAStopHasGivenUpIsNotTakenForOtherResults) {
  {
    RunningServer server(options(journal()));
    Client client = server.connect();
    deploy(client,
           "define O(t: string) from B() and each A(t = $t) as x within 1 min from B"
           "  and not C(t contains $t) within 1 min from x where t = x.t;");
    const auto fill = [&](const char* type, Timestamp at, std::size_t count, const char* text) {
      const auto published =
          client.publish(std::vector<Event>(count, Event{type, at, {{"t", std::string(text)}}}));
      ASSERT_TRUE(published) << published.error().to_string();
    };
    fill("C", 1, 1'500, "nothing that is looked for stands in this text");
    fill("A", 2, 1'500, "needle");
    fill("B", 3, 1, "");
    server->stop();
    server->stop();
  }
  testing::internal::CaptureStderr();
  { RunningServer server(options(journal()), LogLevel::error); }
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST_P(RecoveryTest, WhatWasDroppedBeforeAStartIsNoNewsBehindIt) {
  ServerOptions few = options(journal());
  few.processor.max_composites = 1;
  testing::internal::CaptureStderr();
  {
    RunningServer server(few, LogLevel::warning);
    Client client = server.connect();
    deploy(client,
           "define D(k: int) from B() and each A(k = $k) as a within 1 min from B where k = a.k;");
    publish(client, std::vector<Event>{{"A", 1, {{"k", std::int64_t(1)}}},
                                       {"A", 2, {{"k", std::int64_t(2)}}},
                                       {"B", 3, {}}});
  }
  EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr("composites dropped"));
  testing::internal::CaptureStderr();
  {
    RunningServer server(few, LogLevel::warning);
    Client client = server.connect();
    publish(client, std::vector<Event>{{"C", 4, {}}});
  }
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST_P(RecoveryTest, WithoutAJournalNothingIsDurable) {
  ServerOptions without;
  RunningServer server(without);
  Client client = server.connect();
  const auto published = client.publish(std::vector<Event>{temp(std::nullopt, "a", 1)},
                                        {.acknowledge = Acknowledge::durable});
  ASSERT_FALSE(published);
  EXPECT_THAT(published.error().to_string(), HasSubstr("--journal"));
}

INSTANTIATE_TEST_SUITE_P(Snapshots, RecoveryTest, testing::Values(0, 1), name_of_snapshots);

}  // namespace
}  // namespace gorgo::server
