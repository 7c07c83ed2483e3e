#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "support.hpp"

namespace gorgo::server {

namespace fs = std::filesystem;

// They remember in every way in which a rule can: windows, consumed events, deadlines, timers.
inline constexpr const char* kRules = R"(
rule pair:
define Pair(k: int, v: int)
from   B(k = $k) and each A(k = $k and v > 20) within 3 s from B
where  k = B.k and v = A.v
consuming A;
rule silence:
define Silence(k: int)
from   A(k = $k) and not B(k = $k) within 2 s after A
where  k = A.k;
rule load:
define Load(n: int, total: int)
from   Timer(every = 1 s)
where  n = COUNT(A() within 5 s from Timer) and total = SUM(A().v within 5 s from Timer);
rule echo:
define Echo(k: int)
from   Pair(v > 90)
where  k = Pair.k;
)";

/// Events with steps of a few hundred milliseconds, some of them late.
inline std::vector<Event> random_events(std::size_t count, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<Event> events;
  Timestamp now = 1'700'000'000 * kSecond;
  for (std::size_t i = 0; i < count; ++i) {
    now += static_cast<Duration>(random() % 400) * kMillisecond;
    const Duration late = random() % 5 == 0 ? 500 * kMillisecond : 0;
    events.push_back({random() % 3 == 0 ? "B" : "A",
                      now - late,
                      {{"k", std::int64_t(random() % 4)}, {"v", std::int64_t(random() % 100)}}});
  }
  return events;
}

/// `print` makes a text of a value.
template <class Print>
std::string text_of(const Delivery& delivery, Print print) {
  std::string text = std::to_string(delivery.place.root) + "-" +
                     std::to_string(delivery.place.ordinal) + " " + delivery.event.type + "@" +
                     std::to_string(delivery.event.timestamp.value_or(0));
  for (const auto& [name, value] : delivery.event.attributes) {
    text += " " + name + "=" + print(value);
  }
  return text;
}
inline std::string text_of(const Delivery& delivery) {
  return text_of(delivery, [](const Value& value) { return testing::PrintToString(value); });
}

/// With 0 as its parameter a start replays the whole journal. Else a snapshot is made whenever so
/// many bytes were written, and files are so small that trimming removes some.
class RecoveryTest : public testing::TestWithParam<std::uint64_t> {
 protected:
  const fs::path folder_ =
      fs::path(testing::TempDir()) /
      ("gorgo_" + std::to_string(getpid()) + "_" +
       folder_name(testing::UnitTest::GetInstance()->current_test_info()->name()));
  int copies_ = 0;

  void SetUp() override { fs::create_directories(folder_); }
  void TearDown() override { fs::remove_all(folder_); }

  ServerOptions options(const fs::path& journal) const {
    ServerOptions options;
    options.journal.path = journal.string();
    options.journal.snapshot_bytes = GetParam();
    if (GetParam() > 0) options.journal.segment_bytes = 1 << 14;
    options.processor.max_ahead = std::nullopt;
    options.processor.max_late = 10 * kSecond;
    return options;
  }
  fs::path journal() const { return folder_ / "journal"; }
  /// What a kill at this moment would leave. A snapshot may be made meanwhile, and files may go: a
  /// copy with files of different moments is made again.
  fs::path crash(const fs::path& journal) {
    while (true) {
      const auto before = files_of(journal);
      const fs::path copy = folder_ / ("copy" + std::to_string(++copies_));
      std::error_code failed;
      fs::copy(journal, copy, fs::copy_options::recursive, failed);
      if (!failed && files_of(journal) == before) return copy;
      fs::remove_all(copy);
    }
  }
  static std::vector<std::string> files_of(const fs::path& journal) {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(journal)) {
      names.push_back(entry.path().filename().string());
    }
    std::ranges::sort(names);
    return names;
  }

 private:
  static std::string folder_name(std::string test) {
    std::ranges::replace(test, '/', '_');
    return test;
  }
};

inline std::string name_of_snapshots(const testing::TestParamInfo<std::uint64_t>& info) {
  return info.param == 0 ? "WithoutSnapshots" : "WithSnapshots";
}

inline void publish(Client& client, std::span<const Event> events, std::size_t at_a_time = 7) {
  while (!events.empty()) {
    const auto now = events.first(std::min(at_a_time, events.size()));
    const auto published = client.publish(now, {.acknowledge = Acknowledge::processed});
    ASSERT_TRUE(published) << published.error().to_string();
    ASSERT_EQ(published->refused, 0u);
    events = events.subspan(now.size());
  }
}

/// What is delivered to the client of what was published so far.
inline std::vector<std::string> delivered(Client& client) {
  std::vector<std::string> list;
  while (true) {
    const auto delivery = client.next(0);
    if (!delivery || !*delivery) return list;
    list.push_back(text_of(**delivery));
  }
}

/// Everything up to the end of the connection.
inline std::vector<std::string> all_delivered(Client& client) {
  std::vector<std::string> list;
  while (true) {
    const auto delivery = client.next(30 * kSecond);
    if (!delivery || !*delivery) return list;
    list.push_back(text_of(**delivery));
  }
}

inline void subscribe_all(Client& client) {
  const auto subscribed = client.subscribe("*");
  ASSERT_TRUE(subscribed && !subscribed->diagnostics.failed());
}

}  // namespace gorgo::server
