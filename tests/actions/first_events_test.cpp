#include <gtest/gtest.h>

#include "action_support.hpp"
#include "support.hpp"

namespace gorgo {
namespace {

constexpr int kTargets = 30;

std::string configuration(const Folder& folder) {
  std::string config;
  for (int i = 0; i < kTargets; ++i) {
    const std::string number = std::to_string(i);
    config += "[actions.t" + number + "]\nkind = \"file\"\npath = \"" +
              (folder / ("target" + number)).string() + "\"\n[doors.d" + number +
              "]\nkind = \"file\"\nsubscribe = \"A\"\npath = \"" +
              (folder / ("door" + number)).string() + "\"\n";
  }
  return config;
}

std::string rules() {
  std::string text = "define Echo(v: int) from A(v > 0) where v = A.v execute file(\"t0\")";
  for (int i = 1; i < kTargets; ++i) text += ", file(\"t" + std::to_string(i) + "\")";
  return text + ";";
}

/// The server comes for the first time, so that nobody has subscribed to anything before.
TEST(FirstEvents, ReachAllTargetsAndDoors) {
  const Folder folder("first_events");
  folder.write("gorgo.toml", configuration(folder));
  folder.write("rules.tesla", rules());
  Process process({"serve", "--listen", "127.0.0.1:0", "--log-level", "off", "--journal",
                   (folder / "journal").string(), "--config", (folder / "gorgo.toml").string(),
                   "--rules", (folder / "rules.tesla").string()});
  auto client = Client::connect(address_in(process.out_line()));
  ASSERT_TRUE(client) << client.error().to_string();
  publish(*client, 1);
  for (const char* const what : {"target", "door"}) {
    for (int i = 0; i < kTargets; ++i) {
      const std::string file = what + std::to_string(i);
      const Patience patience("for an event in " + file);
      while (folder.lines(file).empty() && patience.lasts()) {
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
      }
      ASSERT_EQ(folder.lines(file).size(), 1u) << file;
    }
  }
  process.signal(SIGTERM);
  EXPECT_EQ(process.wait(), 0);
}

}  // namespace
}  // namespace gorgo
