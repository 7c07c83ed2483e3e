// Servers are killed under load. What clients sent, were told and received decides whether anything
// was lost, doubled, changed or made up. GORGO_KILLS and GORGO_FAULTS say how often.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mount.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <mutex>
#include <random>
#include <thread>
#include <utility>

#include "checker.hpp"
#include "process.hpp"

namespace gorgo {
namespace {

namespace fs = std::filesystem;

/// The server, which is killed and started again and again. Any thread asks where it is.
class MortalServer {
 public:
  /// Snapshots are made all the time, so that the server is killed in the middle of some.
  explicit MortalServer(const fs::path& folder) : folder_(folder) {
    std::ofstream(folder / "gorgo.toml")
        << "[journal]\nsnapshot_bytes = 200000\nsegment_bytes = 100000\n";
    start();
  }

  std::string address() const {
    const std::lock_guard lock(mutex_);
    return address_;
  }
  void kill_and_start() {
    kill();
    start();
  }
  /// Starts it where its disk may fail at any time, so that it may not get to listen.
  void kill_and_try_to_start() {
    kill();
    spawn();
    const std::string line = process_->out_line();
    if (!line.empty()) set_address(line);
  }
  int stop() {
    process_->signal(SIGTERM);
    return process_->wait();
  }

 private:
  const fs::path folder_;
  mutable std::mutex mutex_;
  std::string address_;
  std::unique_ptr<Process> process_;

  void kill() {
    process_->signal(SIGKILL);
    process_->wait();
  }
  void start() {
    spawn();
    set_address(process_->out_line());
  }
  void spawn() {
    process_ = std::make_unique<Process>(std::vector<std::string>{
        "serve", "--listen", "127.0.0.1:0", "--log-level", "off", "--journal",
        (folder_ / "journal").string(), "--config", (folder_ / "gorgo.toml").string()});
  }
  void set_address(const std::string& line) {
    const std::string address = address_in(line);
    const std::lock_guard lock(mutex_);
    address_ = address;
  }
};

TEST(Kill, NothingAcknowledgedIsLostAndNothingComesTwice) {
  const char* given = std::getenv("GORGO_KILLS");
  const int kills = given == nullptr ? 8 : std::atoi(given);
  const fs::path folder = fs::path(testing::TempDir()) / ("gorgo_kill_" + std::to_string(getpid()));
  fs::create_directories(folder);
  MortalServer server(folder);
  std::mt19937 random(static_cast<unsigned>(getpid()));
  checker::run([&] { return server.address(); }, kills,
               [&] {
                 std::this_thread::sleep_for(std::chrono::milliseconds(20 + random() % 300));
                 server.kill_and_start();
               });
  EXPECT_EQ(server.stop(), 0);
  fs::remove_all(folder);
}

#ifndef GORGO_SANITIZED  // they want to come first
TEST(Faults, ADiskThatFailsLosesNothingThatWasAcknowledged) {
  const char* given = std::getenv("GORGO_FAULTS");
  const int faults = given == nullptr ? 8 : std::atoi(given);
  const fs::path folder =
      fs::path(testing::TempDir()) / ("gorgo_faults_" + std::to_string(getpid()));
  fs::create_directories(folder);
  const fs::path fault = folder / "fault", hit = folder / "fault.hit";
  setenv("LD_PRELOAD", GORGO_FAILING_CALLS, 1);
  setenv("GORGO_FAULT", fault.c_str(), 1);
  MortalServer server(folder);
  std::mt19937 random(static_cast<unsigned>(getpid()));
  // How many of these calls may succeed before: some are rare.
  constexpr std::pair<const char*, unsigned> kCalls[] = {
      {"fdatasync", 40}, {"fsync", 6}, {"pwritev", 40}, {"posix_fallocate", 6}};
  int next = 0;
  checker::run([&] { return server.address(); }, faults,
               [&] {
                 const int error = random() % 2 == 0 ? EIO : ENOSPC;
                 const auto [call, most] = kCalls[next++ % std::size(kCalls)];
                 std::ofstream(fault) << call << " " << random() % most << " " << error;
                 server.kill_and_try_to_start();
                 std::this_thread::sleep_for(std::chrono::milliseconds(50 + random() % 300));
                 fs::remove(fault);
                 server.kill_and_start();
               });
  EXPECT_EQ(server.stop(), 0);
  unsetenv("LD_PRELOAD");
  ASSERT_TRUE(fs::exists(hit)) << "no call has failed";
  std::printf("%ju of %d faults were met\n", fs::file_size(hit), faults);
  fs::remove_all(folder);
}
#endif

/// A file system of its own in memory, as small as that of an operator who did not look.
class SmallDisk {
 public:
  explicit SmallDisk(fs::path folder) : folder_(std::move(folder)) {
    fs::create_directories(folder_);
    is_there_ = mount("tmpfs", folder_.c_str(), "tmpfs", 0, "size=32m") == 0;
    if (!is_there_) why_not_ = std::strerror(errno);
  }
  ~SmallDisk() {
    if (is_there_) umount2(folder_.c_str(), MNT_DETACH);
    fs::remove_all(folder_);
  }
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;

  bool is_there() const { return is_there_; }
  const std::string& why_not() const { return why_not_; }

  /// Takes all the room that is left. The server may give some back, by trimming.
  void fill() const {
    const int file = open(ballast().c_str(), O_CREAT | O_WRONLY | O_APPEND, 0600);
    ASSERT_GE(file, 0) << std::strerror(errno);
    const std::string block(4096, 'x');
    while (write(file, block.data(), block.size()) > 0) {
    }
    EXPECT_EQ(errno, ENOSPC);
    close(file);
  }
  void make_room() const { fs::remove(ballast()); }

 private:
  const fs::path folder_;
  bool is_there_ = false;
  std::string why_not_;

  fs::path ballast() const { return folder_ / "ballast"; }
};

/// Publishes what no rule reads, until that succeeds, or until it is refused for want of room.
void publish_until(const std::string& address, bool refused, const std::function<void()>& before) {
  while (true) {
    auto client = Client::connect(address);
    ASSERT_TRUE(client) << client.error().to_string();
    before();
    const auto published = client->publish(
        std::vector<Event>(100, {"B", std::nullopt, {{"s", std::string(100, 's')}}}),
        {.acknowledge = Acknowledge::durable});
    const bool no_room =
        !published && published.error().message.find("no room") != std::string::npos;
    ASSERT_TRUE(published || no_room) << published.error().to_string();
    if (no_room == refused) return;
  }
}

TEST(SmallDisk, AFullDiskRefusesAndLosesNothing) {
  const fs::path folder = fs::path(testing::TempDir()) / ("gorgo_full_" + std::to_string(getpid()));
  const SmallDisk disk(folder);
  if (!disk.is_there()) GTEST_SKIP() << "no file system can be mounted: " << disk.why_not();
  MortalServer server(folder);
  int round = 0;
  checker::run([&] { return server.address(); }, 6,
               [&] {
                 publish_until(server.address(), true, [&] { disk.fill(); });
                 // Once it goes on where it is, once it dies, and cannot start without room.
                 const bool dies = ++round % 2 == 0;
                 if (dies) server.kill_and_try_to_start();
                 disk.make_room();
                 if (dies) server.kill_and_start();
                 publish_until(server.address(), false, [] {});
               });
  EXPECT_EQ(server.stop(), 0);
}

}  // namespace
}  // namespace gorgo
