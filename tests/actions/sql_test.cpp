#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "action_support.hpp"
#include "actions/sql.hpp"
#include "postgres_support.hpp"

// The database is PostgreSQL as Debian has it.
namespace gorgo::sql_action {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr const char* kRule = "define Echo(v: int) from A() where v = A.v execute sql(\"ops\");";

TEST(SqlStatement, NamesBecomeParameters) {
  const actions::SqlStatement statement(
      "update a set x = {area}, y = {v} where z = {area} and w = '{v}' and u = '{}'::jsonb || {");
  EXPECT_EQ(statement.text,
            "update a set x = $1, y = $2 where z = $1 and w = '{v}' and u = '{}'::jsonb || {");
  EXPECT_THAT(statement.names, ElementsAre("area", "v"));
}

class SqlAction : public testing::Test {
 protected:
  const Folder folder{"sql"};

  void SetUp() override {
    ASSERT_EQ(access(GORGO_POSTGRES "/postgres", X_OK), 0)
        << "postgresql is missing; ./run deps installs it";
    fs::permissions(folder / "", fs::perms::all);
  }
  static std::string target(const std::string& port, const std::string& statement) {
    return "[actions.ops]\nkind = \"sql\"\ndatabase = \"host=127.0.0.1 user=gorgo dbname=postgres "
           "port=" +
           port + "\"\nstatement = \"" + statement + "\"\n";
  }
};

TEST_F(SqlAction, TheStatementHasTheValuesOfTheEvent) {
  Postgres database(folder);
  ask(database, "create table seen (key text, id text, type text, at timestamptz, v int, w int)");
  ServerWithDoors server(
      folder, target(database.port(),
                     "insert into seen values ({key}, {id}, {type}, {time}, {v}, {missing})"));
  auto client = server.client();
  deploy(client, kRule);
  ASSERT_TRUE(client.publish(std::vector<Event>{{"A", 1'000'000'000, {{"v", std::int64_t{7}}}}}));
  wait_for_target(client, "ops", [](const ActionTarget& t) { return t.done == 1; });
  EXPECT_THAT(
      ask(database, "select key, id, type, extract(epoch from at)::int, v, w is null from seen"),
      ElementsAre("1-1/ops", "1-1", "Echo", "1", "7", "t"));
  EXPECT_THAT(ask(database, "select key from gorgo_actions"), ElementsAre("1-1/ops"));
}

TEST_F(SqlAction, WhatWillNeverDoIsADeadLetterAndHoldsUpNothing) {
  Postgres database(folder);
  ask(database, "create table small (v int check (v < 10))");
  ServerWithDoors server(folder, target(database.port(), "insert into small values ({v})"));
  auto client = server.client();
  deploy(client, kRule);
  for (const std::int64_t v : {1, 11, 2}) publish(client, v);
  const ActionTarget seen = wait_for_target(
      client, "ops", [](const ActionTarget& t) { return t.done == 2 && t.dead == 1; });
  EXPECT_EQ(seen.state, "running");
  EXPECT_THAT(ask(database, "select v from small order by v"), ElementsAre("1", "2"));
}

TEST_F(SqlAction, AStatementThatIsWrongIsTriedUntilItIsRight) {
  Postgres database(folder);
  ask(database, "select 1");
  ServerWithDoors server(folder, target(database.port(), "insert into later values ({v})"));
  auto client = server.client();
  deploy(client, kRule);
  publish(client, 1);
  const ActionTarget failing =
      wait_for_target(client, "ops", [](const ActionTarget& t) { return t.failures > 0; });
  EXPECT_THAT(failing.problem, HasSubstr("\"later\" does not exist"));
  ask(database, "create table later (v int)");
  wait_for_target(client, "ops", [](const ActionTarget& t) { return t.done == 1; });
}

TEST_F(SqlAction, EachStatementIsExecutedOnceWhoeverIsKilled) {
  Postgres database(folder);
  ask(database, "create table counts (v bigint primary key, n int)");
  ServerWithDoors server(
      folder, target(database.port(),
                     "insert into counts values ({v}, 1) on conflict (v) do update set "
                     "n = counts.n + 1") +
                  "[doors.in]\nkind = \"file\"\npath = \"" + (folder / "in.log").string() + "\"\n");
  {
    auto client = server.client();
    deploy(client, kRule);
  }
  std::mt19937 random(static_cast<unsigned>(getpid()));
  std::int64_t last = 0;
  for (int i = 0; i < 8; ++i) {
    {
      std::ofstream out(folder / "in.log", std::ios::app);
      for (int j = 0; j < 100; ++j) {
        out << R"({"type":"A","attrs":{"v":)" + std::to_string(++last) + "}}\n";
      }
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(20 + random() % 200));
    if (i % 3 == 2) {
      database.crash();
      database.start();
    } else {
      server.kill_and_start();
    }
  }
  const Patience patience("for all statements");
  const std::string all = std::to_string(last);
  while (ask(database, "select count(*) from counts") != std::vector<std::string>{all} &&
         patience.lasts()) {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  EXPECT_THAT(ask(database, "select count(*), sum(n), max(v) from counts"),
              ElementsAre(all, all, all));
}

}  // namespace
}  // namespace gorgo::sql_action
