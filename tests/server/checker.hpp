#pragma once

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "gorgo/client.hpp"

/// Judges a server that dies again and again by what its clients sent, were told and received: what
/// was lost, doubled, changed, out of order or made up is a failure of the test.
namespace gorgo::checker {

constexpr Duration kMillisecond = 1'000'000;
using Clock = std::chrono::steady_clock;
constexpr std::chrono::seconds kMostSilence{60};
using Address = std::function<std::string()>;

/// How far publishers and the reader got together. Publishers wait for a reader that is far behind,
/// because the server may drop what waits for it beyond `journal.backlog_bytes`.
struct Progress {
  static constexpr std::int64_t kMostAhead = 20'000;
  std::atomic<std::int64_t> sent = 0, received = 0;

  bool is_reader_near() const { return sent - received < kMostAhead; }
};

/// Publishes one number after the other, each batch until the server says that it is durable.
inline void publish(const Address& address, std::uint64_t producer, const std::atomic<bool>& ended,
                    Progress& progress, std::int64_t& sent) {
  std::uint64_t sequence = 0;
  std::vector<Event> batch;
  while (!ended || !batch.empty()) {
    auto client = Client::connect(address(), {.producer = producer});
    while (client && (!ended || !batch.empty())) {
      if (batch.empty()) {
        while (!ended && !progress.is_reader_near()) std::this_thread::yield();
        if (ended) break;
        ++sequence;
        progress.sent += 20;
        for (int i = 0; i < 20; ++i) {
          batch.push_back({"A", std::nullopt, {{"v", std::int64_t(producer) << 32 | ++sent}}});
        }
      }
      const auto published =
          client->publish(batch, {.acknowledge = Acknowledge::durable, .sequence = sequence});
      if (!published) break;
      EXPECT_EQ(published->refused, 0u);
      batch.clear();
    }
  }
}

/// What a durable subscriber got, without what it got again.
class Received {
 public:
  explicit Received(Progress& progress) : progress_(progress) {}

  /// Reads until every publisher's last number has come, or nothing new comes any more.
  void run(const Address& address, const std::atomic<bool>& ended,
           const std::function<bool(const Received&)>& complete) {
    const auto reads_on = [&] { return !ended || (!complete(*this) && !is_stuck()); };
    while (reads_on()) {
      auto client = Client::connect(address());
      if (!client || !client->subscribe("Echo", {.durable = "checker"})) continue;
      while (reads_on()) {
        const auto delivery = client->next(100 * kMillisecond);
        if (!delivery) break;
        if (!*delivery) continue;
        take(**delivery);
        if (places_.size() % 1000 == 0 && !client->acknowledge("checker", (*delivery)->place))
          break;
      }
    }
  }

  std::map<std::int64_t, std::int64_t> last() const { return last_; }
  std::size_t again() const { return again_; }
  std::size_t events() const { return places_.size(); }

 private:
  Progress& progress_;
  std::map<Place, std::int64_t> places_;
  std::map<std::int64_t, std::int64_t> last_;  // by producer
  std::size_t again_ = 0;
  Clock::time_point last_new_ = Clock::now();

  /// What was lost never comes, and a test that waits for it tells nothing.
  bool is_stuck() const {
    if (Clock::now() - last_new_ < kMostSilence) return false;
    ADD_FAILURE() << "nothing new came for a minute, behind " << places_.size() << " events";
    return true;
  }

  void take(const Delivery& delivery) {
    EXPECT_EQ(delivery.lost_before.events, 0u);
    const auto value = std::get<std::int64_t>(delivery.event.attributes[0].value);
    const auto [known, is_new] = places_.emplace(delivery.place, value);
    if (!is_new) {
      ++again_;
      EXPECT_EQ(known->second, value) << "an id stands for another event";
      return;
    }
    EXPECT_EQ(known, std::prev(places_.end())) << "events came in another order";
    std::int64_t& last = last_[value >> 32];
    EXPECT_EQ(value & 0xffffffff, last + 1) << "lost, doubled, or out of order";
    last = value & 0xffffffff;
    last_new_ = Clock::now();
    ++progress_.received;
  }
};

/// Publishes from several connections and reads a durable subscription, while `die` has the server
/// die, `deaths` times. The server must have no rules and no subscriptions.
template <class Die>
void run(const Address& address, int deaths, Die die) {
  {
    auto client = Client::connect(address());
    ASSERT_TRUE(client) << client.error().to_string();
    const auto deployed =
        client->deploy("echo.tesla", "rule echo: define Echo(v: int) from A() where v = A.v;");
    ASSERT_TRUE(deployed && !deployed->failed());
    ASSERT_TRUE(client->subscribe("Echo", {.durable = "checker"}));
  }
  constexpr std::uint64_t kPublishers = 3;
  std::atomic<bool> publishers_end = false, reader_ends = false;
  Progress progress;
  std::array<std::int64_t, kPublishers> sent{};
  std::vector<std::thread> publishers;
  for (std::uint64_t i = 0; i < kPublishers; ++i) {
    publishers.emplace_back([&, i] { publish(address, i + 1, publishers_end, progress, sent[i]); });
  }
  Received received(progress);
  std::thread reader([&] {
    received.run(address, reader_ends, [&](const Received& so_far) {
      const auto last = so_far.last();
      for (std::uint64_t i = 0; i < kPublishers; ++i) {
        const auto found = last.find(static_cast<std::int64_t>(i + 1));
        if (sent[i] > 0 && (found == last.end() || found->second < sent[i])) return false;
      }
      return true;
    });
  });
  for (int i = 0; i < deaths; ++i) die();
  publishers_end = true;
  for (std::thread& publisher : publishers) publisher.join();
  reader_ends = true;
  reader.join();
  std::int64_t all = 0;
  for (const std::int64_t one : sent) all += one;
  EXPECT_EQ(received.events(), static_cast<std::size_t>(all));
  std::printf("%d deaths, %lld events, %zu of them came again\n", deaths,
              static_cast<long long>(all), received.again());
}

}  // namespace gorgo::checker
