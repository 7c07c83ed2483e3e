// Servers are killed under load. What clients sent, were told and received decides whether anything
// was lost, doubled, changed or made up. GORGO_KILLS says how often.

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <random>
#include <thread>

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
    process_->signal(SIGKILL);
    process_->wait();
    start();
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

  void start() {
    process_ = std::make_unique<Process>(std::vector<std::string>{
        "serve", "--listen", "127.0.0.1:0", "--log-level", "off", "--journal",
        (folder_ / "journal").string(), "--config", (folder_ / "gorgo.toml").string()});
    const std::string address = address_in(process_->out_line());
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

}  // namespace
}  // namespace gorgo
