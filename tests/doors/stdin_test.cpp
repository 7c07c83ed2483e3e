#include "doors/lines/stdin_source.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <thread>

#include "gorgo/schema.hpp"

namespace gorgo::doors {
namespace {

using testing::HasSubstr;

/// A pipe, as a shell has it.
class StdinDoor : public testing::Test {
 protected:
  int ends[2] = {-1, -1};
  Settings settings;

  void SetUp() override {
    settings.kind = "stdin";
    ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
  }
  void TearDown() override {
    close(ends[0]);
    hang_up();
  }
  StdinSource source() {
    return StdinSource(
        settings, [] { return std::make_shared<const Schema>(); }, ends[0]);
  }
  void write(const std::string& text) {
    ASSERT_EQ(::write(ends[1], text.data(), text.size()), static_cast<ssize_t>(text.size()));
  }
  void hang_up() {
    if (ends[1] >= 0) close(ends[1]);
    ends[1] = -1;
  }
  /// Polls until something has come.
  static Arrived next(StdinSource& source) {
    while (true) {
      auto arrived = source.poll(std::chrono::seconds(60));
      if (!arrived || !arrived->empty()) return std::move(*arrived);
    }
  }
};

TEST_F(StdinDoor, LinesBecomeEventsWhenTheyAreWhole) {
  auto door = source();
  write("{\"type\":\"A\",\"attrs\":{}}\n{\"type\":\"B\",");
  EXPECT_EQ(next(door).events.events(), 1u);
  write("\"attrs\":{}}\nnonsense\n");
  const auto arrived = next(door);
  EXPECT_EQ(arrived.events.events(), 1u);
  ASSERT_EQ(arrived.dead.size(), 1u);
  EXPECT_EQ(arrived.dead[0].place, "stdin:3");
}

TEST_F(StdinDoor, TheLastLineNeedsNoEnd) {
  settings.format = "csv";
  settings.form.type = "A";
  auto door = source();
  write("x,y\n1,2\n3,4");
  hang_up();
  std::uint32_t events = 0;
  while (events < 2) events += next(door).events.events();
  EXPECT_EQ(door.describe(""), "its end");
  EXPECT_EQ(door.poll(std::chrono::milliseconds(1))->events.events(), 0u);
}

TEST_F(StdinDoor, ARecordThatIsOpenAtTheEndIsADeadLetter) {
  settings.format = "csv";
  settings.form.type = "A";
  auto door = source();
  write("x,y\n1,2\n\"3,4\n5,6\n");
  hang_up();
  Arrived last;
  while (last.dead.empty()) last = next(door);
  EXPECT_EQ(last.dead[0].place, "stdin:3");
  EXPECT_EQ(last.dead[0].payload, "\"3,4\n5,6\n");
}

TEST_F(StdinDoor, AWaitCanBeEnded) {
  auto door = source();
  std::thread other([&] { door.wake(); });
  EXPECT_TRUE(door.poll(std::chrono::hours(1))->empty());
  other.join();
}

}  // namespace
}  // namespace gorgo::doors
