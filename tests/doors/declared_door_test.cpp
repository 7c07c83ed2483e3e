#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <optional>
#include <random>
#include <set>

#include "door_support.hpp"
#include "support.hpp"

// Doors that clients declare while the server runs.
namespace gorgo {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::string numbered(std::int64_t n) {
  return R"({"type":"A","attrs":{"v":)" + std::to_string(std::int64_t{1} << 32 | n) + "}}\n";
}

std::string source(const Folder& folder, const std::string& file, const std::string& more = "") {
  return "kind = \"file\"\npath = \"" + (folder / file).string() + "\"\n" + more;
}

std::string sink(const Folder& folder, const std::string& file) {
  return source(folder, file, "subscribe = \"A\"\n");
}

void declare(Client& client, const std::string& name, const std::string& text) {
  const auto declared = client.declare_door(name, text);
  ASSERT_TRUE(declared) << declared.error().to_string();
  EXPECT_THAT(declared->list, IsEmpty());
}

std::string problem_of(Client& client, const std::string& name, const std::string& text) {
  const auto declared = client.declare_door(name, text);
  return declared ? "" : declared.error().to_string();
}

std::set<std::string> names_of(Client& client) {
  std::set<std::string> names;
  const auto doors = client.doors();
  EXPECT_TRUE(doors);
  if (doors) {
    for (const Door& door : *doors) names.insert(door.name);
  }
  return names;
}

/// Asks as a client of its own. Returns the reply.
template <class Reply, class Request>
typename Reply::NativeTableType asked(const ServerWithDoors& server, const Request& request) {
  server::RawConnection raw(server.address());
  raw.greet();
  raw.send(2, request);
  return raw.expect<Reply>(2);
}

std::vector<std::string> reload(const ServerWithDoors& server) {
  return asked<wire::Reloaded>(server, wire::ReloadT()).changed;
}

std::size_t durables(const ServerWithDoors& server) {
  return asked<wire::Durables>(server, wire::ListDurablesT()).list.size();
}

void append(const Folder& folder, const std::string& file, const std::string& text) {
  std::ofstream(folder / file, std::ios::app) << text;
}

TEST(DeclaredDoor, OpensAtOnceAndGoesOnBehindAKill) {
  const Folder folder("declared");
  folder.write("in.log", numbered(1));
  ServerWithDoors server(folder, "");
  auto client = server.client();
  declare(client, "in", source(folder, "in.log"));
  const Door door = wait_for_door(client, "in", [](const Door& d) { return d.events == 1; });
  EXPECT_TRUE(door.declared);
  server.kill_and_start();
  append(folder, "in.log", numbered(2));
  auto later = server.client();
  wait_for_door(later, "in", [](const Door& d) { return d.events >= 1; });
  EXPECT_EQ(later.doors()->front().events, 1u) << "the first line came twice";
  EXPECT_EQ(server.stop(), 0);
}

TEST(DeclaredDoor, OtherKeysKeepThePosition) {
  const Folder folder("other_keys");
  folder.write("in.log", numbered(1));
  ServerWithDoors server(folder, "");
  auto client = server.client();
  declare(client, "in", source(folder, "in.log"));
  wait_for_door(client, "in", [](const Door& d) { return d.events == 1; });
  declare(client, "in", source(folder, "in.log*"));
  append(folder, "in.log", numbered(2));
  wait_for_door(client, "in",
                [&](const Door& d) { return d.target.ends_with("*") && d.events >= 1; });
  EXPECT_EQ(client.doors()->front().events, 1u) << "the first line came twice";
}

TEST(DeclaredDoor, WhatIsRemovedIsForgotten) {
  const Folder folder("forgotten");
  folder.write("in.log", numbered(1) + numbered(2));
  ServerWithDoors server(folder, "");
  auto client = server.client();
  declare(client, "in", source(folder, "in.log"));
  declare(client, "out", sink(folder, "out.ndjson"));
  wait_for_door(client, "in", [](const Door& d) { return d.events == 2; });
  wait_for_door(client, "out", [](const Door& d) { return d.state == "running"; });
  EXPECT_EQ(durables(server), 1u);
  ASSERT_TRUE(client.remove_door("in"));
  ASSERT_TRUE(client.remove_door("out"));
  EXPECT_THAT(*client.doors(), IsEmpty());
  EXPECT_EQ(durables(server), 0u);
  const auto again = client.remove_door("in");
  ASSERT_FALSE(again);
  EXPECT_THAT(again.error().message, HasSubstr("no door 'in' was declared"));
  declare(client, "in", source(folder, "in.log"));
  wait_for_door(client, "in", [](const Door& d) { return d.events == 2; });
  ASSERT_TRUE(client.remove_door("in"));
  server.kill_and_start();
  auto later = server.client();
  EXPECT_THAT(*later.doors(), IsEmpty());
  declare(later, "in", source(folder, "in.log"));
  wait_for_door(later, "in", [](const Door& d) { return d.events == 2; });
}

TEST(DeclaredDoor, WhatIsWrongIsSaidWithItsPlace) {
  const Folder folder("wrong_door");
  ServerWithDoors server(folder, "[doors.own]\n" + source(folder, "own.log"));
  auto client = server.client();
  EXPECT_THAT(problem_of(client, "in", "kind = \"file\"\npth = \"x\"\n"),
              HasSubstr("2:7: doors.in.pth: unknown key, did you mean 'path'?"));
  EXPECT_THAT(problem_of(client, "in", "kind = file"), HasSubstr("no TOML"));
  std::string deep = "a";
  for (int i = 0; i < 30'000; ++i) deep += ".a";
  EXPECT_THAT(problem_of(client, "in", deep + " = 1"), HasSubstr("too many parts"));
  EXPECT_THAT(problem_of(client, "in", "[doors.in]\nkind = \"file\"\n"), HasSubstr("[doors]"));
  EXPECT_THAT(problem_of(client, "in", "kind = \"file\"\n"), HasSubstr("doors.in: path"));
  EXPECT_THAT(problem_of(client, "in/1", source(folder, "x")), HasSubstr("letters, digits"));
  EXPECT_THAT(problem_of(client, "in", "kind = \"stdin\"\n"), HasSubstr("standard input"));
  EXPECT_THAT(problem_of(client, "in", source(folder, "x", "# " + std::string(70'000, 'x'))),
              HasSubstr("64 KiB"));
  EXPECT_THAT(problem_of(client, "own", source(folder, "x")), HasSubstr("in the configuration"));
  const auto removed = client.remove_door("own");
  ASSERT_FALSE(removed);
  EXPECT_THAT(removed.error().message, HasSubstr("in the configuration"));
  EXPECT_THAT(names_of(client), ElementsAre("own"));
}

TEST(DeclaredDoor, TheConfigurationStandsBeforeIt) {
  const Folder folder("both");
  folder.write("declared.log", numbered(1));
  folder.write("configured.log", numbered(1) + numbered(2));
  ServerWithDoors server(folder, "");
  auto client = server.client();
  declare(client, "in", source(folder, "declared.log"));
  wait_for_door(client, "in", [](const Door& d) { return d.events == 1; });
  folder.write("gorgo.toml", kServerBegins + ("[doors.in]\n" + source(folder, "configured.log")));
  EXPECT_THAT(reload(server), ElementsAre("doors.in: added, in the place of the one that was "
                                          "declared, which waits"));
  const Door door = wait_for_door(client, "in", [](const Door& d) { return d.events == 2; });
  EXPECT_FALSE(door.declared);
  server.kill_and_start();
  auto later = server.client();
  EXPECT_FALSE(later.doors()->front().declared);
  folder.write("gorgo.toml", kServerBegins);
  EXPECT_THAT(reload(server), ElementsAre("doors.in: removed, and the one that was declared opens "
                                          "again"));
  append(folder, "declared.log", numbered(2));
  const Door back = wait_for_door(later, "in", [](const Door& d) { return d.declared; });
  EXPECT_THAT(back.target, HasSubstr("declared.log"));
  EXPECT_EQ(server.stop(), 0);
}

/// Removing what waits behind a door of the configuration leaves that door as it is.
TEST(DeclaredDoor, WhatWaitsCanBeRemoved) {
  const Folder folder("waits");
  folder.write("in.log", numbered(1));
  ServerWithDoors server(folder, "");
  auto client = server.client();
  declare(client, "in", source(folder, "in.log"));
  wait_for_door(client, "in", [](const Door& d) { return d.events == 1; });
  folder.write("gorgo.toml", kServerBegins + ("[doors.in]\n" + source(folder, "in.log*")));
  EXPECT_THAT(reload(server), testing::SizeIs(1));
  ASSERT_TRUE(client.remove_door("in"));
  server.kill_and_start();
  append(folder, "in.log", numbered(2));
  auto later = server.client();
  wait_for_door(later, "in", [](const Door& d) { return d.events >= 1; });
  EXPECT_EQ(later.doors()->front().events, 1u) << "the position is that of the configuration, too";
}

TEST(DeclaredDoor, WithoutAJournalItLastsAsLongAsTheServer) {
  const Folder folder("no_journal");
  folder.write("in.log", numbered(1));
  Process process({"serve", "--listen", "127.0.0.1:0", "--log-level", "off"});
  auto client = Client::connect(address_in(process.out_line()));
  ASSERT_TRUE(client);
  const auto declared = client->declare_door("in", source(folder, "in.log"));
  ASSERT_TRUE(declared) << declared.error().to_string();
  ASSERT_EQ(declared->list.size(), 1u);
  EXPECT_EQ(declared->list[0].severity, Severity::warning);
  EXPECT_THAT(declared->list[0].message, HasSubstr("no journal"));
  wait_for_door(*client, "in", [](const Door& d) { return d.events == 1; });
  ASSERT_TRUE(client->remove_door("in"));
  EXPECT_THAT(*client->doors(), IsEmpty());
}

/// Which is what holds without it.
constexpr const char* kSameAsBefore = "from = \"beginning\"\n";

TEST(DeclaredDoor, NothingIsLostWhileItIsDeclaredAndChangedUnderLoad) {
  const int kills = deaths();
  const Folder folder("declared_load");
  folder.write("in.log", "");
  ServerWithDoors server(folder, "");
  begin_checks(server);
  const auto publish = [&](const std::atomic<bool>& ended) {
    std::int64_t last = 0;
    while (!ended) {
      std::string lines;
      for (int i = 0; i < 50; ++i) lines += numbered(++last);
      append(folder, "in.log", lines);
      std::this_thread::sleep_for(std::chrono::milliseconds(2));  // a writer's pace
    }
    return last;
  };
  std::mt19937 random(static_cast<unsigned>(getpid()));
  int changes = 0;
  const auto last = check_numbers(server, kills, publish, [&] {
    auto client = server.client();
    // Other keys each time, so that the door opens anew.
    for (int i = 0; i < 3; ++i) {
      declare(client, "in", source(folder, "in.log", ++changes % 2 == 0 ? "" : kSameAsBefore));
      std::this_thread::sleep_for(std::chrono::milliseconds(20 + random() % 100));
    }
    server.kill_and_start();
  });
  EXPECT_EQ(server.stop(), 0);
  std::printf("%d kills, %d changes, %lld numbers\n", kills, changes, static_cast<long long>(last));
}

/// Declares and removes doors until the server is gone. `known`: what was acknowledged; the one
/// change without an answer is `open`: a door, and its keys or nothing.
class Changes {
 public:
  using Known = std::map<std::string, std::optional<std::string>>;

  explicit Changes(const Folder& folder) : folder_(folder) {}

  void run(Client& client, std::mt19937& random) {
    open_.reset();
    while (true) {
      const std::string name = "d" + std::to_string(random() % 6);
      std::optional<std::string> file;
      if (random() % 3 > 0) file = name + "_" + std::to_string(++number_) + ".log";
      open_ = {name, file};
      if (!change(client, name, file)) return;
      acknowledged_[name] = file;
      open_.reset();
      ++count_;
    }
  }
  int count() const { return count_; }

  /// Compares what the server has with what was acknowledged.
  void check(Client& client) {
    Known found;
    const auto doors = client.doors();
    ASSERT_TRUE(doors) << doors.error().to_string();
    for (const Door& door : *doors) found[door.name] = fs::path(door.target).filename().string();
    if (open_ && found[open_->first] == open_->second) acknowledged_[open_->first] = open_->second;
    for (int i = 0; i < 6; ++i) {
      const std::string name = "d" + std::to_string(i);
      EXPECT_EQ(found[name].value_or("none"), acknowledged_[name].value_or("none")) << name;
    }
  }

 private:
  const Folder& folder_;
  Known acknowledged_;
  std::optional<std::pair<std::string, std::optional<std::string>>> open_;
  int number_ = 0, count_ = 0;

  /// Whether the server still answers.
  bool change(Client& client, const std::string& name, const std::optional<std::string>& file) {
    if (file) return static_cast<bool>(client.declare_door(name, source(folder_, *file)));
    const auto removed = client.remove_door(name);
    return removed || removed.error().message.find("was declared") != std::string::npos;
  }
};

TEST(DeclaredDoor, WhatWasAcknowledgedIsThereBehindEveryKill) {
  const int kills = 2 * deaths();
  const Folder folder("declared_kills");
  ServerWithDoors server(folder, "");
  std::mt19937 random(static_cast<unsigned>(getpid()));
  Changes changes(folder);
  for (int i = 0; i < kills; ++i) {
    auto client = server.client();
    std::thread killer([&, wait = 10 + random() % 300] {
      std::this_thread::sleep_for(std::chrono::milliseconds(wait));
      server.signal(SIGKILL);
    });
    changes.run(client, random);
    killer.join();
    server.kill_and_start();
    auto later = server.client();
    changes.check(later);
    // Enough for snapshots, and for trimming what stood before them.
    std::vector<Event> events(500, {"Filler", std::nullopt, {{"text", std::string(300, 'x')}}});
    ASSERT_TRUE(later.publish(events, {.acknowledge = Acknowledge::durable}));
  }
  EXPECT_EQ(server.stop(), 0);
  EXPECT_FALSE(fs::exists(folder / "journal/00000000000000000001.journal")) << "never trimmed";
  server.start_again();
  auto client = server.client();
  changes.check(client);
  std::printf("%d kills, %d changes\n", kills, changes.count());
}

}  // namespace
}  // namespace gorgo
