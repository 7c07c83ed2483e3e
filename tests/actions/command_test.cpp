#include "actions/command.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

namespace gorgo::actions {
namespace {

using testing::HasSubstr;
namespace fs = std::filesystem;

Order order(const std::string& area) {
  Event event{.type = "Fire", .timestamp = 1'000'000, .attributes = {}};
  event.attributes.push_back({"area", area});
  event.attributes.push_back({"heat", 46.5});
  return {{{{12, 1}, std::move(event)}}, "12-1/page"};
}

std::vector<Outcome> run(std::vector<std::string> program, const std::vector<Order>& orders,
                         std::int64_t timeout_ms = 60'000) {
  Settings settings;
  settings.kind = "command";
  settings.command = std::move(program);
  settings.timeout_ms = timeout_ms;
  Command command(settings);
  std::vector<const Order*> pointers;
  for (const Order& one : orders) pointers.push_back(&one);
  return command.attempt(pointers);
}

std::string content(const fs::path& path) {
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

TEST(CommandAction, ArgumentsAreFilledAndNeverReadByAShell) {
  const fs::path path = fs::path(testing::TempDir()) / ("args_" + std::to_string(getpid()));
  const std::string nasty = "A1; touch /tmp/x $(id) `id` \"'\n--flag {heat}";
  const auto outcomes =
      run({"/bin/sh", "-c",
           "printf '%s|' \"$@\" > " + path.string() + "; cat >> " + path.string() +
               "; printf '|%s' \"$GORGO_KEY\" >> " + path.string(),
           "sh", "{area}", "{type}-{heat}-{id}", "{none}", "{open"},
          {order(nasty)});
  ASSERT_EQ(outcomes.size(), 1u);
  EXPECT_EQ(outcomes[0].what, Outcome::What::done) << outcomes[0].problem;
  EXPECT_THAT(content(path),
              testing::StartsWith(nasty + "|Fire-46.5-12-1||{open|{\"id\":\"12-1\""));
  EXPECT_THAT(content(path), testing::EndsWith("}\n|12-1/page"));
  fs::remove(path);
}

TEST(CommandAction, AProgramHasNoneOfTheServersConnections) {
  const int connection = socket(AF_INET, SOCK_STREAM, 0);
  ASSERT_GT(connection, 2);
  const auto outcomes =
      run({"/bin/sh", "-c", "test ! -e /proc/$$/fd/" + std::to_string(connection)}, {order("A")});
  EXPECT_EQ(outcomes[0].what, Outcome::What::done) << outcomes[0].problem;
  close(connection);
}

TEST(CommandAction, AnythingButZeroIsAFailureWithWhatItSaid) {
  const auto outcomes = run({"/bin/sh", "-c", "echo the pager is off >&2; exit 3"}, {order("A")});
  EXPECT_EQ(outcomes[0].what, Outcome::What::failed);
  EXPECT_THAT(outcomes[0].problem, HasSubstr("code 3: the pager is off"));
  EXPECT_THAT(run({"/no/such/program"}, {order("A")})[0].problem, HasSubstr("/no/such/program"));
}

TEST(CommandAction, TakesNoLongerThanItMayWithAllThatItStarted) {
  const auto outcomes =
      run({"/bin/sh", "-c", "sleep 1000 & sleep 1000"}, {order("A"), order("B")}, 200);
  for (const Outcome& outcome : outcomes) {
    EXPECT_EQ(outcome.what, Outcome::What::failed);
    EXPECT_THAT(outcome.problem, HasSubstr("longer than timeout_ms"));
  }
}

TEST(CommandAction, ManyRunAtOnceAndKeepTheirOutcomes) {
  std::vector<Order> orders;
  for (int i = 0; i < 30; ++i) orders.push_back(order(std::to_string(i % 2)));
  const auto outcomes = run({"/bin/sh", "-c", "exit $1", "sh", "{area}"}, orders);
  ASSERT_EQ(outcomes.size(), 30u);
  for (std::size_t i = 0; i < 30; ++i) {
    EXPECT_EQ(outcomes[i].what, i % 2 == 0 ? Outcome::What::done : Outcome::What::failed);
  }
}

}  // namespace
}  // namespace gorgo::actions
