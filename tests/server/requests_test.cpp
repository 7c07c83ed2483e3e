#include <gmock/gmock.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "support.hpp"

namespace gorgo::server {
namespace {

using ::testing::AllOf;
using ::testing::Eq;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::UnorderedElementsAre;

TEST(Requests, DeclareGivesATypeItsAttributes) {
  RunningServer server;
  Client client = server.connect();
  EXPECT_TRUE(
      client.declare("Temp", {{"area", ValueType::string}, {"value", ValueType::floating}}));
  EXPECT_TRUE(
      client.declare("Temp", {{"area", ValueType::string}, {"value", ValueType::floating}}));
  const auto changed = client.declare("Temp", {{"area", ValueType::integer}});
  ASSERT_FALSE(changed);
  EXPECT_THAT(changed.error().message, HasSubstr("Temp"));
}

TEST(Requests, ADeclarationThatNoEventCouldFollowIsRefused) {
  RunningServer server;
  Client client = server.connect();
  const auto error = [&](const std::string& type, const std::vector<AttributeType>& attributes) {
    const auto declared = client.declare(type, attributes);
    return declared ? "" : declared.error().to_string();
  };
  const auto integer = ValueType::integer;
  EXPECT_THAT(error("T", {{"a", integer}, {"b", integer}, {"a", integer}}),
              HasSubstr("attribute `a` of type `T` is listed twice"));
  EXPECT_THAT(error("", {}), HasSubstr("names are letters, digits"));
  EXPECT_THAT(error("T", {{"", integer}}), HasSubstr("names are letters, digits"));
  EXPECT_THAT(error("T", {{"timestamp", integer}}), HasSubstr("the time of the event"));
  EXPECT_THAT(error("where", {}), HasSubstr("word of the language"));
  EXPECT_THAT(error(std::string(5000, 'x'), {}), HasSubstr("at most 1024 bytes"));
  EXPECT_THAT(error("T", {{std::string(5000, 'x'), integer}}), HasSubstr("at most 1024 bytes"));
  std::vector<AttributeType> many;
  for (int i = 0; i < 4097; ++i) many.push_back({"a" + std::to_string(i), integer});
  EXPECT_THAT(error("T", many), HasSubstr("a type has at most 4096"));
  // The server knows none of the refused declarations.
  many.pop_back();
  EXPECT_EQ(error("T", many), "");
  Event event{"T", std::nullopt, {}};
  for (const AttributeType& a : many) event.attributes.push_back({a.name, std::int64_t{1}});
  EXPECT_EQ(client.publish(std::vector{event})->accepted, 1u);
}

TEST(Requests, RefusedEventsAreNamedAndTheOthersAccepted) {
  RunningServer server;
  Client client = server.connect();
  ASSERT_TRUE(
      client.declare("Temp", {{"area", ValueType::string}, {"value", ValueType::floating}}));
  const std::vector<Event> events = {
      temp(10, "A1", 20), {"Temp", 20, {{"area", "A1"}}}, temp(30, "A1", 22)};
  const auto published = client.publish(events);
  ASSERT_TRUE(published) << published.error().to_string();
  EXPECT_EQ(published->accepted, 2u);
  EXPECT_EQ(published->refused, 1u);
  ASSERT_EQ(published->refusals.size(), 1u);
  EXPECT_EQ(published->refusals[0].index, 1u);
  EXPECT_THAT(published->refusals[0].reason, HasSubstr("value"));
}

TEST(Requests, ManyRefusalsAreCountedButNotAllTold) {
  RunningServer server;
  Client client = server.connect();
  ASSERT_TRUE(client.declare("Temp", {{"area", ValueType::string}}));
  const std::vector<Event> events(500, Event{"Temp", std::nullopt, {{"area", true}}});
  const auto published = client.publish(events);
  ASSERT_TRUE(published);
  EXPECT_EQ(published->refused, 500u);
  EXPECT_EQ(published->refusals.size(), 64u);
}

TEST(Requests, ARepeatedPublicationIsNotAppliedAgain) {
  RunningServer server;
  Client client = server.connect();
  subscribe(client, "Temp");
  const std::vector<Event> events = {temp(10, "A1", 20), temp(20, "A1", 21)};
  const auto first = client.publish(events);
  ASSERT_TRUE(first);
  const auto again = client.publish(events, {.sequence = first->sequence});
  ASSERT_TRUE(again) << again.error().to_string();
  EXPECT_EQ(again->accepted, 0u);
  EXPECT_EQ(again->duplicates, 2u);
  ASSERT_TRUE(client.publish(std::vector{temp(30, "A1", 22)}));
  EXPECT_EQ(*next(client).event.timestamp, 10);
  EXPECT_EQ(*next(client).event.timestamp, 20);
  EXPECT_EQ(*next(client).event.timestamp, 30);
}

/// An event of a type by turns, some with an attribute more; one of them is far ahead of the clock.
Event mixed(int i, int ahead) {
  const std::string text(static_cast<std::size_t>(i % 7) * 20, 'x');
  Event event{i % 2 == 0 ? "Even" : "Odd", i, {{"n", std::int64_t{i}}, {"text", text}}};
  if (i % 3 == 0) event.timestamp.reset();
  if (i % 5 == 0) event.attributes.push_back({"five", true});
  if (i == ahead) event.timestamp = 5'000'000'000'000'000'000;
  return event;
}

/// Publishes a batch in columns and expects what is accepted to be delivered in its order.
void publish_columns(RunningServer& server) {
  constexpr int kEvents = 1050, kAhead = 777;
  Client client = server.connect();
  subscribe(client, "*");
  BatchBuilder collected;
  for (int i = 0; i < kEvents; ++i) collected.add(mixed(i, kAhead));
  const auto published = client.publish(collected.batch());
  ASSERT_TRUE(published) << published.error().to_string();
  EXPECT_EQ(published->accepted, kEvents - 1u);
  ASSERT_EQ(published->refusals.size(), 1u);
  EXPECT_EQ(published->refusals[0].index, static_cast<std::size_t>(kAhead));
  for (int i = 0; i < kEvents; ++i) {
    if (i == kAhead) continue;
    const Event got = next(client).event, sent = mixed(i, kAhead);
    ASSERT_EQ(got.type, sent.type);
    if (sent.timestamp) {
      EXPECT_EQ(got.timestamp, sent.timestamp);
    }
    ASSERT_EQ(got.attributes.size(), sent.attributes.size()) << i;
    for (std::size_t a = 0; a < got.attributes.size(); ++a) {
      EXPECT_EQ(got.attributes[a].name, sent.attributes[a].name);
      EXPECT_EQ(got.attributes[a].value, sent.attributes[a].value);
    }
  }
}

TEST(Requests, ABatchInColumnsIsPublishedAsItIs) {
  ServerOptions options;
  options.processor.max_late = std::numeric_limits<Duration>::max();
  RunningServer server(options);
  publish_columns(server);
}

TEST(Requests, ABatchInColumnsIsCutToWhatTheServerTakes) {
  ServerOptions options;
  options.processor.max_late = std::numeric_limits<Duration>::max();
  options.limits.max_rows = 100;
  RunningServer few(options);
  publish_columns(few);
  options.limits.max_rows = ServerOptions().limits.max_rows;
  options.limits.max_frame = 8192;
  RunningServer small(options);
  publish_columns(small);
}

TEST(Requests, AnEventInColumnsThatFitsInNoFrameIsNamed) {
  ServerOptions options;
  options.limits.max_frame = 8192;
  RunningServer server(options);
  Client client = server.connect();
  BatchBuilder collected;
  for (const std::size_t size : {10, 100, 20'000, 10}) {
    collected.add({"Big", std::nullopt, {{"s", std::string(size, 'x')}}});
  }
  const auto published = client.publish(collected.batch());
  ASSERT_FALSE(published);
  EXPECT_THAT(published.error().message, HasSubstr("event 2 of type 'Big' takes"));
  const auto numbered = client.publish(collected.batch(), {.sequence = 7});
  ASSERT_FALSE(numbered);
  EXPECT_THAT(numbered.error().message, HasSubstr("does not fit in one batch"));
}

TEST(Requests, EventsWithoutCommonAttributesTravelInFramesThatTheServerTakes) {
  ServerOptions options;
  options.limits.max_frame = 64 << 10;
  RunningServer server(options);
  Client client = server.connect();
  std::vector<Event> events;
  for (int i = 0; i < 400; ++i) {
    events.push_back({"T", std::nullopt, {{"a" + std::to_string(i), std::int64_t{i}}}});
  }
  const auto published = client.publish(events);
  ASSERT_TRUE(published) << published.error().to_string();
  EXPECT_EQ(published->accepted, events.size());
}

TEST(Requests, ALargePublicationTravelsInSeveralBatches) {
  ServerOptions options;
  options.limits.max_rows = 100;
  RunningServer server(options);
  Client client = server.connect();
  std::vector<Event> events;
  for (int i = 0; i < 1050; ++i) events.push_back(temp(i, "A1", i));
  events[777].timestamp = 5'000'000'000'000'000'000;  // far ahead of the clock
  const auto published = client.publish(events);
  ASSERT_TRUE(published) << published.error().to_string();
  EXPECT_EQ(published->accepted, 1049u);
  ASSERT_EQ(published->refusals.size(), 1u);
  EXPECT_EQ(published->refusals[0].index, 777u);
}

TEST(Requests, WithoutAcknowledgementOnlyRefusalsAreTold) {
  RunningServer server;
  Client client = server.connect();
  ASSERT_TRUE(
      client.declare("Temp", {{"area", ValueType::string}, {"value", ValueType::floating}}));
  const PublishOptions none{.acknowledge = Acknowledge::none};
  ASSERT_TRUE(client.publish(std::vector{temp(10, "A1", 1), Event{"Temp", 20, {}}}, none));
  ASSERT_TRUE(client.rules());  // a reply from behind the publication
  EXPECT_EQ(client.unacknowledged().refused, 1u);
  EXPECT_EQ(client.unacknowledged().refusals.size(), 1u);
}

TEST(Requests, WithoutAJournalNothingIsAcknowledgedAsDurable) {
  RunningServer server;
  RawConnection raw(server->address());
  raw.greet();
  raw.send(publish_frame(2, {temp(10, "A1", 1)}, 7, 1, wire::AckMode::Durable));
  const auto refused = raw.expect<wire::Error>(2);
  EXPECT_EQ(refused.code, wire::ErrorCode::Invalid);
  EXPECT_THAT(refused.message, HasSubstr("in memory"));
  // The sequence number was not used up.
  raw.send(publish_frame(3, {temp(10, "A1", 1)}, 7, 1));
  const auto accepted = raw.expect<wire::Ack>(3);
  EXPECT_EQ(accepted.accepted, 1u);
  EXPECT_FALSE(accepted.duplicate);
}

TEST(Requests, DeployedRulesAreListedShownAndRemoved) {
  RunningServer server;
  Client client = server.connect();
  deploy(client, kFireRule);
  const auto rules = client.rules();
  ASSERT_TRUE(rules);
  ASSERT_EQ(rules->size(), 1u);
  EXPECT_EQ(rules->front().name, "fire_last");
  EXPECT_EQ(rules->front().type, "Fire");
  EXPECT_THAT(rules->front().text, IsEmpty());
  const auto shown = client.rule("fire_last");
  ASSERT_TRUE(shown);
  EXPECT_THAT(shown->text, HasSubstr("define Fire(area: string, measuredTemp: float)"));
  const auto missing = client.rule("fire_lost");
  ASSERT_FALSE(missing);
  EXPECT_THAT(missing.error().to_string(), HasSubstr("did you mean `fire_last`?"));
  EXPECT_TRUE(client.remove("fire_last"));
  EXPECT_FALSE(client.remove("fire_last"));
  EXPECT_THAT(*client.rules(), IsEmpty());
}

TEST(Requests, RulesHaveRatesFromTheirDeploymentOn) {
  RunningServer server;
  Client client = server.connect();
  deploy(client, kFireRule);
  deploy(client, "define Hot(area: string) from Temp(value > 45) where area = Temp.area;");
  ASSERT_TRUE(client.publish(std::vector{temp(10, "A1", 50), temp(20, "A2", 60), smoke(30, "A2")}));
  const auto rules = client.rules();
  ASSERT_TRUE(rules) << rules.error().to_string();
  ASSERT_EQ(rules->size(), 2u);
  for (const RuleInfo& rule : *rules) {
    ASSERT_TRUE(rule.rates) << rule.name;
    EXPECT_GT(rule.rates->seconds, 0);
    EXPECT_GE(rule.rates->events, rule.rates->terminators);
  }
  const auto shown = client.rule("fire_last");
  ASSERT_TRUE(shown);
  EXPECT_TRUE(shown->rates);
  ASSERT_TRUE(client.remove("fire_last"));
  EXPECT_EQ(client.rules()->size(), 1u);
}

TEST(Requests, RulesTellHowLongTheirCompositesTookAllTheWay) {
  RunningServer server;
  Client client = server.connect();
  deploy(client, kFireRule);
  deploy(client, "define Never(area: string) from Temp(value > 4500) where area = Temp.area;");
  ASSERT_TRUE(client.publish(std::vector{temp(10, "A1", 50), temp(20, "A2", 60), smoke(30, "A2")}));
  const auto fired = client.rule("fire_last");
  ASSERT_TRUE(fired) << fired.error().to_string();
  ASSERT_TRUE(fired->latency);
  EXPECT_GT(fired->latency->mean, 0);
  EXPECT_EQ(fired->latency->longest, fired->latency->mean);  // there is one composite
  const auto rules = client.rules();
  ASSERT_TRUE(rules);
  EXPECT_THAT(*rules, UnorderedElementsAre(AllOf(Field(&RuleInfo::name, "fire_last"),
                                                 Field(&RuleInfo::latency, Not(Eq(std::nullopt)))),
                                           Field(&RuleInfo::latency, Eq(std::nullopt))));
}

TEST(Requests, ManyRulesComeInPages) {
  RunningServer server;
  Client client = server.connect();
  std::string text;
  for (int i = 0; i < 3000; ++i) {
    text += "rule r" + std::to_string(i) + ": define C(v: float) from A(v = " + std::to_string(i) +
            ") where v = A.v;\n";
  }
  deploy(client, text);
  const auto rules = client.rules();
  ASSERT_TRUE(rules) << rules.error().to_string();
  ASSERT_EQ(rules->size(), 3000u);
  EXPECT_EQ(rules->back().name, "r2999");
}

TEST(Requests, ABadRuleComesBackWithDiagnostics) {
  RunningServer server;
  Client client = server.connect();
  const auto diagnostics = client.deploy("bad.tesla", "define Fire(a: int)\nfrom Smoke(a = )");
  ASSERT_TRUE(diagnostics) << diagnostics.error().to_string();
  ASSERT_TRUE(diagnostics->failed());
  EXPECT_EQ(diagnostics->list[0].file, "bad.tesla");
  EXPECT_EQ(diagnostics->list[0].at.line, 2u);
  EXPECT_EQ(diagnostics->list[0].source_line, "from Smoke(a = )");
  EXPECT_THAT(*client.rules(), IsEmpty());
}

TEST(Requests, ADeploymentWarnsOfWhatIsHardlyMeant) {
  RunningServer server;
  Client client = server.connect();
  const auto diagnostics = client.deploy("odd.tesla", "define Never() from A(n > 2 and n < 1);");
  ASSERT_TRUE(diagnostics) << diagnostics.error().to_string();
  EXPECT_FALSE(diagnostics->failed());
  ASSERT_EQ(diagnostics->list.size(), 1u);
  EXPECT_EQ(diagnostics->list[0].severity, Severity::warning);
  EXPECT_THAT(diagnostics->list[0].message, HasSubstr("can never fire"));
  EXPECT_EQ(client.rules()->size(), 1u);
}

TEST(Requests, ReplacingNeedsTheFlag) {
  RunningServer server;
  Client client = server.connect();
  deploy(client, kFireRule);
  const auto again = client.deploy("test.tesla", kFireRule);
  ASSERT_TRUE(again);
  EXPECT_TRUE(again->failed());
  deploy(client, kFireRule, true);
  EXPECT_EQ(client.rules()->size(), 1u);
}

constexpr const char* kCalmWithinSeconds = R"(rule calm:
define Calm(area: string)
from   Smoke(area = $a) and not Temp(area = $a) within 30 s after Smoke
where  area = Smoke.area;)";

TEST(Requests, ATickFiresTheDeadlinesUpToIt) {
  RunningServer server;
  Client client = server.connect();
  deploy(client, kCalmWithinSeconds);
  subscribe(client, "Calm");
  ASSERT_TRUE(client.publish(std::vector{smoke(1'000'000'000, "A1")}));
  ASSERT_TRUE(client.tick(30'999'999'999));
  EXPECT_EQ(client.rules()->front().pending, 1u);
  EXPECT_EQ(client.rules()->front().composites, 0u);
  ASSERT_TRUE(client.tick(31'000'000'000));
  EXPECT_EQ(next(client).event.timestamp, 31'000'000'000);
  EXPECT_EQ(client.rules()->front().pending, 0u);
}

TEST(Requests, ATickFarAheadIsRefused) {
  RunningServer server;
  Client client = server.connect();
  const auto ticked = client.tick(5'000'000'000'000'000'000);
  ASSERT_FALSE(ticked);
  EXPECT_THAT(ticked.error().message, HasSubstr("ahead of the clock"));
}

TEST(Requests, WithHistoryARuleSeesWhatIsRemembered) {
  RunningServer server;
  Client client = server.connect();
  deploy(client, kFireRule);
  subscribe(client, "Alarm");
  ASSERT_TRUE(client.publish(std::vector{temp(1'000'000'000, "A1", 50)}));
  const std::string reads =
      " from Smoke(area = $a) and last Temp(area = $a) within 1 min from "
      "Smoke where rule = ";
  deploy(client, "define Alarm(rule: string)" + reads + "\"blind\";");
  const auto seeing = client.deploy(
      "seeing.tesla", "define Alarm(rule: string)" + reads + "\"seeing\";", {.with_history = true});
  ASSERT_TRUE(seeing && !seeing->failed());
  ASSERT_TRUE(client.publish(std::vector{smoke(2'000'000'000, "A1"), temp(3'000'000'000, "A1", 9),
                                         smoke(4'000'000'000, "A1")}));
  std::vector<Value> rules;
  for (int i = 0; i < 3; ++i) rules.push_back(next(client).event.attributes[0].value);
  EXPECT_THAT(rules, ::testing::ElementsAre(Value("seeing"), Value("blind"), Value("seeing")));
}

TEST(Requests, TypesSayWhatIsRememberedAndWhatItCosts) {
  RunningServer server;
  Client client = server.connect();
  EXPECT_THAT(*client.types(), IsEmpty());
  deploy(client, kFireRule);
  ASSERT_TRUE(client.publish(std::vector{temp(10, "A1", 50), temp(20, "A2", 60)}));
  const auto types = client.types();
  ASSERT_TRUE(types) << types.error().to_string();
  const auto found = std::ranges::find(*types, "Temp", &TypeInfo::name);
  ASSERT_NE(found, types->end());
  EXPECT_EQ(found->events, 2u);
  EXPECT_GE(found->reach, 300'000'000'000);
  EXPECT_GT(found->bytes, 0u);
  EXPECT_GT(client.rules()->front().bytes, 0u);
}

TEST(Requests, TypesHaveOnlyAttributesWithNames) {
  RunningServer server;
  Client client = server.connect();
  deploy(client,
         "table Limit(area: string key, most: float); event A(x: int); event B(x: int); "
         "define Over(most: float) from A or B() as S and table Limit() as L "
         "where most = L.most;");
  const auto types = client.types();
  ASSERT_TRUE(types) << types.error().to_string();
  std::vector<std::string> names;
  for (const TypeInfo& type : *types) {
    for (const AttributeType& attribute : type.attributes) {
      names.push_back(type.name + '.' + attribute.name);
    }
  }
  EXPECT_THAT(names,
              ::testing::IsSupersetOf({"A.x", "A or B.x", "Limit.area", "table Limit.most"}));
  EXPECT_THAT(names, ::testing::Each(::testing::Not(::testing::EndsWith("."))));
}

TEST(Requests, DevicesSayWhatTheyDid) {
  RunningServer server;
  Client client = server.connect();
  deploy(client,
         "event B(k: int); event A(k: int);\n@engine(cuda-host) rule r: define O(k: int) from "
         "A(k = $k) and last B(k = $k) within 1 s from A where k = B.k;");
  ASSERT_TRUE(client.subscribe("O"));
  // Other engines of this process may have opened devices, too.
  const auto devices = [&] {
    std::vector<DeviceInfo> found = *client.devices();
    std::erase_if(found, [](const DeviceInfo& device) { return device.engine != "cuda-host"; });
    return found;
  };
  const auto searches = [&] {
    std::uint64_t sum = 0;
    for (const DeviceInfo& device : devices()) {
      EXPECT_EQ(device.problem, "");
      for (const auto& counter : device.counters)
        sum += counter.name == "searches" ? counter.value : 0;
    }
    return sum;
  };
  const auto before = searches();
  ASSERT_TRUE(client.publish(std::vector{Event{"B", 1'000'000, {{"k", std::int64_t{1}}}},
                                         Event{"A", 2'000'000, {{"k", std::int64_t{1}}}}}));
  EXPECT_EQ(next(client).event.type, "O");
  EXPECT_EQ(searches(), before + 1);
  ASSERT_EQ(devices().size(), 2u);
  EXPECT_EQ(devices().back().number, 1u);
}

TEST(Requests, NobodyListensAtAnUnusedPort) {
  std::string address;
  {
    RunningServer server;
    address = server->address();
  }
  const auto client = Client::connect(address);
  ASSERT_FALSE(client);
  EXPECT_EQ(client.error().to_string(),
            "cannot connect to " + address + ": connection refused; is `gorgo serve` running?");
}

TEST(Requests, ADefectiveAddressIsNamed) {
  const auto client = Client::connect("localhost");
  ASSERT_FALSE(client);
  EXPECT_THAT(client.error().to_string(), HasSubstr("'localhost' is no address"));
}

}  // namespace
}  // namespace gorgo::server
