#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "checker.hpp"
#include "gorgo/client.hpp"
#include "process.hpp"

namespace gorgo {

namespace fs = std::filesystem;

/// A folder that goes with the test.
class Folder {
 public:
  explicit Folder(const std::string& name)
      : path_(fs::path(testing::TempDir()) / ("gorgo_" + name + "_" + std::to_string(getpid()))) {
    fs::remove_all(path_);
    fs::create_directories(path_);
  }
  /// A program that is still ending may make and remove files in it.
  ~Folder() {
    std::error_code failure;
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    do {
      fs::remove_all(path_, failure);
    } while (failure && std::chrono::steady_clock::now() < until);
  }

  fs::path operator/(const std::string& name) const { return path_ / name; }
  void write(const std::string& name, const std::string& text) const {
    std::ofstream(path_ / name) << text;
  }
  std::vector<std::string> lines(const std::string& name) const {
    std::vector<std::string> all;
    std::ifstream in(path_ / name);
    for (std::string line; std::getline(in, line);) all.push_back(line);
    return all;
  }

 private:
  const fs::path path_;
};

/// How the configuration of a `ServerWithDoors` begins: with a journal of small files.
inline const std::string kServerBegins =
    "linger_ms = 100\n[journal]\nsnapshot_bytes = 200000\nsegment_bytes = 100000\n";

/// A server with a journal and with doors, which is killed and started again.
class ServerWithDoors {
 public:
  ServerWithDoors(const Folder& folder, const std::string& config) : folder_(folder) {
    folder_.write("gorgo.toml", kServerBegins + config);
    start();
  }

  std::string address() const {
    const std::lock_guard lock(mutex_);
    return address_;
  }
  Client client() const {
    auto client = Client::connect(address());
    EXPECT_TRUE(client) << client.error().to_string();
    return std::move(*client);
  }
  void kill_and_start() {
    process_->signal(SIGKILL);
    process_->wait();
    start();
  }
  /// After it has ended.
  void start_again() { start(); }
  int stop() {
    process_->signal(SIGTERM);
    return process_->wait();
  }
  void signal(int number) { process_->signal(number); }
  Process& process() { return *process_; }

 private:
  const Folder& folder_;
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

inline constexpr const char* kEcho = "rule echo: define Echo(v: int) from A() where v = A.v;";

/// Numbers come through a door as events `A(v)`, from 1 on, while `die` has something die, so
/// often. What a durable subscriber gets decides whether any was lost, doubled or out of order.
/// `publish` sends numbers until `ended`, and returns the last.
template <class Publish, class Die>
std::int64_t check_numbers(ServerWithDoors& server, int deaths, Publish publish, Die die) {
  std::atomic<bool> publisher_ends = false, reader_ends = false;
  std::atomic<std::int64_t> last = 0;
  checker::Progress progress;
  checker::Received received(progress);
  std::thread publisher([&] { last = publish(publisher_ends); });
  std::thread reader([&] {
    received.run([&] { return server.address(); }, reader_ends,
                 [&](const checker::Received& so_far) {
                   const auto got = so_far.last();
                   return !got.empty() && got.begin()->second >= last;
                 });
  });
  for (int i = 0; i < deaths; ++i) die();
  publisher_ends = true;
  publisher.join();
  reader_ends = true;
  reader.join();
  EXPECT_EQ(received.events(), static_cast<std::size_t>(last));
  return last;
}

inline void begin_checks(ServerWithDoors& server) {
  auto client = server.client();
  const auto deployed = client.deploy("echo.tesla", kEcho);
  ASSERT_TRUE(deployed && !deployed->failed());
  ASSERT_TRUE(client.subscribe("Echo", {.durable = "checker"}));
}

/// How often tests have something die; GORGO_KILLS says otherwise.
inline int deaths() {
  const char* given = std::getenv("GORGO_KILLS");
  return given == nullptr ? 5 : std::atoi(given);
}

/// The number that a payload with the event `Echo(v)` has, without that of the producer.
inline std::int64_t number_in(std::string_view payload) {
  const auto at = payload.find("\"v\":");
  return at == payload.npos ? -1 : std::atoll(payload.data() + at + 4) & 0xffffffff;
}

/// Ends a wait for what does not come: the test fails with what it has waited for.
class Patience {
 public:
  explicit Patience(std::string what) : what_(std::move(what)) {}

  /// Whether there is still time.
  bool lasts() const {
    if (std::chrono::steady_clock::now() < until_) return true;
    ADD_FAILURE() << "waited for a minute: " << what_;
    return false;
  }

 private:
  const std::string what_;
  const std::chrono::steady_clock::time_point until_ =
      std::chrono::steady_clock::now() + std::chrono::minutes(1);
};

/// For the reader of a failure.
inline void tell_of_doors(ServerWithDoors& server) {
  const auto doors = server.client().doors();
  if (!doors) return;
  for (const Door& door : *doors) {
    std::printf("%s is %s, has had %llu events, and stands at %s; %s\n", door.name.c_str(),
                door.state.c_str(), static_cast<unsigned long long>(door.events),
                door.position.c_str(), door.problem.c_str());
  }
}

/// A client publishes numbers, which leave through a door, while `die` has something die, so often.
/// `count` says how many the other side has got, and `left` which, in its order; none may be there
/// twice. The publisher waits when it is far ahead of what `reached` says after each death, which
/// is told how many were sent.
template <class Die, class Count, class Left, class Reached = std::identity>
std::int64_t check_numbers_leave(ServerWithDoors& server, int deaths, Die die, Count count,
                                 Left left, Reached reached = {}) {
  std::atomic<bool> ended = false;
  std::int64_t last = 0;
  checker::Progress progress;
  std::thread publisher(
      [&] { checker::publish([&] { return server.address(); }, 1, ended, progress, last); });
  for (int i = 0; i < deaths; ++i) {
    die();
    progress.received = reached(progress.sent.load());
  }
  ended = true;
  publisher.join();
  for (std::int64_t before = -1, now = count(); now < last && now > before;) {
    before = now;
    const Patience patience("for more numbers to leave");
    while (now == before && patience.lasts()) {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      now = count();
    }
  }
  if (testing::Test::HasFailure()) tell_of_doors(server);
  std::int64_t expected = 0;
  for (const std::int64_t number : left()) {
    EXPECT_EQ(number, ++expected) << "lost, doubled, or out of order";
    if (number != expected) break;
  }
  EXPECT_EQ(expected, last);
  return last;
}

/// Waits until the door says so.
template <class Done>
Door wait_for_door(Client& client, const std::string& name, Done done) {
  const Patience patience("for the door " + name);
  Door seen;
  while (patience.lasts()) {
    const auto doors = client.doors();
    if (!doors) {
      ADD_FAILURE() << doors.error().to_string();
      return seen;
    }
    for (const Door& door : *doors) {
      if (door.name != name) continue;
      seen = door;
      if (done(door)) return seen;
    }
    std::this_thread::yield();
  }
  ADD_FAILURE() << name << " is " << seen.state << ", has had " << seen.events << " events, "
                << seen.dead_letters << " dead letters; " << seen.problem;
  return seen;
}

/// A server with this door, which has an event for it, finds that the other side is not who it
/// should be.
inline void expect_no_trust(const Folder& folder, const std::string& config,
                            const std::string& door) {
  ServerWithDoors server(folder, config);
  auto client = server.client();
  EXPECT_TRUE(client.publish(std::vector<Event>{{"A", std::nullopt, {{"v", std::int64_t{1}}}}}));
  wait_for_door(client, door, [](const Door& seen) {
    const auto tells = [&](const char* word) {
      return seen.problem.find(word) != std::string::npos;
    };
    return tells("certificate") || tells("SSL") || tells("TLS");
  });
  EXPECT_EQ(server.stop(), 0);
}

}  // namespace gorgo
