#include <gmock/gmock.h>

#include "support.hpp"

// Several publishers share one clock and one order (language.md §8, §9).
namespace gorgo::server {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr const char* kCalmRule =
    "define Calm(area: string) from Smoke(area = $a) and not Temp(area = $a) within 30 ms after "
    "Smoke where area = Smoke.area;";

void publish(Client& client, const Event& event) {
  const auto published = client.publish(std::vector{event});
  ASSERT_TRUE(published) << published.error().to_string();
  ASSERT_EQ(published->accepted, 1u) << published->refusals.at(0).reason;
}

/// "TYPE@MILLISECONDS FIRST-ATTRIBUTE" of the next deliveries.
std::vector<std::string> received(Client& client, std::size_t count) {
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < count; ++i) {
    const Event event = next(client).event;
    lines.push_back(event.type + "@" + std::to_string(*event.timestamp / kMillisecond) + " " +
                    std::get<std::string>(event.attributes.at(0).value));
  }
  return lines;
}

class Publishers : public testing::Test {
 protected:
  Duration lateness = 0;
  std::optional<RunningServer> server;
  std::optional<Client> subscriber, one, other;

  void start(const std::string& rules, const std::string& subscription) {
    ServerOptions options;
    options.processor.lateness = lateness;
    server.emplace(options);
    subscriber.emplace(server->connect());
    one.emplace(server->connect());
    other.emplace(server->connect());
    if (!rules.empty()) deploy(*subscriber, rules);
    subscribe(*subscriber, subscription);
  }
};

TEST_F(Publishers, AnEventOfOnePassesTheDeadlinesOfTheOther) {
  start(kCalmRule, "*");
  publish(*one, smoke(10 * kMillisecond, "A1"));
  publish(*other, temp(39 * kMillisecond, "A2", 20));
  publish(*other, temp(41 * kMillisecond, "A1", 20));
  EXPECT_THAT(received(*subscriber, 4),
              ElementsAre("Smoke@10 A1", "Temp@39 A2", "Calm@40 A1", "Temp@41 A1"));
}

TEST_F(Publishers, AnEventOfOneInTimeForTheOthersDeadlinePreventsIt) {
  start(kCalmRule, "*");
  publish(*one, smoke(10 * kMillisecond, "A1"));
  publish(*one, smoke(11 * kMillisecond, "A2"));
  publish(*other, temp(39 * kMillisecond, "A1", 20));
  publish(*one, smoke(50 * kMillisecond, "A3"));
  EXPECT_THAT(received(*subscriber, 5),
              ElementsAre("Smoke@10 A1", "Smoke@11 A2", "Temp@39 A1", "Calm@41 A2", "Smoke@50 A3"));
}

TEST_F(Publishers, ATickOfOnePassesTheDeadlinesOfTheOther) {
  start(kCalmRule, "Calm");
  publish(*one, smoke(10 * kMillisecond, "A1"));
  ASSERT_TRUE(other->tick(39 * kMillisecond));
  EXPECT_EQ(subscriber->rules()->front().pending, 1u);
  ASSERT_TRUE(other->tick(40 * kMillisecond));
  EXPECT_THAT(received(*subscriber, 1), ElementsAre("Calm@40 A1"));
  // One's tick is behind the clock that the other moved: nothing comes of it.
  ASSERT_TRUE(one->tick(20 * kMillisecond));
  publish(*one, smoke(30 * kMillisecond, "A2"));
  EXPECT_EQ(subscriber->types()->front().late, 1u);
}

TEST_F(Publishers, OneIsLateByTheOthersClock) {
  start(
      "rule hot: define Hot(area: string) from Smoke(area = $a) and each Temp(area = $a) within "
      "30 ms from Smoke where area = Smoke.area; event Temp(area: string, value: float);",
      "*");
  publish(*one, temp(20 * kMillisecond, "A1", 20));
  publish(*one, smoke(40 * kMillisecond, "A1"));
  // Late, and evaluated at its own time: it sees what lies before that.
  publish(*other, smoke(30 * kMillisecond, "A1"));
  publish(*other, temp(35 * kMillisecond, "A1", 20));
  publish(*one, smoke(41 * kMillisecond, "A1"));
  EXPECT_THAT(received(*subscriber, 9),
              ElementsAre("Temp@20 A1", "Smoke@40 A1", "Hot@40 A1", "Smoke@30 A1", "Hot@30 A1",
                          "Temp@35 A1", "Smoke@41 A1", "Hot@41 A1", "Hot@41 A1"));
}

TEST_F(Publishers, LateEventsAreCountedByType) {
  start(kFireRule, "Fire");
  publish(*one, smoke(20 * kSecond, "A1"));
  publish(*other, temp(19 * kSecond, "A1", 20));
  publish(*other, temp(18 * kSecond, "A1", 20));
  publish(*other, smoke(10 * kSecond, "A1"));
  publish(*other, {"Unread", 19 * kSecond, {}});
  const auto refused = other->publish(std::vector<Event>{
      temp(10 * kSecond - 1, "A1", 20), {"Unread", 10 * kSecond - 1, {}}, {"Unheard", 1, {}}});
  ASSERT_TRUE(refused) << refused.error().to_string();
  ASSERT_EQ(refused->refused, 3u);
  EXPECT_THAT(refused->refusals[0].reason, HasSubstr("behind the clock"));
  std::vector<std::string> counts;
  for (const TypeInfo& type : *one->types()) {
    counts.push_back(type.name + " " + std::to_string(type.late) + " " +
                     std::to_string(type.too_late));
  }
  EXPECT_THAT(counts, ElementsAre("Smoke 1 0", "Temp 2 1", "Unread 0 0", " 1 2"));
}

TEST_F(Publishers, EqualTimestampsKeepTheOrderOfReceipt) {
  lateness = 10 * kMillisecond;
  start("", "*");
  publish(*one, smoke(20 * kMillisecond, "first"));
  publish(*other, smoke(20 * kMillisecond, "second"));
  publish(*one, smoke(20 * kMillisecond, "third"));
  publish(*other, smoke(15 * kMillisecond, "before"));
  publish(*other, smoke(30 * kMillisecond, "releases"));
  EXPECT_THAT(received(*subscriber, 4), ElementsAre("Smoke@15 before", "Smoke@20 first",
                                                    "Smoke@20 second", "Smoke@20 third"));
}

}  // namespace
}  // namespace gorgo::server
