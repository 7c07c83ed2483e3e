#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <new>

#include "failing_memory.hpp"
#include "support.hpp"

namespace gorgo::server {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const std::string kText(100, 't');

/// An event of a type that nobody knows, of a declared one, and one that is held back.
struct Taken {
  const char* name;
  Duration lateness;
  Event event;
};

std::vector<Taken> all_ways_in() {
  const Event unknown = {"Unknown", 10, {{"a", std::int64_t{1}}, {"text", kText}}};
  const Event declared = {"Declared", 10, {{"text", kText}, {"n", std::int64_t{2}}}};
  const Event converted = {"Declared", 10, {{"n", 2.0}, {"text", kText}}};
  return {{"unknown", 0, unknown},
          {"declared", 0, declared},
          {"refused", 0, converted},
          {"held unknown", 5, unknown},
          {"held", 5, declared}};
}

std::vector<std::string> types_out(Processor& processor) {
  std::vector<std::string> types;
  processor.flush([&](const OutputBatch& batch) {
    for (const auto& row : batch.rows) {
      const Event event = batch.to_event(row);
      types.push_back(event.type + std::to_string(*event.timestamp));
      for (const Attribute& a : event.attributes) {
        if (a.name != "text") continue;
        EXPECT_EQ(std::get<std::string>(a.value), kText);
      }
    }
  });
  return types;
}

TEST(Allocation, AnEventThatFindsNoMemoryLeavesNothingBehind) {
  for (const Taken& way : all_ways_in()) {
    long n = 1;
    for (bool failed = true; failed; ++n) {
      Processor processor({.lateness = way.lateness});
      ASSERT_TRUE(
          processor.declare("Declared", {{"text", ValueType::string}, {"n", ValueType::integer}}));
      ASSERT_TRUE(processor.append(Event{"Before", 1, {{"text", kText}}}));
      const auto pending = processor.pending(), held = processor.held();
      std::optional<bool> taken;
      {
        const Failing nth(n);
        try {
          taken = processor.append(way.event).has_value();
        } catch (const std::bad_alloc&) {
        }
        failed = nth.failed();
      }
      if (!taken) {
        EXPECT_EQ(processor.pending(), pending) << way.name << ", allocation " << n;
        EXPECT_EQ(processor.held(), held) << way.name << ", allocation " << n;
        taken = processor.append(way.event).has_value();
      }
      EXPECT_EQ(*taken, std::string(way.name) != "refused") << n;
      ASSERT_TRUE(processor.append(Event{"Behind", 20, {{"text", kText}}}));
      if (*taken) {
        EXPECT_THAT(types_out(processor), ElementsAre("Before1", way.event.type + "10", "Behind20"))
            << way.name << ", allocation " << n;
      } else {
        EXPECT_THAT(types_out(processor), ElementsAre("Before1", "Behind20")) << n;
      }
    }
    EXPECT_GT(n, 2) << way.name << ": nothing was allocated";
  }
}

/// Publishes until everything is accepted: what is refused for want of memory may be sent again.
std::uint64_t publish_all(Client& client, std::vector<Event> events) {
  std::uint64_t accepted = 0;
  while (!events.empty() && !testing::Test::HasFailure()) {
    const auto published = client.publish(events);
    if (!published) {
      EXPECT_THAT(published.error().message, ::testing::HasSubstr("short of memory"));
      continue;
    }
    accepted += published->accepted;
    std::vector<Event> refused;
    for (const Refusal& refusal : published->refusals) {
      EXPECT_THAT(refusal.reason, ::testing::HasSubstr("short of memory"));
      refused.push_back(events[refusal.index]);
    }
    events = std::move(refused);
  }
  return accepted;
}

TEST(Allocation, WhateverFailsInTheServerNothingAcceptedIsLost) {
  const Sparing sparing;
  ServerOptions options;
  options.processor.threads = 1;
  RunningServer server(options);
  Client client = server.connect();
  deploy(client,
         "rule pair: define Pair(text: string) from A(text = $t) and last B(text = $t) within 1 s "
         "from A where text = B.text;");
  subscribe(client, "*");
  Timestamp now = 0;
  std::uint64_t sent = 0, roots = 0, pairs = 0;
  for (long n = 1; n <= 400; ++n) {
    now += 1'000'000;
    {
      const Failing nth(n);
      sent += publish_all(client, {Event{"B", now, {{"text", kText}}},
                                   Event{"C", now + 1, {{"x", true}, {"text", kText}}},
                                   Event{"A", now + 2, {{"text", kText}}}});
    }
    EXPECT_EQ(sent, 3u * static_cast<std::uint64_t>(n));
    while (roots < sent || pairs < static_cast<std::uint64_t>(n)) {
      ++(next(client).event.type == "Pair" ? pairs : roots);
      ASSERT_FALSE(testing::Test::HasFailure()) << "allocation " << n;
    }
  }
  EXPECT_TRUE(client.rules());
}

/// Publishes events of type A with rising numbers until the server ends; returns its log.
std::string log_until_the_end(const std::string& rule, std::size_t most) {
  ::testing::internal::CaptureStderr();
  {
    ServerOptions options;
    options.processor.threads = 1;
    RunningServer server(options, LogLevel::error);
    Client client = server.connect();
    deploy(client, rule);
    const Limiting limit(most);
    std::vector<Event> events(100);
    for (std::int64_t n = 0;; n += static_cast<std::int64_t>(events.size())) {
      for (std::size_t i = 0; i < events.size(); ++i) {
        const auto number = n + static_cast<std::int64_t>(i);
        events[i] = {"A", 1'000'000'000 + number, {{"n", number}}};
      }
      if (!client.publish(events)) break;
    }
  }
  return ::testing::internal::GetCapturedStderr();
}

TEST(Allocation, CompositesThatWereConsumedForAndFindNoMemoryEndTheServerAndNameTheRule) {
  const Sparing sparing;
  // One event makes 30 000 composites at once.
  EXPECT_THAT(log_until_the_end("rule pair: define Pair(n: int) from A([int]n = 30000) and "
                                "each A(n >= 0) as b within 1 h from A where n = b.n consuming b;",
                                std::size_t{1} << 20),
              HasSubstr("no memory to hold the composites of rule `pair`: lower engine.max_"));
}

TEST(Allocation, AHistoryThatNeedsTooMuchAtOnceEndsTheServerAndNamesTheType) {
  const Sparing sparing;
  EXPECT_THAT(log_until_the_end("rule pair: define Pair(n: int) from A([int]n = -1) and "
                                "each A(n >= 0) as b within 1 h from A where n = b.n;",
                                std::size_t{1} << 20),
              HasSubstr("no memory to remember events of type `A`: make the windows"));
}

/// A publication of so many rows is carried out in several turns, with memory again in the next
/// one.
TEST(Allocation, RowsBehindOneThatFoundNoMemoryAreRefusedToo) {
  const Sparing sparing;
  ServerOptions options;
  options.processor.threads = 1;
  RunningServer server(options);
  Client client = server.connect();
  std::vector<Event> events(20'000);
  Timestamp now = 0;
  int in_part = 0;
  // Few of the allocations come in the middle of a publication, and other threads allocate, too.
  for (int i = 0; in_part < 3 && i < 6000; ++i) {
    const long n = 1 + i % 300;
    for (Event& event : events) event = {"A", ++now, {{"n", std::int64_t{now}}}};
    const Failing nth(n);
    const auto published = client.publish(events);
    if (!published) {
      EXPECT_THAT(published.error().message, HasSubstr("short of memory"));
    } else if (published->refused > 0) {
      ++in_part;
      EXPECT_EQ(published->refusals.front().index + published->refused, events.size()) << n;
    }
  }
  EXPECT_EQ(in_part, 3);
}

/// The rules make a snapshot's first part larger than all else that this server allocates at once.
TEST(Allocation, ASnapshotThatFindsNoMemoryIsGivenUpAndMadeLater) {
  namespace fs = std::filesystem;
  const Sparing sparing;
  const fs::path folder =
      fs::path(testing::TempDir()) / ("gorgo_snapshots_" + std::to_string(getpid()));
  ServerOptions options;
  options.processor.threads = 1;
  options.journal.path = folder.string();
  options.journal.snapshot_bytes = 300'000;
  std::string rules;
  for (int i = 0; i < 2'000; ++i) {
    rules += "rule r" + std::to_string(i) +
             ": define R(s: string) from Other(x = " + std::to_string(i) + ") where s = \"" +
             kText + "\";";
  }
  ::testing::internal::CaptureStderr();
  {
    RunningServer server(options, LogLevel::warning);
    Client client = server.connect();
    deploy(client, rules);
    std::int64_t n = 0;
    const auto some_events = [&] {
      std::vector<Event> events(100);
      for (Event& event : events) {
        ++n;
        event = {"A", n * kMillisecond, {{"n", n}, {"text", kText}}};
      }
      return events;
    };
    const auto snapshots = [&] {
      return std::ranges::count_if(fs::directory_iterator(folder), [](const auto& each) {
        return each.path().filename().string().starts_with("snapshot-");
      });
    };
    while (snapshots() < 1 && !HasFailure()) publish_all(client, some_events());
    {
      const Limiting limit(std::size_t{200} << 10);
      for (int i = 0; i < 400; ++i) publish_all(client, some_events());  // far more than one is due
    }
    EXPECT_EQ(snapshots(), 1);
    while (snapshots() < 2 && !HasFailure()) publish_all(client, some_events());
  }
  const std::string log = ::testing::internal::GetCapturedStderr();
  EXPECT_THAT(log, HasSubstr("no snapshot was made"));
  EXPECT_THAT(log, ::testing::Not(HasSubstr("error"))) << log;
  fs::remove_all(folder);
}

TEST(Allocation, RequestsOfAllKindsAreAnsweredOrTakeNoEffect) {
  const Sparing sparing;
  ServerOptions options;
  options.processor.threads = 1;
  RunningServer server(options);
  for (long n = 1; n <= 600; n += 5) {
    Client client = server.connect();
    const std::string rule = "rule r" + std::to_string(n) + ": define C() from A(x = 1);";
    {
      const Failing nth(n);
      EXPECT_TRUE(client.declare("T" + std::to_string(n), {{"x", ValueType::integer}})) << n;
      const auto deployed = client.deploy("test.tesla", rule);
      EXPECT_TRUE(deployed && !deployed->failed()) << n;
      EXPECT_TRUE(client.subscribe("C(timestamp > 5)")) << n;
      EXPECT_TRUE(client.rules()) << n;
    }
    EXPECT_TRUE(client.remove("r" + std::to_string(n)));
  }
  EXPECT_TRUE(server.connect().rules()->empty());
}

}  // namespace
}  // namespace gorgo::server
