#include "base/workers.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <thread>

namespace gorgo {
namespace {

using ::testing::Each;

/// Whether a thread of this process waits for something, as the kernel tells behind its name.
bool sleeps(const std::filesystem::path& thread) {
  std::string line;
  std::getline(std::ifstream(thread / "stat"), line);
  const auto end = line.rfind(") ");
  return end == line.npos || line[end + 2] == 'S';
}

void wait_until_others_sleep() {
  const std::string own = std::to_string(gettid());
  for (bool all = false; !all; std::this_thread::yield()) {
    all = true;
    for (const auto& thread : std::filesystem::directory_iterator("/proc/self/task")) {
      all = all && (thread.path().filename() == own || sleeps(thread.path()));
    }
  }
}

class WorkersTest : public ::testing::TestWithParam<unsigned> {};

TEST_P(WorkersTest, EveryIndexIsWorkedOnOnceInEachLoop) {
  Workers workers(GetParam());
  EXPECT_EQ(workers.threads(), GetParam());
  std::vector<int> calls;  // each element belongs to whoever has its index
  const auto count = [&](std::size_t i) { ++calls[i]; };
  for (std::size_t size = 0; size < 300; ++size) {
    calls.assign(size, 0);
    workers.run(size, count);
    ASSERT_THAT(calls, Each(1)) << size;
  }
}

TEST_P(WorkersTest, ALoopAfterARestIsWorkedOn) {
  Workers workers(GetParam());
  std::vector<int> calls(100, 0);
  for (int loop = 0; loop < 3; ++loop) {
    wait_until_others_sleep();
    workers.run(calls.size(), [&](std::size_t i) { ++calls[i]; });
  }
  EXPECT_THAT(calls, Each(3));
}

TEST_P(WorkersTest, AnExceptionComesOutAndTheRestIsDone) {
  Workers workers(GetParam());
  std::vector<int> calls(50, 0);
  const auto fail_at_7 = [&](std::size_t i) {
    ++calls[i];
    if (i == 7) throw std::runtime_error("seven");
  };
  EXPECT_THROW(workers.run(calls.size(), fail_at_7), std::runtime_error);
  EXPECT_THAT(calls, Each(1));
  workers.run(calls.size(), [&](std::size_t i) { ++calls[i]; });
  EXPECT_THAT(calls, Each(2));
}

INSTANTIATE_TEST_SUITE_P(Threads, WorkersTest, ::testing::Values(1, 2, 5));

TEST(Workers, OtherThreadsTakePart) {
  Workers workers(2);
  std::atomic<int> waiting = 0;
  // Neither index can be finished by a thread that works alone.
  workers.run(2, [&](std::size_t) {
    ++waiting;
    while (waiting < 2) std::this_thread::yield();
  });
  EXPECT_EQ(waiting, 2);
}

}  // namespace
}  // namespace gorgo
