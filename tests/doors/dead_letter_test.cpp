#include <gtest/gtest.h>

#include "door_support.hpp"
#include "support.hpp"

// A dead letter is an event, and says what time it is. It must not keep events from coming.
namespace gorgo::dead_letters {
namespace {

class DeadLetters : public testing::Test {
 protected:
  const Folder folder{"dead_letters"};
  ServerWithDoors server{
      folder, "[doors.in]\nkind = \"file\"\npath = \"" + (folder / "in.log").string() + "\"\n"};
  Client client = server.client();

  void SetUp() override {
    const auto deployed = client.deploy("types.tesla", "event A(v: int);");
    ASSERT_TRUE(deployed && !deployed->failed());
  }
  void append(const std::string& lines) {
    std::ofstream(folder / "in.log", std::ios::app) << lines;
  }
  static std::string line(std::int64_t ms, const std::string& value) {
    return R"({"type":"A","ts":)" + std::to_string(ms) + R"(,"attrs":{"v":)" + value + "}}\n";
  }
};

TEST_F(DeadLetters, OfARefusedEventMovesNoClockAhead) {
  append(line(1000, "\"x\""));
  wait_for_door(client, "in", [](const Door& door) { return door.refused == 1; });
  append(line(1001, "1"));
  wait_for_door(client, "in", [](const Door& door) { return door.events == 1; });
}

TEST_F(DeadLetters, ComesWithEventsThatAreTooLate) {
  ASSERT_TRUE(client.publish(std::vector<Event>{{"A", std::nullopt, {{"v", std::int64_t{7}}}}}));
  append("nonsense\n" + line(1001, "1"));
  const auto door = wait_for_door(client, "in", [](const Door& seen) { return seen.refused == 1; });
  EXPECT_EQ(door.dead_letters, 1u);
  EXPECT_EQ(door.state, "running");
}

TEST_F(DeadLetters, ComesWithEventsThatAreAheadOfAllTime) {
  append("nonsense\n" + line(9'000'000'000'000, "1"));
  const auto door = wait_for_door(client, "in", [](const Door& seen) { return seen.refused == 1; });
  EXPECT_EQ(door.dead_letters, 1u);
  EXPECT_EQ(door.state, "running");
}

}  // namespace
}  // namespace gorgo::dead_letters
