#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <random>

#include "door_support.hpp"
#include "peer_support.hpp"
#include "postgres_support.hpp"

// The database is PostgreSQL as Debian has it.
namespace gorgo::postgres_door {
namespace {

using testing::HasSubstr;

class PostgresDoor : public testing::Test {
 protected:
  const Folder folder{"postgres"};

  void SetUp() override {
    ASSERT_EQ(access(GORGO_POSTGRES "/postgres", X_OK), 0)
        << "postgresql is missing; ./run deps installs it";
    fs::permissions(folder / "", fs::perms::all);
  }
  static std::string sink(const std::string& address, const std::string& more = "") {
    return "[doors.table]\nkind = \"postgres\"\nsubscribe = \"Echo\"\ntable = \"echoes\"\ndatabase "
           "= \""
           "host=127.0.0.1 user=gorgo dbname=postgres port=" +
           address.substr(address.rfind(':') + 1) + "\"\n" + more;
  }
  /// An event waits with this problem until the statement mends it.
  void check_that_it_waits(const Postgres& database, const std::string& problem,
                           const std::string& statement) {
    ServerWithDoors server(folder, sink(database.address()));
    begin_checks(server);
    auto client = server.client();
    ASSERT_TRUE(client.publish(std::vector<Event>{{"A", std::nullopt, {{"v", std::int64_t{7}}}}}));
    const auto door =
        wait_for_door(client, "table", [](const Door& seen) { return seen.state == "failing"; });
    EXPECT_THAT(door.problem, HasSubstr(problem));
    ask(database, statement);
    wait_for_door(client, "table", [](const Door& seen) { return seen.events == 1; });
    EXPECT_THAT(ask(database, "select v from echoes"), testing::ElementsAre("7"));
    EXPECT_EQ(server.stop(), 0);
  }
};

TEST_F(PostgresDoor, ColumnsTakeWhatEventsHave) {
  Postgres database(folder);
  ask(database,
      "create table echoes (id text, ts timestamptz, type text, v bigint, note text, attrs jsonb, "
      "doubled bigint generated always as (v * 2) stored, primary key (id, ts))");
  ServerWithDoors server(folder, sink(database.address()));
  begin_checks(server);
  auto client = server.client();
  ASSERT_TRUE(client.publish(std::vector<Event>{{"A", 1'000'000'000, {{"v", std::int64_t{7}}}}}));
  const Patience patience("for the row");
  std::vector<std::string> row;
  while (row.empty() && patience.lasts()) {
    row = ask(database,
              "select id, ts at time zone 'UTC', type, v, note is null, attrs->>'v', doubled from "
              "echoes");
  }
  EXPECT_THAT(row, testing::ElementsAre("1-1", "1970-01-01 00:00:01", "Echo", "7", "t", "7", "14"));
  EXPECT_EQ(server.stop(), 0);
}

TEST_F(PostgresDoor, AZeroByteIsABlankThere) {
  Postgres database(folder);
  ask(database, "create table echoes (id text primary key, type text, note text, attrs jsonb)");
  ServerWithDoors server(folder, sink(database.address()));
  auto client = server.client();
  ASSERT_TRUE(client.publish(
      std::vector<Event>{{"Echo", 1'000'000'000, {{"note", std::string("a\0b", 3)}}}}));
  const Patience patience("for the row");
  std::vector<std::string> row;
  while (row.empty() && patience.lasts()) {
    row = ask(database, "select note, attrs->>'note' from echoes");
  }
  EXPECT_THAT(row, testing::ElementsAre("a b", "a b"));
  EXPECT_EQ(server.stop(), 0);
}

/// The database says that the rows are inserted, and then that they are not.
TEST_F(PostgresDoor, WhatFailsAtTheCommitComesAgain) {
  Postgres database(folder);
  ask(database, "create table allowed (v bigint primary key)");
  ask(database,
      "create table echoes (id text primary key, v bigint references allowed (v) deferrable "
      "initially deferred)");
  check_that_it_waits(database, "violates foreign key constraint",
                      "insert into allowed values (7)");
}

TEST_F(PostgresDoor, AnEventThatDoesNotFitIsNamedWithItsColumn) {
  Postgres database(folder);
  ask(database, "create table echoes (id text primary key, note text, v boolean)");
  check_that_it_waits(database, "the event 1-1 does not fit into the column v",
                      "alter table echoes alter v type int using null");
}

TEST_F(PostgresDoor, ATableThatIsMissingIsWaitedFor) {
  Postgres database(folder);
  ask(database, "select 1");
  check_that_it_waits(database, "\"echoes\" does not exist",
                      "create table echoes (id text primary key, v int)");
}

TEST_F(PostgresDoor, TheTableHasEachEventOnceWhoeverIsKilled) {
  Postgres database(folder);
  ask(database,
      "create table echoes (n bigserial, id text, ts timestamptz, v bigint, primary key (id, ts))");
  Network network(database.address());
  ServerWithDoors server(folder, sink(network.address()));
  begin_checks(server);
  std::mt19937 random(static_cast<unsigned>(getpid()));
  const auto die = [&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20 + random() % 400));
    const auto victim = random() % 3;
    if (victim == 0) return network.cut();
    if (victim == 1) return server.kill_and_start();
    database.crash();
    database.start();
  };
  const auto count = [&] { return std::stoll(ask(database, "select count(*) from echoes").at(0)); };
  const auto last = check_numbers_leave(server, deaths(), die, count, [&] {
    std::vector<std::int64_t> numbers;
    for (const std::string& v : ask(database, "select v from echoes order by n")) {
      numbers.push_back(std::stoll(v) & 0xffffffff);
    }
    return numbers;
  });
  EXPECT_EQ(server.stop(), 0);
  std::printf("%lld events\n", static_cast<long long>(last));
}

TEST_F(PostgresDoor, ADatabaseIsKnownByItsCertificate) {
  make_certificates((folder / "").string());
  const auto path = [&](const std::string& name) { return (folder / name).string(); };
  const auto database_with = [&](const std::string& name) {
    if (geteuid() == 0) {
      EXPECT_EQ(chown((path(name) + ".key").c_str(), Postgres::kNobody, Postgres::kNobody), 0);
    }
    return Postgres(folder, {"-c", "ssl=on", "-c", "ssl_cert_file=" + path(name) + ".pem", "-c",
                             "ssl_key_file=" + path(name) + ".key"});
  };
  const auto trusting = [&](const Postgres& database, const std::string& name) {
    return sink(database.address(), "ca = \"" + path(name) + ".pem\"\n");
  };
  {
    const Postgres database = database_with("right");
    ask(database, "create table echoes (id text primary key, v int)");
    ServerWithDoors server(folder, trusting(database, "right"));
    begin_checks(server);
    auto client = server.client();
    const std::vector<Event> event{{"A", std::nullopt, {{"v", std::int64_t{7}}}}};
    ASSERT_TRUE(client.publish(event));
    wait_for_door(client, "table", [](const Door& door) { return door.events == 1; });
    EXPECT_EQ(server.stop(), 0);
  }
  {
    const Postgres database = database_with("right");
    expect_no_trust(folder, trusting(database, "other"), "table");
  }
  const Postgres database = database_with("stranger");
  expect_no_trust(folder, trusting(database, "stranger"), "table");
}

}  // namespace
}  // namespace gorgo::postgres_door
