#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "gorgo/client.hpp"
#include "http_support.hpp"
#include "process.hpp"
#include "serve_support.hpp"

// What the real binary takes over while it runs, by SIGHUP and over HTTP.
namespace gorgo {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

TEST_F(Serve, ReadsItsRulesAgainOnSighup) {
  write("a.tesla",
        "rule one: define C(v: int) from A(v = 1) where v = A.v;"
        "rule two: define C(v: int) from A(v = 2) where v = A.v;");
  write("b.tesla", "rule three: define D(v: int) from B(v = 1) where v = B.v;");
  write("notes.txt", "no rules");
  Process server({"serve", "--listen", "127.0.0.1:0", "--rules", folder_.string()});
  auto client = Client::connect(address_in(server.out_line()));
  ASSERT_TRUE(client) << client.error().to_string();
  EXPECT_THAT(names(*client), testing::ElementsAre("one", "two", "three"));

  // `two` goes, `four` comes, a broken file keeps its rule, and the next reading takes it away.
  write("a.tesla",
        "rule one: define C(v: int) from A(v = 5) where v = A.v;"
        "rule four: define C(v: int) from A(v = 4) where v = A.v;");
  write("b.tesla", "rule three: define");
  server.signal(SIGHUP);
  EXPECT_THAT(server.err_line("rule file not deployed"), HasSubstr("b.tesla:1:"));
  EXPECT_THAT(server.err_line("rules read again"), HasSubstr("removed=1"));
  EXPECT_THAT(names(*client), testing::UnorderedElementsAre("one", "four", "three"));
  EXPECT_THAT(client->rule("one")->text, HasSubstr("v = 5"));

  fs::remove(folder_ / "b.tesla");
  server.signal(SIGHUP);
  EXPECT_THAT(server.err_line("rules read again"), HasSubstr("removed=1"));
  EXPECT_THAT(names(*client), testing::UnorderedElementsAre("one", "four"));
}

/// Asks for the rules to be read again; the first line of the log that is an error.
std::string error_of_reading_again(Process& server) {
  server.signal(SIGHUP);
  return server.err_line(" error ");
}

TEST_F(Serve, TakesAChangedConfigurationOverOnSighup) {
  const auto one = write("one.tesla", "event B(x: int); rule one: define A() from B();");
  const auto two = write("two.tesla", "event B(x: int); rule two: define A() from B();");
  const auto config = [&](const std::string& rules, const std::string& more) {
    return write("gorgo.toml", "listen = \"127.0.0.1:0\"\nrules = [\"" + rules + "\"]\n" + more);
  };
  Process server({"serve", "--config", config(one, "")});
  const std::string address = address_in(server.out_line());
  auto client = Client::connect(address);
  ASSERT_TRUE(client) << client.error().to_string();
  EXPECT_THAT(names(*client), testing::ElementsAre("one"));

  config(two, "[limits]\nmax_sessions = 1\nreserved_sessions = 0\n");
  server.signal(SIGHUP);
  const auto told = server.err_line("the configuration is reloaded");
  EXPECT_THAT(told, HasSubstr("limits.max_sessions: 1000 -> 1"));
  EXPECT_THAT(told, HasSubstr("two.tesla"));
  EXPECT_NE(server.err_line("rules read again"), "");
  EXPECT_THAT(names(*client), testing::ElementsAre("two"));
  const auto refused = Client::connect(address);
  EXPECT_THAT(refused.error().to_string(), HasSubstr("its limit"));
}

TEST_F(Serve, TakesNothingOverWhereSomethingNeedsARestart) {
  const auto one = write("one.tesla", "event B(x: int); rule one: define A() from B();");
  const std::string rules = "rules = [\"" + one + "\"]\n";
  const auto config = write("gorgo.toml", "listen = \"127.0.0.1:0\"\n" + rules);
  Process server({"serve", "--config", config});
  auto client = Client::connect(address_in(server.out_line()));
  ASSERT_TRUE(client) << client.error().to_string();
  write("gorgo.toml", "[limits]\nmax_sessions = 1\nmax_rows = 7\n");
  server.signal(SIGHUP);
  EXPECT_THAT(server.err_line("needs a restart"),
              testing::AllOf(HasSubstr("127.0.0.1:7450"), HasSubstr("limits.max_rows: 65536 -> 7"),
                             testing::Not(HasSubstr("max_sessions"))));
  write("gorgo.toml", "[limits]\nmax_sessions = \"none\"\n");
  server.signal(SIGHUP);
  EXPECT_THAT(server.err_line("is not reloaded"),
              HasSubstr("limits.max_sessions: expected a number"));
  EXPECT_THAT(names(*client), testing::ElementsAre("one"));
  write("gorgo.toml", "listen = \"127.0.0.1:0\"\n" + rules);
  server.signal(SIGHUP);
  EXPECT_NE(server.err_line("rules read again"), "");
}

TEST_F(Serve, SaysOverHttpWhatAReloadHasChangedAndWhatIsWrong) {
  const auto config = write("gorgo.toml", "[limits]\nmax_sessions = 7\n");
  Process server({"serve", "--listen", "127.0.0.1:0", "--http", "127.0.0.1:0", "--config", config});
  server.out_line();
  const std::string line = server.out_line();
  server::HttpConnection http(line.substr(8, line.size() - 9));
  write("gorgo.toml", "[limits]\nmax_sessions = 8\n");
  const auto taken = http.ask("POST", "/v1/reload");
  EXPECT_EQ(taken.status, 200u) << taken.body;
  EXPECT_EQ(taken.json()["changed"][0], "limits.max_sessions: 7 -> 8");
  write("gorgo.toml", "[limits]\nmax_sessions = 9\nmax_rows = 7\n");
  const auto fixed = http.ask("POST", "/v1/reload");
  EXPECT_EQ(fixed.status, 422u);
  EXPECT_THAT(fixed.json()["reason"].get<std::string>(),
              HasSubstr("needs a restart: limits.max_rows: 65536 -> 7"));
  write("gorgo.toml", "[limits]\nmax_row = 7\n");
  EXPECT_EQ(http.ask("POST", "/v1/reload").status, 422u);
  write("gorgo.toml", "[limits]\nmax_sessions = 8\n");
  EXPECT_THAT(http.ask("POST", "/v1/reload").json()["changed"], testing::IsEmpty());
}

TEST_F(Serve, KeepsItsRulesWhenAFileCannotBeReadOnSighup) {
  write("a.tesla", "rule one: define C(v: int) from A(v = 1) where v = A.v;");
  const auto b = write("b.tesla", "rule two: define D(v: int) from B(v = 1) where v = B.v;");
  Process server({"serve", "--listen", "127.0.0.1:0", "--rules", folder_.string()});
  auto client = Client::connect(address_in(server.out_line()));
  ASSERT_TRUE(client) << client.error().to_string();

  fs::remove(b);
  ASSERT_EQ(mkfifo(b.c_str(), 0600), 0);
  EXPECT_THAT(error_of_reading_again(server), HasSubstr("b.tesla: it is no regular file"));
  fs::remove(b);
  fs::create_directory(b);
  EXPECT_THAT(error_of_reading_again(server), HasSubstr("b.tesla: it is a folder"));
  fs::remove(b);
  fs::create_symlink("nowhere", b);
  EXPECT_THAT(error_of_reading_again(server), HasSubstr("behind the link to nowhere"));
  EXPECT_THAT(server.err_line("rules read again"), HasSubstr("removed=0"));
  EXPECT_THAT(names(*client), testing::ElementsAre("one", "two"));
  server.signal(SIGTERM);
  EXPECT_EQ(server.wait(), 0);
}

TEST_F(Serve, KeepsItsRulesWhenTheirFolderIsAwayOnSighup) {
  const auto rules = folder_ / "rules";
  fs::create_directory(rules);
  write("rules/a.tesla", "rule one: define C(v: int) from A(v = 1) where v = A.v;");
  write("rules/b.tesla", "rule two: define C(v: int) from A(v = 2) where v = A.v;");
  Process server({"serve", "--listen", "127.0.0.1:0", "--rules", rules.string()});
  auto client = Client::connect(address_in(server.out_line()));
  ASSERT_TRUE(client) << client.error().to_string();

  fs::rename(rules, folder_ / "away");
  EXPECT_THAT(error_of_reading_again(server), HasSubstr("rules: No such file"));
  fs::create_directory(rules);
  EXPECT_THAT(error_of_reading_again(server), HasSubstr("no *.tesla file is left in"));
  EXPECT_THAT(names(*client), testing::ElementsAre("one", "two"));

  write("rules/a.tesla", "");
  server.signal(SIGHUP);
  EXPECT_THAT(server.err_line("has left its folder"), HasSubstr("b.tesla"));
  EXPECT_NE(server.err_line("removed=2"), "");
  EXPECT_THAT(names(*client), testing::IsEmpty());
}

}  // namespace
}  // namespace gorgo
