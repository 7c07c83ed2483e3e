#include <gmock/gmock.h>

#include <unistd.h>

#include <chrono>
#include <deque>
#include <filesystem>

#include "process.hpp"
#include "support.hpp"

// What clients do to a server that others use, too.
namespace gorgo::server {
namespace {

using ::testing::HasSubstr;

constexpr std::size_t kMiB = std::size_t{1} << 20;

#ifdef GORGO_SANITIZED
constexpr bool kLimitsWork = false;  // sanitizers take terabytes of address space
#else
constexpr bool kLimitsWork = true;
#endif

#define NEEDS_LIMITS() \
  if (!kLimitsWork) GTEST_SKIP() << "the address space cannot be limited under sanitizers"

/// One table of an undeclared type with many bool columns whose names differ at their ends.
protocol::Bytes wide_frame(std::uint64_t id, std::size_t columns, std::uint32_t rows,
                           std::size_t name_size) {
  flatbuffers::FlatBufferBuilder builder;
  const std::vector<std::uint8_t> values(rows, 1);
  std::vector<flatbuffers::Offset<wire::Column>> packed;
  for (std::size_t i = 0; i < columns; ++i) {
    const auto name = builder.CreateString(std::string(name_size, 'n') + std::to_string(i));
    const auto bools = builder.CreateVector(values);
    packed.push_back(wire::CreateColumn(builder, name, wire::ValueType::Bool, 0, 0, bools));
  }
  const auto type = builder.CreateString("Wide");
  const auto table = wire::CreateEventTable(builder, type, rows, 0, builder.CreateVector(packed));
  const auto batch = wire::CreateBatch(builder, builder.CreateVector(std::vector{table}));
  const auto publish = wire::CreatePublish(builder, 0, 0, wire::AckMode::Accepted, batch);
  builder.FinishSizePrefixed(wire::CreateMessage(builder, id, wire::Body::Publish, publish.Union()),
                             wire::MessageIdentifier());
  return {builder.GetBufferPointer(), builder.GetBufferPointer() + builder.GetSize()};
}

/// Ends a server that must still be able to, and returns the line with its accounts.
std::string stop(Process& server) {
  server.signal(SIGTERM);
  const std::string stopped = server.err_line("stopped");
  EXPECT_EQ(server.wait(), 0);
  return stopped;
}

TEST(Hostile, WideEventsTakeMemoryInProportionToTheirFrame) {
  NEEDS_LIMITS();
  Process server({"serve", "--listen", "127.0.0.1:0"}, 640 * kMiB);
  const std::string address = address_in(server.out_line());
  Client other = connect(address);
  ASSERT_TRUE(other.publish(std::vector{smoke(std::nullopt, "A1")}));
  RawConnection hostile(address);
  hostile.greet();
  for (std::uint64_t id = 2; id < 5; ++id) {
    hostile.send(wide_frame(id, 2000, 1000, 900));
    EXPECT_EQ(hostile.expect<wire::Ack>(id).accepted, 1000u);
  }
  hostile.send(wide_frame(5, 1000, 6000, 10));
  EXPECT_EQ(hostile.expect<wire::Ack>(5).accepted, 6000u);
  hostile.close();
  const auto published = other.publish(std::vector{smoke(std::nullopt, "A1")});
  ASSERT_TRUE(published) << published.error().to_string();
  EXPECT_EQ(published->accepted, 1u);
  { const Client gone = std::move(other); }
  EXPECT_THAT(stop(server), HasSubstr("accepted=9002"));
}

TEST(Hostile, AServerShortOfMemoryRefusesWhatItCannotKeepAndGoesOn) {
  NEEDS_LIMITS();
  Process server({"serve", "--listen", "127.0.0.1:0", "--threads", "1"}, 512 * kMiB);
  const std::string address = address_in(server.out_line());
  Client other = connect(address);
  deploy(other,
         "rule keeper: define Kept() from Never(x = 1) and each Big(text = \"none\") within 1 h "
         "from Never; rule all: define All() from Never(x = 2) and last Big(text != \"none\") "
         "within 1 h from Never;");
  Client greedy = connect(address);
  const std::vector<Event> events(500,
                                  Event{"Big", std::nullopt, {{"text", std::string(2000, 'b')}}});
  std::uint64_t accepted = 0;
  std::string refused;
  while (refused.empty()) {
    const auto published = greedy.publish(events);
    if (published) accepted += published->accepted;
    if (!published) refused = published.error().to_string();
    if (published && published->refused > 0) refused = published->refusals.at(0).reason;
    ASSERT_LT(accepted, 500'000u) << "all of it fits";
  }
  EXPECT_THAT(refused, HasSubstr("the server is short of memory"));
  EXPECT_NE(server.err_line("short of memory: publications are refused"), "");
  const auto types = other.types();
  ASSERT_TRUE(types) << types.error().to_string();
  EXPECT_EQ(std::ranges::find(*types, "Big", &TypeInfo::name)->events, accepted);
  EXPECT_EQ(other.rules()->size(), 2u);
  Client late = connect(address);
  EXPECT_EQ(late.rules()->size(), 2u);

  ASSERT_TRUE(other.remove("keeper"));
  ASSERT_TRUE(other.remove("all"));
  EXPECT_NE(server.err_line("there is memory again"), "");
  const auto published = other.publish(std::vector{smoke(std::nullopt, "A1")});
  ASSERT_TRUE(published) << published.error().to_string();
  EXPECT_EQ(published->accepted, 1u);
  { const Client a = std::move(other), b = std::move(greedy), c = std::move(late); }
  EXPECT_THAT(stop(server), HasSubstr("accepted=" + std::to_string(accepted + 1)));
}

TEST(Hostile, AClientWithAFastClockIsNamedAndSilencesNobody) {
  Process server({"serve", "--listen", "127.0.0.1:0"});
  const std::string address = address_in(server.out_line());
  Client fast = connect(address), other = connect(address);
  const auto now = [] {
    const auto since = std::chrono::system_clock::now().time_since_epoch();
    return std::chrono::duration_cast<std::chrono::nanoseconds>(since).count();
  };
  const auto far = fast.publish(std::vector{smoke(now() + 15 * kSecond, "A1")});
  ASSERT_TRUE(far);
  EXPECT_EQ(far->refused, 1u);
  EXPECT_THAT(far->refusals[0].reason, HasSubstr("ahead of the clock"));
  EXPECT_THAT(server.err_line("clock runs ahead"), HasSubstr("refused=1"));
  const auto near = fast.publish(std::vector{smoke(now() + 4 * kSecond, "A1")});
  ASSERT_TRUE(near);
  EXPECT_EQ(near->accepted, 1u);
  const auto published = other.publish(std::vector{smoke(now(), "A1")});
  ASSERT_TRUE(published);
  EXPECT_EQ(published->accepted, 1u);
  { const Client a = std::move(fast), b = std::move(other); }
  EXPECT_THAT(stop(server), HasSubstr("ahead=1 too_ahead=1"));
}

TEST(Hostile, TimesThatWouldSilenceOthersAreRefusedAtTheStart) {
  Process server({"serve", "--listen", "127.0.0.1:0", "--max-late", "3s"});
  EXPECT_THAT(server.err_line(), HasSubstr("engine.max_ahead_ms (5000 ms) must be below "
                                           "engine.max_late_ms (3000 ms)"));
  EXPECT_EQ(server.wait(), 1);
  Process coherent({"serve", "--listen", "127.0.0.1:0", "--max-late", "3s", "--max-ahead", "2s"});
  EXPECT_NE(address_in(coherent.out_line()), "");
  stop(coherent);
}

/// `gorgo` with these arguments, as a shell begins it behind these commands.
std::vector<std::string> behind(const std::string& commands, std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), {"-c", commands + " && exec \"$0\" \"$@\"", GORGO_BINARY});
  return arguments;
}

TEST(Hostile, ConnectionsLeaveTheJournalItsFiles) {
  const auto folder =
      std::filesystem::path(testing::TempDir()) / ("gorgo_files_" + std::to_string(getpid()));
  Process server(behind("ulimit -n 160 && export GORGO__JOURNAL__SEGMENT_BYTES=65536",
                        {"serve", "--listen", "127.0.0.1:0", "--journal", folder.string()}),
                 0, "/bin/sh");
  const std::string address = address_in(server.out_line());
  EXPECT_THAT(server.err_line("as its limits allow"), HasSubstr("LimitNOFILE"));
  Client client = connect(address);
  std::deque<RawConnection> silent;
  for (int i = 0; i < 200; ++i) silent.emplace_back(address);
  EXPECT_THAT(server.err_line("connections refused"), HasSubstr("LimitNOFILE"));
  const Event event{"A", std::nullopt, {{"text", std::string(20'000, 'x')}}};
  for (int i = 0; i < 30; ++i) {
    const auto published =
        client.publish(std::vector{event}, {.acknowledge = Acknowledge::durable});
    ASSERT_TRUE(published) << published.error().to_string();
    ASSERT_EQ(published->accepted, 1u);
  }
  silent.clear();
  { const Client gone = std::move(client); }
  EXPECT_THAT(stop(server), HasSubstr("accepted=30"));
  std::filesystem::remove_all(folder);
}

TEST(Hostile, AServerHasAsManyFilesOpenAsItMayGiveItself) {
  Process server(behind("ulimit -Sn 100", {"serve", "--listen", "127.0.0.1:0"}), 0, "/bin/sh");
  const std::string address = address_in(server.out_line());
  std::deque<RawConnection> many;
  for (int i = 0; i < 120; ++i) many.emplace_back(address).greet();
  many.clear();
  stop(server);
}

}  // namespace
}  // namespace gorgo::server
