#include <gmock/gmock.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>

#include "process.hpp"
#include "slow_rule.hpp"

// What a service manager hears of the real binary, over a real socket.
namespace gorgo {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

/// The manager's end of the protocol. Its environment holds while it lives.
class Manager {
 public:
  explicit Manager(const std::string& watchdog_usec = "") {
    socket_ = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    sockaddr_un address = {};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, path_.c_str(), sizeof address.sun_path - 1);
    EXPECT_EQ(bind(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    setenv("NOTIFY_SOCKET", path_.c_str(), 1);
    if (!watchdog_usec.empty()) setenv("WATCHDOG_USEC", watchdog_usec.c_str(), 1);
  }
  ~Manager() {
    unsetenv("NOTIFY_SOCKET");
    unsetenv("WATCHDOG_USEC");
    close(socket_);
    unlink(path_.c_str());
  }
  Manager(const Manager&) = delete;
  Manager& operator=(const Manager&) = delete;

  /// The next message that is no sign of life.
  std::string next() {
    std::string told = any();
    while (told == "WATCHDOG=1") told = any();
    return told;
  }
  /// Whether a message comes within the time.
  bool hears_within(std::chrono::seconds time) {
    const timeval limit{.tv_sec = time.count(), .tv_usec = 0};
    EXPECT_EQ(setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit), 0);
    return !any().empty();
  }
  std::string any() {
    char text[4096];
    const auto size = recv(socket_, text, sizeof text, 0);
    return size < 0 ? "" : std::string(text, static_cast<std::size_t>(size));
  }

 private:
  const std::string path_ =
      (std::filesystem::path(testing::TempDir()) / ("gorgo_manager_" + std::to_string(getpid())))
          .string();
  int socket_;
};

TEST(ServiceManager, HearsOfTheStartAndOfTheEnd) {
  Manager manager;
  Process server({"serve", "--listen", "127.0.0.1:0", "--http", "127.0.0.1:0"});
  EXPECT_EQ(manager.next(), "READY=1\nSTATUS=2 ports open");
  // Whoever hears it finds the ports open: their lines were printed before.
  EXPECT_NE(address_in(server.out_line()), "");
  server.signal(SIGTERM);
  EXPECT_THAT(manager.next(), StartsWith("STOPPING=1\nSTATUS="));
  EXPECT_EQ(server.wait(), 0);
}

TEST(ServiceManager, HearsOfReloadsAndOfTheirEnds) {
  Manager manager;
  Process server({"serve", "--listen", "127.0.0.1:0"});
  EXPECT_THAT(manager.next(), StartsWith("READY=1"));
  server.signal(SIGHUP);
  EXPECT_THAT(manager.next(), StartsWith("RELOADING=1\nMONOTONIC_USEC="));
  EXPECT_EQ(manager.next(), "READY=1\nSTATUS=1 port open");
}

TEST(ServiceManager, HearsSignsOfLifeWhereItAsksForThem) {
  Manager manager("30000");
  Process server({"serve", "--listen", "127.0.0.1:0"});
  EXPECT_THAT(manager.any(), StartsWith("READY=1"));
  for (int i = 0; i < 3; ++i) EXPECT_EQ(manager.any(), "WATCHDOG=1");
}

TEST(ServiceManager, HearsNoSignOfLifeOfAnEngineThatMakesNoProgress) {
  const auto rules =
      std::filesystem::path(testing::TempDir()) / ("gorgo_slow_" + std::to_string(getpid()));
  std::ofstream(rules) << kSlowRule;
  Manager manager("30000");
  Process server({"serve", "--listen", "127.0.0.1:0", "--rules", rules.string()});
  keep_busy(address_in(server.out_line()));
  // Signs of life would come without end, a hundred in a second.
  while (manager.hears_within(std::chrono::seconds(1))) {
  }
  server.signal(SIGTERM);
  std::filesystem::remove(rules);
}

}  // namespace
}  // namespace gorgo
