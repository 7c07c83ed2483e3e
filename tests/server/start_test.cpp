// What a server answers while it recovers: its disk waits in the middle of that.

#include <gmock/gmock.h>

#include <condition_variable>
#include <filesystem>
#include <mutex>

#include "http_support.hpp"
#include "simulated_disk.hpp"

namespace gorgo::server {
namespace {

using journal::Disk;
using journal::File;
using testing::HasSubstr;

/// Lets a thread wait before it opens a file, until somebody opens the barrier.
class Barrier {
 public:
  void pass() {
    std::unique_lock lock(mutex_);
    waits_ = true;
    changed_.notify_all();
    changed_.wait(lock, [&] { return open_; });
  }
  void await_somebody() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return waits_; });
  }
  void open() {
    const std::lock_guard lock(mutex_);
    open_ = true;
    changed_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool waits_ = false, open_ = false;
};

/// Another disk, behind a barrier from the moment on at which a whole snapshot is looked for, which
/// is when the journal is open and nothing is replayed.
class BarredDisk : public Disk {
 public:
  BarredDisk(std::shared_ptr<Disk> disk, Barrier& barrier)
      : disk_(std::move(disk)), barrier_(barrier) {}

  Result<void> make_folder(const std::string& path) override { return disk_->make_folder(path); }
  Result<bool> exists(const std::string& path) override { return disk_->exists(path); }
  Result<std::vector<std::string>> list(const std::string& folder) override {
    if (locked_ && ++lists_ > 1) barrier_.pass();
    return disk_->list(folder);
  }
  Result<void> sync_folder(const std::string& folder) override {
    return disk_->sync_folder(folder);
  }
  Result<std::unique_ptr<File>> create(const std::string& path) override {
    return disk_->create(path);
  }
  Result<std::unique_ptr<File>> open_to_read(const std::string& path) override {
    return disk_->open_to_read(path);
  }
  Result<std::unique_ptr<File>> open_to_write(const std::string& path) override {
    return disk_->open_to_write(path);
  }
  Result<void> rename(const std::string& from, const std::string& to) override {
    return disk_->rename(from, to);
  }
  Result<void> remove(const std::string& path) override { return disk_->remove(path); }
  Result<bool> link(const std::string& from, const std::string& to) override {
    return disk_->link(from, to);
  }
  Result<std::unique_ptr<journal::Lock>> lock_folder(const std::string& folder) override {
    locked_ = true;
    return disk_->lock_folder(folder);
  }

 private:
  const std::shared_ptr<Disk> disk_;
  Barrier& barrier_;
  bool locked_ = false;
  int lists_ = 0;
};

class StartTest : public testing::Test {
 protected:
  const std::shared_ptr<journal::SimulatedDisk> disk_ = std::make_shared<journal::SimulatedDisk>(1);
  Barrier barrier_;
  Log log_{LogFormat::text, LogLevel::off};

  ServerOptions options(std::shared_ptr<Disk> disk) const {
    ServerOptions options = with_http();
    options.listen = "127.0.0.1:0";
    options.journal.path = "journal";
    options.journal.disk = std::move(disk);
    options.journal.snapshot_bytes = 0;  // so that there is something to replay
    return options;
  }
  /// Leaves a journal with some events.
  void fill() {
    RunningServer server(options(disk_));
    Client client = server.connect();
    deploy(client, kFireRule);
    const std::vector<Event> events = {temp(1, "north", 50), smoke(2, "north")};
    ASSERT_TRUE(client.publish(events, {.acknowledge = Acknowledge::durable}));
  }
  static std::string http_of(const Server& server) {
    const auto lines = server.lines();
    EXPECT_EQ(lines.size(), 1u);
    return lines.front().substr(std::string("http on ").size());
  }
};

TEST_F(StartTest, HttpTellsHowFarItIsAndRefusesTheRestUntilTheServerIsReady) {
  fill();
  Server server(options(std::make_shared<BarredDisk>(disk_, barrier_)), log_);
  ASSERT_TRUE(server.listen_early());
  std::thread thread([&] {
    EXPECT_TRUE(server.recover());
    EXPECT_FALSE(server.load_rules().failed());
    EXPECT_TRUE(server.listen());
    EXPECT_TRUE(server.run());
  });
  HttpConnection http(http_of(server));
  barrier_.await_somebody();
  EXPECT_EQ(http.ask("GET", "/healthz").status, 200u);
  const auto starting = http.ask("GET", "/readyz");
  EXPECT_EQ(starting.status, 503u);
  EXPECT_THAT(starting.body, HasSubstr("starting: "));
  HttpConnection last(http_of(server));
  EXPECT_EQ(last.ask("GET", "/healthz", "", "Connection: close\r\n").status, 200u);
  EXPECT_TRUE(last.is_closed());
  const auto refused = http.ask("GET", "/v1/rules");
  EXPECT_EQ(refused.status, 503u);
  EXPECT_EQ(refused.headers.at("Retry-After"), "1");
  EXPECT_THAT(refused.json().value("reason", ""), HasSubstr("the server is starting"));
  HttpConnection publisher(http_of(server));
  EXPECT_EQ(publisher.ask("POST", "/v1/events", event_line("A", 1)).status, 503u);

  barrier_.open();
  wait_until([&] { return http.ask("GET", "/readyz").status == 200; });
  EXPECT_EQ(http.ask("GET", "/v1/rules").json().at("rules").size(), 1u);
  server.stop();
  thread.join();
}

TEST_F(StartTest, AConnectionDoesNotOutliveAStartThatFails) {
  fill();
  ServerOptions other = options(std::make_shared<BarredDisk>(disk_, barrier_));
  other.processor.max_depth = 3;
  auto server = std::make_unique<Server>(other, log_);
  ASSERT_TRUE(server->listen_early());
  std::thread thread([&] { EXPECT_TRUE(server->recover().has_error()); });
  HttpConnection http(http_of(*server));
  barrier_.await_somebody();
  EXPECT_EQ(http.ask("GET", "/healthz").status, 200u);
  barrier_.open();
  thread.join();
  server.reset();
  EXPECT_TRUE(http.is_closed());
}

}  // namespace
}  // namespace gorgo::server
