#include <gmock/gmock.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <thread>

#include "process.hpp"
#include "support.hpp"

// A server with little memory and a rule that needs much.
namespace gorgo::server {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr std::size_t kLimit = std::size_t{256} << 20;
constexpr std::int64_t kEvents = 1000;

/// The first finds a million composites for an event A, of eight attributes each, all at once.
constexpr const char* kGreedyAndModest = R"(
rule greedy: define Greedy(a: int, b: int, c: int, d: int, e: int, f: int, g: int, h: int)
from A(much = true) and each B(n >= 0) as x within 1 h from A and each B(n >= 0) as y within 1 h from A
where a = x.n, b = y.n, c = x.n, d = y.n, e = x.n, f = y.n, g = x.n, h = y.n;
rule modest: define Modest(n: int, m: int)
from A([int]n >= 0) and last B(n >= 0) as b within 1 h from A where n = A.n, m = b.n;
)";

/// A client that waits for as long as an evaluation takes that is going to fail.
Client patient(const std::string& address) {
  auto client = Client::connect(address, {.timeout = 120 * kSecond});
  EXPECT_TRUE(client) << client.error().to_string();
  return std::move(*client);
}

/// Publishes events until each is accepted: where memory is short they are refused for a moment.
void publish_each(Client& client, const std::vector<Event>& events) {
  for (std::size_t next = 0; next < events.size();) {
    const auto end = std::min(next + 100, events.size());
    const auto published = client.publish(std::span(events).subspan(next, end - next));
    ASSERT_TRUE(published) << published.error().to_string();
    next += published->accepted;
    if (published->refused == 0) continue;
    EXPECT_THAT(published->refusals.front().reason, HasSubstr("short of memory"));
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
}

std::vector<std::string> counts_of(Client& client) {
  std::vector<std::string> list;
  for (const RuleInfo& rule : *client.rules()) {
    list.push_back(rule.name + " " + std::to_string(rule.terminators) + " " +
                   std::to_string(rule.composites) + " " + std::to_string(rule.passed_over));
  }
  return list;
}

/// What waits for the durable subscription, `count` events.
std::vector<std::string> delivered(Client& client, std::size_t count) {
  std::vector<std::string> list;
  while (list.size() < count) {
    const auto delivery = client.next(120 * kSecond);
    if (!delivery || !*delivery) {
      ADD_FAILURE() << list.size() << " of " << count << " came";
      break;
    }
    list.push_back(std::to_string((*delivery)->place.root) + " " +
                   std::to_string(std::get<std::int64_t>((*delivery)->event.attributes[0].value)));
  }
  return list;
}

TEST(StarvedRule, IsSuspendedAndTheOthersMissNothing) {
#ifdef GORGO_SANITIZED
  GTEST_SKIP() << "the address space cannot be limited under sanitizers";
#endif
  const auto folder = std::filesystem::path(testing::TempDir()) / "gorgo_starved_rule";
  std::filesystem::remove_all(folder);
  const std::vector<std::string> arguments = {"serve", "--listen", "127.0.0.1:0", "--journal",
                                              folder.string()};
  std::vector<Event> events;
  for (std::int64_t n = 0; n < kEvents; ++n) {
    events.push_back({"B", (n + 1) * kMillisecond, {{"n", n}}});
  }
  for (std::int64_t n = 0; n < 50; ++n) {
    events.push_back({"A", (kEvents + n + 1) * kMillisecond, {{"n", n}, {"much", n % 2 == 1}}});
  }
  std::vector<std::string> counts, expected;
  {
    Process server(arguments, kLimit);
    Client client = patient(address_in(server.out_line()));
    deploy(client, kGreedyAndModest);
    ASSERT_TRUE(client.subscribe("Modest", {.durable = "modest"}));
    publish_each(client, events);
    expected = delivered(client, 50);
    EXPECT_THAT(server.err_line("no memory to evaluate a rule"),
                AllOf(HasSubstr("rule=greedy"), HasSubstr("make its windows shorter")));
    counts = counts_of(client);
    EXPECT_EQ(client.rule("greedy")->passed_over, 25u);
    EXPECT_EQ(client.rule("modest")->composites, 50u);
    server.signal(SIGKILL);
    server.wait();
  }
  Process again(arguments);  // with more memory, in which the rule would find its composites
  Client client = patient(address_in(again.out_line()));
  EXPECT_EQ(counts_of(client), counts);
  ASSERT_TRUE(client.subscribe("Modest", {.durable = "modest"}));
  EXPECT_EQ(delivered(client, 50), expected);
  { const Client gone = std::move(client); }
  again.signal(SIGTERM);
  EXPECT_NE(again.err_line("stopped"), "");
  EXPECT_EQ(again.wait(), 0);
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace gorgo::server
