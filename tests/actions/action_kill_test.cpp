#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <random>
#include <set>

#include "action_support.hpp"

namespace gorgo {
namespace {

/// Numbers come through a file, a rule passes each on to a webhook, and the server is killed again
/// and again. The receiver must have got every number, and every number with one key.
TEST(ActionKills, NoActionIsLost) {
  const char* given = std::getenv("GORGO_KILLS");
  const int kills = given == nullptr ? 6 : std::atoi(given);
  const Folder folder("action_kills");
  folder.write("in.log", "");
  const Receiver receiver(folder);
  ServerWithDoors server(folder, "[doors.in]\nkind = \"file\"\npath = \"" +
                                     (folder / "in.log").string() + "\"\n" + webhook(receiver));
  {
    auto client = server.client();
    deploy(client, kEchoOps);
  }
  std::mt19937 random(static_cast<unsigned>(getpid()));
  std::atomic<bool> ended = false;
  std::int64_t last = 0;
  std::thread writer([&] {
    while (!ended) {
      std::ofstream out(folder / "in.log", std::ios::app);
      for (int i = 0; i < 5; ++i) {
        out << R"({"type":"A","attrs":{"v":)" + std::to_string(++last) + "}}\n";
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(5));  // a writer's pace
    }
  });
  for (int i = 0; i < kills; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50 + random() % 300));
    server.kill_and_start();
  }
  ended = true;
  writer.join();
  auto client = server.client();
  wait_for_door(client, "in", [](const Door& door) { return door.problem.empty(); });
  std::map<std::string, std::set<std::string>> keys;  // by what the event says
  const Patience patience("for all numbers at the receiver");
  const auto received = [&] {
    keys.clear();
    for (const auto& post : receiver.posts()) {
      const auto begin = post.body.find("\"v\":");
      if (begin == post.body.npos) continue;
      keys[post.body.substr(begin, post.body.find('}', begin) - begin)].insert(post.id);
    }
    return static_cast<std::int64_t>(keys.size());
  };
  while (received() < last && patience.lasts()) {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  EXPECT_EQ(received(), last);
  for (const auto& [number, of_number] : keys) EXPECT_EQ(of_number.size(), 1u) << number;
  std::printf("%d kills, %lld actions, %zu posts\n", kills, static_cast<long long>(last),
              receiver.posts().size());
}

}  // namespace
}  // namespace gorgo
