// Servers are killed under load. What clients sent, were told and received decides whether anything
// was lost, doubled, changed or made up. GORGO_KILLS and GORGO_FAULTS say how often.

#include <gtest/gtest.h>

#include <cerrno>
#include <cstdlib>
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

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // they want to come first
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

}  // namespace
}  // namespace gorgo
