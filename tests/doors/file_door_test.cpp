#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <random>

#include "door_support.hpp"
#include "support.hpp"

namespace gorgo {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string number_line(std::int64_t n) {
  return R"({"type":"A","attrs":{"v":)" + std::to_string(std::int64_t{1} << 32 | n) + "}}\n";
}

Delivery next(Client& client) {
  auto delivery = client.next(30'000'000'000);
  EXPECT_TRUE(delivery && *delivery);
  return delivery && *delivery ? **delivery : Delivery{};
}

std::string text_in(const Event& event, const std::string& name) {
  for (const Attribute& attribute : event.attributes) {
    if (attribute.name == name) return std::get<std::string>(attribute.value);
  }
  return "";
}

TEST(FileDoor, NothingIsLostOrDoubledWhenTheServerIsKilled) {
  const int kills = deaths();
  const Folder folder("file_door");
  folder.write("in.log", "");
  ServerWithDoors server(folder,
                         "[doors.in]\nkind = \"file\"\npath = \"" + (folder / "in.log*").string() +
                             "\"\n[doors.out]\nkind = \"file\"\nsubscribe = \"Echo\"\npath = \"" +
                             (folder / "out.ndjson").string() + "\"\n");
  begin_checks(server);
  std::mt19937 random(static_cast<unsigned>(getpid()));
  const auto publish = [&](const std::atomic<bool>& ended) {
    std::int64_t last = 0;
    while (!ended) {
      {
        std::ofstream out(folder / "in.log", std::ios::app);
        for (int i = 0; i < 50; ++i) out << number_line(++last);
      }
      if (last % 500 == 0)
        fs::rename(folder / "in.log", folder / ("in.log." + std::to_string(last)));
      std::this_thread::sleep_for(std::chrono::milliseconds(2));  // a writer's pace
    }
    return last;
  };
  const auto last = check_numbers(server, kills, publish, [&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20 + random() % 300));
    server.kill_and_start();
  });
  auto client = server.client();
  wait_for_door(client, "out", [&](const Door&) {
    std::ifstream written(folder / "out.ndjson");
    return std::count(std::istreambuf_iterator<char>(written), {}, '\n') >= last;
  });
  EXPECT_EQ(server.stop(), 0);
  std::int64_t n = 0;
  for (const std::string& line : folder.lines("out.ndjson")) {
    ++n;
    ASSERT_NE(line.find("\"v\":" + std::to_string(std::int64_t{1} << 32 | n) + "}"), line.npos)
        << line << " instead of number " << n;
  }
  EXPECT_EQ(n, last);
  std::printf("%d kills, %lld numbers\n", kills, static_cast<long long>(last));
}

TEST(FileDoor, WhatIsNoEventOrIsRefusedIsADeadLetter) {
  const Folder folder("dead_letters");
  folder.write("in.log", "");
  ServerWithDoors server(
      folder, "[doors.in]\nkind = \"file\"\npath = \"" + (folder / "in.log").string() + "\"\n");
  auto client = server.client();
  ASSERT_TRUE(client.declare("T", {{"v", ValueType::integer}}));
  ASSERT_TRUE(client.subscribe("gorgo.DeadLetter(door = \"in\")"));
  folder.write("in.log",
               "nonsense\n{\"type\":\"T\",\"ts\":5000,\"attrs\":{\"v\":1}}\n"
               "{\"type\":\"T\",\"ts\":6000,\"attrs\":{\"v\":\"x\"}}\n"
               "{\"type\":\"gorgo.Stats\",\"ts\":6000}\n");
  const Event first = next(client).event;
  EXPECT_EQ(text_in(first, "payload"), "nonsense");
  EXPECT_THAT(text_in(first, "place"), HasSubstr("in.log:0"));
  EXPECT_NE(text_in(first, "reason"), "");
  const Event second = next(client).event;
  EXPECT_THAT(text_in(second, "payload"), HasSubstr("\"v\":\"x\""));
  const Event third = next(client).event;
  EXPECT_THAT(text_in(third, "payload"), HasSubstr("gorgo.Stats"));
  const Door door =
      wait_for_door(client, "in", [](const Door& d) { return d.events + d.refused == 3; });
  EXPECT_EQ(door.dead_letters, 1u);
  EXPECT_EQ(door.refused, 2u);
  EXPECT_EQ(door.state, "running");
}

TEST(FileDoor, WhatIsRefusedIsNotReadAgain) {
  const Folder folder("refused");
  folder.write("in.log", "");
  ServerWithDoors server(
      folder, "[doors.in]\nkind = \"file\"\npath = \"" + (folder / "in.log").string() + "\"\n");
  auto client = server.client();
  ASSERT_TRUE(client.declare("T", {{"v", ValueType::integer}}));
  folder.write("in.log", "{\"type\":\"T\",\"attrs\":{\"v\":\"x\"}}\n");
  wait_for_door(client, "in", [](const Door& d) { return d.refused == 1; });
  server.kill_and_start();
  std::ofstream(folder / "in.log", std::ios::app) << "{\"type\":\"T\",\"attrs\":{\"v\":1}}\n";
  auto later = server.client();
  const Door door = wait_for_door(later, "in", [](const Door& d) { return d.events == 1; });
  EXPECT_EQ(door.refused, 0u);
  EXPECT_EQ(server.stop(), 0);
}

TEST(FileDoor, AFileWhoseHeaderIsRefusedIsOneFailure) {
  const Folder folder("header");
  folder.write("bad.csv", "n,m\"x\n1,2\n");
  folder.write("good.csv", "v\n");
  ServerWithDoors server(folder,
                         "[doors.in]\nkind = \"file\"\nformat = \"csv\"\ntype = \"A\"\npath = \"" +
                             (folder / "*.csv").string() + "\"\n");
  auto client = server.client();
  for (std::uint64_t n = 1; n <= 3; ++n) {
    std::ofstream(folder / "good.csv", std::ios::app) << n << "\n";
    const Door door = wait_for_door(client, "in", [&](const Door& d) { return d.events == n; });
    EXPECT_EQ(door.state, "failing");
    EXPECT_THAT(door.problem, HasSubstr("bad.csv: the header is refused"));
    EXPECT_EQ(door.failures, 1u);
  }
  fs::remove(folder / "bad.csv");
  wait_for_door(client, "in", [](const Door& d) { return d.state == "running"; });
  EXPECT_EQ(server.stop(), 0);
}

TEST(FileDoor, DoorsFollowTheConfiguration) {
  const Folder folder("reload");
  folder.write("one.log", number_line(1));
  folder.write("two.log", number_line(2));
  const auto door = [&](const std::string& name) {
    return "[doors." + name + "]\nkind = \"file\"\npath = \"" +
           (folder / (name + ".log")).string() + "\"\n";
  };
  ServerWithDoors server(folder, door("one"));
  auto client = server.client();
  wait_for_door(client, "one", [](const Door& d) { return d.events == 1; });
  folder.write("gorgo.toml", kServerBegins + door("two"));
  server.signal(SIGHUP);
  wait_for_door(client, "two", [](const Door& d) { return d.events == 1; });
  EXPECT_EQ(client.doors()->size(), 1u);
  // A door that comes back goes on where it was.
  std::ofstream(folder / "one.log", std::ios::app) << number_line(3) << number_line(4);
  folder.write("gorgo.toml", kServerBegins + door("one"));
  server.signal(SIGHUP);
  wait_for_door(client, "one", [](const Door& d) { return d.events == 2; });
  EXPECT_EQ(server.stop(), 0);
}

TEST(FileDoor, OnlyTheServersDoorsPublishAsADoor) {
  const Folder folder("forged");
  ServerWithDoors running(folder, "");
  server::RawConnection raw(running.address());
  raw.greet();
  wire::PublishT forged;
  forged.batch = std::make_unique<wire::BatchT>();
  forged.door = "in";
  forged.position = {1, 2, 3};
  raw.send(2, forged);
  EXPECT_EQ(raw.expect<wire::Error>(2).code, wire::ErrorCode::Forbidden);
}

TEST(FileDoor, NoClientTouchesTheSubscriptionOfASink) {
  const Folder folder("own_subscription");
  ServerWithDoors running(folder, "[doors.out]\nkind = \"file\"\nsubscribe = \"A\"\npath = \"" +
                                      (folder / "out.ndjson").string() + "\"\n");
  auto client = running.client();
  const std::vector<Event> event{{"A", {}, {}}};
  wait_for_door(client, "out", [](const Door& door) { return door.state == "running"; });
  ASSERT_TRUE(client.publish(event));
  wait_for_door(client, "out", [](const Door& door) { return door.events == 1; });
  server::RawConnection raw(running.address());
  raw.greet();
  wire::SubscribeT take_over;
  take_over.subscription = 1;
  take_over.text = "A";
  wire::AcknowledgeT acknowledge;
  acknowledge.root = 1;
  wire::EndDurableT end;
  take_over.durable = acknowledge.durable = end.durable = "door out";
  raw.send(2, take_over);
  const auto refused = raw.expect<wire::Error>(2);
  EXPECT_EQ(refused.code, wire::ErrorCode::Forbidden);
  EXPECT_THAT(refused.message, HasSubstr("'door out' is kept for a door"));
  raw.send(3, acknowledge);
  EXPECT_EQ(raw.expect<wire::Error>(3).code, wire::ErrorCode::Forbidden);
  raw.send(4, end);
  EXPECT_EQ(raw.expect<wire::Error>(4).code, wire::ErrorCode::Forbidden);
  ASSERT_TRUE(client.publish(event));
  wait_for_door(client, "out", [](const Door& door) { return door.events == 2; });
  // What a door has left behind can be ended.
  folder.write("gorgo.toml", kServerBegins);
  running.signal(SIGHUP);
  const Patience patience("for the end of the subscription");
  std::uint64_t id = 5;
  bool is_ended = false;
  while (!is_ended && patience.lasts()) {
    raw.send(id, end);
    const auto frame = raw.receive();
    ASSERT_TRUE(frame);
    const auto message = protocol::open_frame(*frame);
    ASSERT_TRUE(message);
    ASSERT_EQ((*message)->id(), id++);
    is_ended = (*message)->body_as_Ack() != nullptr;
  }
  EXPECT_TRUE(is_ended);
}

TEST(FileDoor, AWrongConfigurationIsRefusedByName) {
  const Folder folder("wrong");
  folder.write("gorgo.toml", "[doors.in]\nkind = \"file\"\npth = \"x\"\n");
  Process misspelt({"serve", "-t", "--config", (folder / "gorgo.toml").string()});
  EXPECT_THAT(misspelt.err_line(),
              HasSubstr("3:7: doors.in.pth: unknown key, did you mean 'path'?"));
  EXPECT_NE(misspelt.wait(), 0);
}

}  // namespace
}  // namespace gorgo
