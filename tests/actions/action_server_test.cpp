#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>

#include "action_support.hpp"
#include "support.hpp"

namespace gorgo {
namespace {

using testing::Contains;
using testing::Each;
using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;

std::string text_in(const Event& event, const std::string& name) {
  for (const Attribute& attribute : event.attributes) {
    if (attribute.name == name) return std::get<std::string>(attribute.value);
  }
  return "";
}

void wait_for_posts(const Receiver& receiver, std::size_t posts) {
  const Patience patience("for " + std::to_string(posts) + " posts");
  while (receiver.posts().size() < posts && patience.lasts()) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
}

TEST(Actions, AWebhookIsSignedAndHasTheEvent) {
  const Folder folder("webhook");
  folder.write("secret", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw\n");
  const Receiver receiver(folder);
  ServerWithDoors server(
      folder, webhook(receiver, "secret_file = \"" + (folder / "secret").string() + "\"\n"));
  auto client = server.client();
  deploy(client,
         "event A(v: int); define Other(v: int) from A() where v = A.v;" + std::string(kEchoOps));
  publish(client, 7);
  publish(client, 8);
  const ActionTarget target =
      wait_for_target(client, "ops", [](const ActionTarget& t) { return t.done == 2; });
  EXPECT_EQ(target.state, "running");
  const auto posts = receiver.posts();
  ASSERT_EQ(posts.size(), 2u);
  EXPECT_THAT(posts, Each(Field(&Receiver::Post::verdict, "signed")));
  EXPECT_THAT(posts, Contains(Field(&Receiver::Post::body, HasSubstr("\"attrs\":{\"v\":7}"))));
  EXPECT_THAT(posts, Each(Field(&Receiver::Post::id, testing::EndsWith("/ops"))));
  EXPECT_THAT(posts,
              Each(Field(&Receiver::Post::body, HasSubstr(R"({"type":"Echo","timestamp":"20)"))));
  EXPECT_EQ(server.stop(), 0);
}

TEST(Actions, AnAnswerWithoutEndIsOne) {
  const Folder folder("endless_answer");
  folder.write("endless", "yes");
  const Receiver receiver(folder);
  ServerWithDoors server(folder, webhook(receiver));
  auto client = server.client();
  deploy(client, kEchoOps);
  publish(client, 1);
  const ActionTarget target =
      wait_for_target(client, "ops", [](const ActionTarget& t) { return t.attempts > 0; });
  EXPECT_EQ(target.failures, 0u) << target.problem;
  EXPECT_EQ(receiver.posts().size(), 1u);
  EXPECT_EQ(server.stop(), 0);
}

TEST(Actions, ATargetThatTheServerDoesNotHaveIsRefused) {
  const Folder folder("unknown_target");
  const Receiver receiver(folder);
  ServerWithDoors server(folder, webhook(receiver));
  auto client = server.client();
  const auto deployed = client.deploy(
      "rules.tesla", "define Echo(v: int) from A() where v = A.v execute webhook(\"opps\");");
  ASSERT_TRUE(deployed);
  ASSERT_TRUE(deployed->failed());
  EXPECT_THAT(deployed->render(), HasSubstr("rules.tesla:1:52: error: there is no target"));
  EXPECT_THAT(deployed->render(), HasSubstr("did you mean `webhook(\"ops\")`?"));
}

TEST(Actions, WhatFailsIsTriedAgainWithTheSameKey) {
  const Folder folder("retries");
  const Receiver receiver(folder);
  receiver.answer(503);
  ServerWithDoors server(folder, webhook(receiver));
  auto client = server.client();
  deploy(client, kEchoOps);
  publish(client, 1);
  wait_for_posts(receiver, 2);
  receiver.answer(204);
  const ActionTarget target =
      wait_for_target(client, "ops", [](const ActionTarget& t) { return t.done == 1; });
  EXPECT_GE(target.failures, 2u);
  EXPECT_EQ(target.attempts, target.failures + 1);
  const auto posts = receiver.posts();
  EXPECT_THAT(posts, Each(Field(&Receiver::Post::id, posts.front().id)));
}

TEST(Actions, WhatIsRefusedBecomesADeadLetterAndIsRetriedWhenAskedTo) {
  const Folder folder("refused");
  const Receiver receiver(folder);
  receiver.answer(422);
  ServerWithDoors server(folder, webhook(receiver));
  auto client = server.client();
  deploy(client, kEchoOps);
  ASSERT_TRUE(client.subscribe("gorgo.DeadLetter"));
  publish(client, 5);
  auto letter = client.next(30'000'000'000);
  ASSERT_TRUE(letter && *letter);
  const Event event = (*letter)->event;
  EXPECT_EQ(text_in(event, "door"), "action webhook(\"ops\")");
  EXPECT_THAT(text_in(event, "reason"), HasSubstr("answered 422"));
  EXPECT_THAT(text_in(event, "payload"), HasSubstr("\"v\":5"));
  EXPECT_EQ(text_in(event, "place") + "/ops", receiver.posts().front().id);
  receiver.answer(200);
  const auto retried = client.retry_action("ops");
  ASSERT_TRUE(retried) << retried.error().to_string();
  EXPECT_EQ(*retried, 1u);
  const ActionTarget target =
      wait_for_target(client, "ops", [](const ActionTarget& t) { return t.done == 1; });
  EXPECT_EQ(target.dead, 1u);
  EXPECT_EQ(target.retriable, 0u);
  EXPECT_EQ(receiver.posts().back().id, receiver.posts().front().id);
  EXPECT_FALSE(client.retry_action("nobody"));
}

TEST(Actions, WhatIsTooLateBecomesADeadLetter) {
  const Folder folder("too_late");
  Receiver receiver(folder);
  ServerWithDoors server(folder, webhook(receiver, "deadline_ms = 300\n"));
  receiver.stop();
  auto client = server.client();
  deploy(client, kEchoOps);
  ASSERT_TRUE(client.subscribe("gorgo.DeadLetter"));
  publish(client, 5);
  auto letter = client.next(30'000'000'000);
  ASSERT_TRUE(letter && *letter);
  EXPECT_THAT(text_in((*letter)->event, "reason"), HasSubstr("deadline_ms has passed"));
  wait_for_target(client, "ops", [](const ActionTarget& t) { return t.waiting == 0; });
}

TEST(Actions, TheBreakerOpensAndClosesAndNothingIsLost) {
  const Folder folder("breaker");
  Receiver receiver(folder);
  ServerWithDoors server(folder, webhook(receiver));
  receiver.stop();
  auto client = server.client();
  deploy(client, kEchoOps);
  for (std::int64_t v = 0; v < 200; ++v) publish(client, v);
  const ActionTarget open =
      wait_for_target(client, "ops", [](const ActionTarget& t) { return t.state == "open"; });
  EXPECT_NE(open.problem, "");
  receiver.start_again();
  wait_for_target(client, "ops", [](const ActionTarget& t) {
    return t.done == 200 && t.waiting == 0 && t.state == "running";
  });
  std::set<std::string> ids;
  for (const auto& post : receiver.posts()) ids.insert(post.id);
  EXPECT_EQ(ids.size(), 200u);
}

TEST(Actions, WhatAServerHadNotDoneIsDoneByTheNext) {
  const Folder folder("next_server");
  Receiver receiver(folder);
  ServerWithDoors server(folder, webhook(receiver));
  receiver.stop();
  {
    auto client = server.client();
    deploy(client, kEchoOps);
    for (std::int64_t v = 0; v < 50; ++v) publish(client, v);
    wait_for_target(client, "ops", [](const ActionTarget& t) { return t.waiting == 50; });
  }
  server.kill_and_start();
  receiver.start_again();
  auto client = server.client();
  wait_for_target(client, "ops", [](const ActionTarget& t) { return t.done == 50; });
}

TEST(Actions, EventsOfAGroupLeaveTogether) {
  const Folder folder("groups");
  const Receiver receiver(folder);
  ServerWithDoors server(folder, webhook(receiver, "group_by = [\"area\"]\ngroup_ms = 700\n"));
  auto client = server.client();
  deploy(client,
         "define Fire(area: string, v: int) from A() where area = A.area, v = A.v execute "
         "webhook(\"ops\");");
  std::vector<Event> events;
  for (std::int64_t v = 0; v < 6; ++v) {
    Event event{.type = "A", .timestamp = {}, .attributes = {}};
    event.attributes.push_back({"area", std::string(v % 3 == 0 ? "north" : "south")});
    event.attributes.push_back({"v", v});
    events.push_back(event);
  }
  ASSERT_TRUE(client.publish(events));
  wait_for_target(client, "ops", [](const ActionTarget& t) { return t.done == 6; });
  const auto posts = receiver.posts();
  ASSERT_EQ(posts.size(), 2u);
  for (const auto& post : posts) {
    const bool north = post.body.find("north") != std::string::npos;
    EXPECT_EQ(post.body.find("south") == std::string::npos, north);
    for (std::int64_t v = 0; v < 6; ++v) {
      const bool is_there = post.body.find("\"v\":" + std::to_string(v)) != std::string::npos;
      EXPECT_EQ(is_there, (v % 3 == 0) == north) << post.body;
    }
    EXPECT_THAT(post.id, HasSubstr(".."));
  }
}

TEST(Actions, ASilenceTakesWhatItSays) {
  const Folder folder("silences");
  const Receiver receiver(folder);
  ServerWithDoors server(folder, webhook(receiver));
  auto client = server.client();
  deploy(client, kEchoOps);
  const auto now = std::chrono::duration_cast<std::chrono::nanoseconds>(
      std::chrono::system_clock::now().time_since_epoch());
  ActionSilence silence;
  silence.matchers = {"v=1"};
  silence.until = now.count() + 3'600'000'000'000;
  silence.comment = "maintenance";
  const auto id = client.silence_action("ops", silence);
  ASSERT_TRUE(id) << id.error().to_string();
  publish(client, 1);
  publish(client, 2);
  const ActionTarget target =
      wait_for_target(client, "ops", [](const ActionTarget& t) { return t.done == 1; });
  EXPECT_EQ(target.silenced, 1u);
  ASSERT_EQ(target.silences.size(), 1u);
  EXPECT_EQ(target.silences[0].comment, "maintenance");
  ASSERT_TRUE(client.end_silence("ops", *id));
  EXPECT_FALSE(client.end_silence("ops", *id));
  publish(client, 1);
  wait_for_target(client, "ops", [](const ActionTarget& t) { return t.done == 2; });
  silence.until = 5;
  EXPECT_FALSE(client.silence_action("ops", silence));
}

TEST(Actions, SilencesSurviveTheServer) {
  const Folder folder("kept_silences");
  const Receiver receiver(folder);
  ServerWithDoors server(folder, webhook(receiver));
  std::uint64_t kept = 0;
  {
    auto client = server.client();
    deploy(client, kEchoOps);
    const auto end = std::chrono::duration_cast<std::chrono::nanoseconds>(
        (std::chrono::system_clock::now() + std::chrono::hours(1)).time_since_epoch());
    ActionSilence silence;
    silence.until = end.count();
    silence.matchers = {"v=1"};
    kept = client.silence_action("ops", silence).value();
    silence.matchers = {"v=2"};
    ASSERT_TRUE(client.end_silence("ops", client.silence_action("ops", silence).value()));
    // Silences are saved before events are looked at, and what is behind them is durable here.
    publish(client, 1);
    wait_for_target(client, "ops", [](const ActionTarget& t) { return t.silenced == 1; });
    const std::vector<Event> last = {{"A", std::nullopt, {{"v", std::int64_t{1}}}}};
    ASSERT_TRUE(client.publish(last, {.acknowledge = Acknowledge::durable}));
  }
  server.kill_and_start();
  auto client = server.client();
  publish(client, 1);
  publish(client, 2);
  const ActionTarget target =
      wait_for_target(client, "ops", [](const ActionTarget& t) { return t.done == 1; });
  ASSERT_EQ(target.silences.size(), 1u);
  EXPECT_EQ(target.silences[0].id, kept);
  EXPECT_THAT(receiver.posts().at(0).body, HasSubstr("\"v\":2"));
}

TEST(Actions, SilencesSurviveAChangeOfTheirTarget) {
  const Folder folder("changed_silences");
  const Receiver receiver(folder);
  ServerWithDoors server(folder, webhook(receiver));
  auto client = server.client();
  ActionSilence silence;
  silence.until = std::numeric_limits<Timestamp>::max();
  ASSERT_TRUE(client.silence_action("ops", silence));
  folder.write("gorgo.toml", kServerBegins + webhook(receiver, "dry_run = true\n"));
  server.signal(SIGHUP);
  const ActionTarget target =
      wait_for_target(client, "ops", [](const ActionTarget& t) { return t.dry_run; });
  EXPECT_EQ(target.silences.size(), 1u);
}

TEST(Actions, OneEventInhibitsAnother) {
  const Folder folder("inhibited");
  const Receiver receiver(folder);
  ServerWithDoors server(folder, webhook(receiver,
                                         "[actions.ops.inhibit.first]\nsource = [\"v=1\"]\n"
                                         "target = [\"type=Echo\"]\nfor_ms = 3600000\n"));
  auto client = server.client();
  deploy(client, kEchoOps);
  publish(client, 2);
  publish(client, 1);
  publish(client, 2);
  publish(client, 1);
  // What waits is counted anew behind each round of attempts, so later than what is done.
  const ActionTarget target = wait_for_target(
      client, "ops", [](const ActionTarget& t) { return t.done == 3 && t.waiting == 0; });
  EXPECT_EQ(target.inhibited, 1u);
}

/// Two targets, of which `log` has nothing done about Smoke behind a Fire in the same area.
constexpr const char* kFireAndSmoke =
    "define Fire(v: int) from A(v >= 100) where v = A.v execute webhook(\"ops\");"
    "define Smoke(v: int) from A(v < 100) where v = A.v execute file(\"log\");"
    "define Alarm(v: int) from B() where v = B.v;";

std::string with_log(const Receiver& receiver, const Folder& folder, const std::string& source) {
  return webhook(receiver) + "[actions.log]\nkind = \"file\"\npath = \"" +
         (folder / "log").string() + "\"\n[actions.log.inhibit.fire]\nsource = [\"" + source +
         "\"]\ntarget = [\"type=Smoke\"]\nfor_ms = 3600000\n";
}

TEST(Actions, AnEventOfAnotherTargetInhibits) {
  const Folder folder("inhibited_across");
  const Receiver receiver(folder);
  ServerWithDoors server(folder, with_log(receiver, folder, "type=Fire"));
  auto client = server.client();
  deploy(client, kFireAndSmoke);
  publish(client, 1);
  publish(client, 100);
  // One publication has both, so that both leave at the same time.
  const std::vector<Event> both = {{"A", std::nullopt, {{"v", std::int64_t{101}}}},
                                   {"A", std::nullopt, {{"v", std::int64_t{2}}}}};
  for (int i = 0; i < 50; ++i) ASSERT_TRUE(client.publish(both));
  wait_for_target(client, "log",
                  [](const ActionTarget& t) { return t.inhibited == 50 && t.done == 1; });
  const ActionTarget ops =
      wait_for_target(client, "ops", [](const ActionTarget& t) { return t.done == 51; });
  EXPECT_EQ(ops.inhibited, 0u);
}

TEST(Actions, WhatExecutesNothingInhibitsAndSurvivesTheServer) {
  const Folder folder("inhibited_later");
  const Receiver receiver(folder);
  ServerWithDoors server(folder, with_log(receiver, folder, "type=Alarm"));
  {
    auto client = server.client();
    deploy(client, kFireAndSmoke);
    const std::vector<Event> alarm = {{"B", std::nullopt, {{"v", std::int64_t{1}}}}};
    ASSERT_TRUE(client.publish(alarm, {.acknowledge = Acknowledge::durable}));
  }
  std::uint64_t inhibited = 0;
  const auto expect_inhibited = [&] {
    auto client = server.client();
    publish(client, 1);
    const ActionTarget target =
        wait_for_target(client, "log", [](const ActionTarget& t) { return t.inhibited > 0; });
    EXPECT_EQ(target.done, 0u);
    ++inhibited;
  };
  // The journal tells it, then a snapshot, then a snapshot of what a snapshot told.
  server.kill_and_start();
  expect_inhibited();
  for (int i = 0; i < 2; ++i) {
    ASSERT_EQ(server.stop(), 0);
    server.start_again();
    expect_inhibited();
  }
  EXPECT_EQ(inhibited, 3u);
}

/// Smoke is detected, inhibited, and not acknowledged when the server is killed.
TEST(Actions, WhatIsInhibitedStaysSoBehindKills) {
  const Folder folder("inhibited_kills");
  const Receiver receiver(folder);
  ServerWithDoors server(folder, with_log(receiver, folder, "type=Fire"));
  {
    auto client = server.client();
    deploy(client, kFireAndSmoke);
    publish(client, 100);
  }
  std::mt19937 random(static_cast<unsigned>(getpid()));
  for (int kill = 0; kill < deaths(); ++kill) {
    auto client = server.client();
    std::vector<Event> smoke(1 + random() % 500, {"A", std::nullopt, {{"v", std::int64_t{1}}}});
    ASSERT_TRUE(client.publish(smoke, {.acknowledge = Acknowledge::durable}));
    server.kill_and_start();
  }
  auto client = server.client();
  publish(client, 1);
  const ActionTarget target = wait_for_target(
      client, "log", [](const ActionTarget& t) { return t.inhibited > 0 && t.waiting == 0; });
  EXPECT_EQ(target.done, 0u);
  EXPECT_FALSE(fs::exists(folder / "log") && !folder.lines("log").empty());
}

/// Events that durable subscriptions have not acknowledged.
std::uint64_t waiting_rows(const ServerWithDoors& server) {
  server::RawConnection raw(server.address());
  raw.greet();
  raw.send(2, wire::ListDurablesT());
  std::uint64_t rows = 0;
  const auto reply = raw.expect<wire::Durables>(2);
  for (const auto& durable : reply.list) rows += durable->rows;
  return rows;
}

TEST(Actions, WhatWasGivenUpIsTriedAgainBehindAKill) {
  const Folder folder("retried_later");
  const Receiver receiver(folder);
  ServerWithDoors server(folder, webhook(receiver));
  receiver.answer(400);
  {
    auto client = server.client();
    deploy(client, kEchoOps);
    publish(client, 1);
    publish(client, 2);
    wait_for_target(client, "ops", [](const ActionTarget& t) { return t.dead == 2; });
    // Else they would come again by themselves.
    const Patience patience("for the acknowledgement");
    while (waiting_rows(server) > 0 && patience.lasts()) std::this_thread::yield();
    // What is behind the letters is durable here.
    const std::vector<Event> last = {{"Other", std::nullopt, {}}};
    ASSERT_TRUE(client.publish(last, {.acknowledge = Acknowledge::durable}));
  }
  const auto refused = receiver.posts();
  server.kill_and_start();
  receiver.answer(204);
  {
    auto client = server.client();
    wait_for_target(client, "ops", [](const ActionTarget& t) { return t.retriable == 2; });
    EXPECT_EQ(client.retry_action("ops").value(), 2u);
    const ActionTarget target =
        wait_for_target(client, "ops", [](const ActionTarget& t) { return t.done == 2; });
    EXPECT_EQ(target.retriable, 0u);
    EXPECT_EQ(client.retry_action("ops").value(), 0u);
  }
  const auto posts = receiver.posts();
  std::set<std::string> first, again;
  for (std::size_t i = 0; i < posts.size(); ++i)
    (i < refused.size() ? first : again).insert(posts[i].id);
  EXPECT_EQ(first, again) << "another key";
  ASSERT_EQ(server.stop(), 0);
  server.start_again();
  auto client = server.client();
  publish(client, 3);
  const ActionTarget target =
      wait_for_target(client, "ops", [](const ActionTarget& t) { return t.done == 1; });
  EXPECT_EQ(target.retriable, 0u) << "what was done is done";
}

TEST(Actions, AServerThatStopsInOrderDoesNothingTwice) {
  const Folder folder("in_order");
  const Receiver receiver(folder);
  ServerWithDoors server(folder, webhook(receiver));
  for (std::int64_t run = 1; run <= 3; ++run) {
    {
      auto client = server.client();
      if (run == 1) deploy(client, kEchoOps);
      for (std::int64_t v = 0; v < 20; ++v) publish(client, v);
      wait_for_target(client, "ops", [](const ActionTarget& t) { return t.done == 20; });
    }
    ASSERT_EQ(server.stop(), 0);
    server.start_again();
  }
  auto client = server.client();
  publish(client, 20);
  wait_for_target(client, "ops", [](const ActionTarget& t) { return t.done == 1; });
  EXPECT_EQ(receiver.posts().size(), 61u);
}

TEST(Actions, ATestEventIsSentAtOnce) {
  const Folder folder("test_event");
  const Receiver receiver(folder);
  ServerWithDoors server(folder, webhook(receiver));
  auto client = server.client();
  ASSERT_TRUE(client.test_action("ops"));
  wait_for_target(client, "ops", [](const ActionTarget& t) { return t.done == 1; });
  EXPECT_THAT(receiver.posts().at(0).id, testing::StartsWith("test-"));
  EXPECT_THAT(receiver.posts().at(0).body, HasSubstr("gorgo.Test"));
  const auto unknown = client.test_action("opps");
  ASSERT_FALSE(unknown);
  EXPECT_THAT(unknown.error().to_string(), HasSubstr("did you mean 'ops'?"));
}

TEST(Actions, FilesCommandsAndDoorsGetTheirEvents) {
  const Folder folder("kinds");
  ServerWithDoors server(
      folder,
      "[actions.log]\nkind = \"file\"\npath = \"" + (folder / "log").string() +
          "\"\n[actions.plant]\nkind = \"publish\"\nto = \"file\"\npath = \"" +
          (folder / "door").string() +
          "\"\n[actions.page]\nkind = \"command\"\ncommand = [\"/bin/sh\", \"-c\", \"cat >> " +
          (folder / "paged").string() +
          "\"]\nin_flight = 1\n"
          "[actions.dry]\nkind = \"file\"\npath = \"" +
          (folder / "dry").string() + "\"\ndry_run = true\n");
  auto client = server.client();
  deploy(client,
         "define Echo(v: int) from A() where v = A.v execute file(\"log\"), publish(\"plant\"), "
         "command(\"page\"), file(\"dry\");");
  for (std::int64_t v = 0; v < 20; ++v) publish(client, v);
  for (const char* name : {"log", "plant", "page", "dry"}) {
    wait_for_target(client, name, [](const ActionTarget& t) { return t.done == 20; });
  }
  for (const char* file : {"log", "door", "paged"}) {
    const auto lines = folder.lines(file);
    ASSERT_EQ(lines.size(), 20u) << file;
    EXPECT_THAT(lines, Contains(HasSubstr("\"type\":\"Echo\"")).Times(20));
  }
  EXPECT_FALSE(fs::exists(folder / "dry"));
}

TEST(Actions, TargetsFollowTheConfiguration) {
  const Folder folder("targets_reload");
  const Receiver receiver(folder);
  ServerWithDoors server(folder, "");
  auto client = server.client();
  const auto refused = client.deploy("rules.tesla", kEchoOps);
  ASSERT_TRUE(refused && refused->failed());
  folder.write("gorgo.toml", kServerBegins + webhook(receiver));
  server.signal(SIGHUP);
  wait_for_target(client, "ops", [](const ActionTarget& t) { return t.state == "running"; });
  deploy(client, kEchoOps);
  publish(client, 1);
  wait_for_target(client, "ops", [](const ActionTarget& t) { return t.done == 1; });
}

TEST(Actions, NobodyElseTakesWhatWaitsForATarget) {
  const Folder folder("taken_over");
  const Receiver receiver(folder);
  ServerWithDoors server(folder, webhook(receiver));
  auto client = server.client();
  EXPECT_FALSE(
      client.subscribe("* execute webhook(\"ops\")", {.durable = "action webhook(\"ops\")"}));
  EXPECT_TRUE(client.subscribe("* execute webhook(\"ops\")"));
}

}  // namespace
}  // namespace gorgo
