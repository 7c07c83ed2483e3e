#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "gorgo/publisher.hpp"
#include "gorgo/subscription.hpp"
#include "tests/server/process.hpp"
#include "tests/server/support.hpp"

/// What the tests of the C++ client share.
namespace gorgo {

using server::RunningServer;
using server::wait_until;

inline constexpr Duration kLong = 60'000'000'000;

inline Event numbered(std::int64_t n) { return {"Number", std::nullopt, {{"n", n}}}; }

inline std::int64_t number_in(const Event& event) {
  return std::get<std::int64_t>(event.attributes.at(0).value);
}

inline Publisher publisher_of(const std::string& address, PublisherOptions options = {}) {
  options.longest_pause = 20'000'000;
  auto publisher = Publisher::open(address, options);
  EXPECT_TRUE(publisher) << publisher.error().to_string();
  return *std::move(publisher);
}

inline Subscription subscription_of(const std::string& address, const std::string& text,
                                    StreamOptions options = {}) {
  options.longest_pause = 20'000'000;
  auto subscription = Subscription::open(address, {text}, options);
  EXPECT_TRUE(subscription) << subscription.error().to_string();
  return *std::move(subscription);
}

/// The next item, which must come.
inline Item next(Subscription& subscription) {
  auto item = subscription.next(kLong);
  EXPECT_TRUE(item) << item.error().to_string();
  EXPECT_TRUE(item && *item) << "nothing came";
  return item && *item ? **std::move(item) : Item(Ended{});
}

/// The numbers of the events up to the end of the stream.
inline std::vector<std::int64_t> numbers(Subscription& subscription) {
  std::vector<std::int64_t> numbers;
  while (true) {
    const Item item = next(subscription);
    if (std::holds_alternative<Ended>(item)) return numbers;
    if (const auto* delivery = std::get_if<Delivery>(&item)) {
      numbers.push_back(number_in(delivery->event));
    }
  }
}

/// A server in a process of its own, which can be killed and started again where it was.
class RestartableServer {
 public:
  explicit RestartableServer(std::vector<std::string> arguments = {})
      : arguments_(std::move(arguments)) {
    start("127.0.0.1:0");
  }

  const std::string& address() const { return address_; }
  void kill() {
    process_->signal(SIGKILL);
    process_->wait();
    process_.reset();
  }
  void restart() { start(address_); }

 private:
  std::string address_;
  const std::vector<std::string> arguments_;
  std::optional<Process> process_;

  void start(const std::string& where) {
    std::vector<std::string> all = {"serve", "--listen", where};
    all.insert(all.end(), arguments_.begin(), arguments_.end());
    process_.emplace(all);
    address_ = address_in(process_->out_line());
  }
};

/// An empty folder, gone with the test.
class Folder {
 public:
  Folder() {
    std::filesystem::remove_all(path);
    std::filesystem::create_directories(path);
  }
  ~Folder() { std::filesystem::remove_all(path); }

  const std::filesystem::path path =
      std::filesystem::path(testing::TempDir()) / ("gorgo_cpp_client_" + std::to_string(getpid()));
};

inline Subscription durable_of(const std::string& address, const std::string& name,
                               std::optional<Place> seen = {}) {
  StreamOptions options;
  options.subscribe.durable = name;
  options.seen = seen;
  auto opened = Subscription::open(address, {"Number"}, options);
  EXPECT_TRUE(opened) << opened.error().to_string();
  return *std::move(opened);
}

/// The next event, whatever notices stand before it.
inline Delivery next_event(Subscription& subscription) {
  while (true) {
    const Item item = next(subscription);
    EXPECT_FALSE(std::holds_alternative<Gap>(item)) << "nothing is missing";
    if (std::holds_alternative<Ended>(item)) return {0, {}, numbered(-1)};
    if (const auto* delivery = std::get_if<Delivery>(&item)) return *delivery;
  }
}

}  // namespace gorgo
