#include <gmock/gmock.h>

#include <algorithm>

#include "support.hpp"

/// One event followed through a server.
namespace gorgo::server {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(TraceRequest, ShowsTheRulesThatAnEventConcernsAndWhatItCauses) {
  RunningServer server;
  Client client = server.connect();
  deploy(client, kFireRule);
  deploy(client,
         "rule far: define Far() from Fire() as F; rule other: define O() from X([int]a = 1);");
  Client subscriber = server.connect();
  subscribe(subscriber, "Fire");
  subscribe(subscriber, "*");

  const auto quiet = client.trace(temp(kSecond, "A1", 50));
  ASSERT_TRUE(quiet) << quiet.error().to_string();
  EXPECT_EQ(quiet->timestamp, kSecond);
  EXPECT_FALSE(quiet->held);
  EXPECT_THAT(quiet->composites, IsEmpty());
  EXPECT_EQ(quiet->copies, 1u);
  ASSERT_EQ(quiet->rules.size(), 1u);
  EXPECT_EQ(quiet->rules[0].name, "fire_last");
  EXPECT_TRUE(quiet->rules[0].reads);
  EXPECT_EQ(quiet->rules[0].terminators, 0u);

  const auto loud = client.trace(smoke(2 * kSecond, "A1"));
  ASSERT_TRUE(loud) << loud.error().to_string();
  EXPECT_THAT(loud->composites,
              ElementsAre(R"({"type":"Fire","ts":2000,"attrs":{"area":"A1","measuredTemp":50.0}})",
                          R"({"type":"Far","ts":2000,"attrs":{}})"));
  EXPECT_EQ(loud->copies, 4u);  // Smoke, Fire twice, Far
  ASSERT_EQ(loud->rules.size(), 2u);
  EXPECT_EQ(loud->rules[0].composites, 1u);
  EXPECT_EQ(loud->rules[1].name, "far");
  EXPECT_FALSE(loud->rules[1].reads);
  EXPECT_EQ(loud->rules[1].terminators, 1u);
  EXPECT_GE(loud->round_trip,
            loud->queue + loud->ahead + loud->sequence + loud->evaluate + loud->deliver);
  EXPECT_EQ(next(subscriber).event.type, "Temp");
}

TEST(TraceRequest, TellsARefusalAndAnEventThatIsHeld) {
  ServerOptions options;
  options.processor.lateness = 5 * kSecond;
  RunningServer server(options);
  Client client = server.connect();
  deploy(client, "event Smoke(area: string); event Temp(area: string, value: float);\n" +
                     std::string(kFireRule));
  const auto refused = client.trace({"Temp", kSecond, {{"area", "A1"}}});
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("value"));
  const auto held = client.trace(smoke(10 * kSecond, "A1"));
  ASSERT_TRUE(held);
  EXPECT_TRUE(held->held);
  ASSERT_TRUE(client.publish(std::vector{temp(9 * kSecond, "A1", 50)}));
  const auto later = client.trace(temp(20 * kSecond, "A1", 20));
  ASSERT_TRUE(later);
  EXPECT_TRUE(later->held);
  EXPECT_EQ(later->composites.size(), 1u);
}

TEST(TraceRequest, TakesOneEvent) {
  RunningServer server;
  RawConnection raw(server->address());
  raw.greet();
  BatchBuilder collected;
  collected.add(smoke(1, "A1"));
  collected.add(smoke(2, "A1"));
  flatbuffers::FlatBufferBuilder builder;
  const auto trace = wire::CreateTrace(builder, protocol::pack(builder, collected.batch()));
  builder.FinishSizePrefixed(wire::CreateMessage(builder, 7, wire::Body::Trace, trace.Union()),
                             wire::MessageIdentifier());
  raw.send(
      protocol::Bytes{builder.GetBufferPointer(), builder.GetBufferPointer() + builder.GetSize()});
  EXPECT_THAT(raw.expect<wire::Error>(7).message, HasSubstr("one event"));
}

}  // namespace
}  // namespace gorgo::server
