#include "server/log_output.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <string>

namespace gorgo::server {
namespace {

using Ends = std::array<int, 2>;  // to read from, to write to

/// Reads all that is there.
std::string read_all_from(int file) {
  fcntl(file, F_SETFL, O_NONBLOCK);
  std::string all;
  std::array<char, 4096> bytes;
  for (ssize_t got; (got = ::read(file, bytes.data(), bytes.size())) > 0;) {
    all.append(bytes.data(), static_cast<std::size_t>(got));
  }
  return all;
}

class LogOutputTest : public ::testing::TestWithParam<bool> {
 protected:
  LogOutputTest() {
    if (GetParam()) {
      EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends_.data()), 0);
    } else {
      EXPECT_EQ(pipe(ends_.data()), 0);
    }
  }
  ~LogOutputTest() override {
    for (const int end : ends_) close(end);
  }

  Ends ends_{};
};

TEST_P(LogOutputTest, AReaderThatHangsLosesLinesAndHoldsNobodyUp) {
  LogOutput output(ends_[1]);
  const std::string line = std::string(999, 'x') + "\n";
  for (int i = 0; i < 10'000; ++i) output.write(line);  // more than any buffer holds
  EXPECT_EQ(output.take_lost(), 0u) << "there is no room to tell of them";
  const std::string first = read_all_from(ends_[0]);
  EXPECT_EQ(first.substr(0, line.size()), line);
  const std::uint64_t lost = output.take_lost();
  EXPECT_GT(lost, 0u);
  EXPECT_LT(lost, 10'000u);
  EXPECT_EQ(output.take_lost(), 0u);
  output.write("again\n");
  EXPECT_EQ(read_all_from(ends_[0]), "again\n");
}

TEST_P(LogOutputTest, ALongLineIsWhole) {
  LogOutput output(ends_[1]);
  const std::string line = std::string(20'000, 'y') + "\n";
  output.write(line);
  EXPECT_EQ(read_all_from(ends_[0]), line);
  EXPECT_EQ(output.take_lost(), 0u);
}

TEST_P(LogOutputTest, AReaderThatHasGoneIsNoMatter) {
  const auto before = std::signal(SIGPIPE, SIG_IGN);
  LogOutput output(ends_[1]);
  close(ends_[0]);
  output.write("nobody reads this\n");
  std::signal(SIGPIPE, before);
  ends_[0] = dup(ends_[1]);
}

INSTANTIATE_TEST_SUITE_P(Outputs, LogOutputTest, ::testing::Bool(), [](const auto& of) {
  return of.param ? std::string("Socket") : std::string("Pipe");
});

}  // namespace
}  // namespace gorgo::server
