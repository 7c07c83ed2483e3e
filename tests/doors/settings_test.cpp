#include "doors/settings.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gorgo::doors {
namespace {

using testing::HasSubstr;
using Given = std::vector<std::pair<std::string, SettingValue>>;

/// What is wrong with a door that has these keys; empty: nothing.
std::string wrong(const Given& given, const std::string& name = "plant") {
  Settings settings;
  for (const auto& [key, value] : given) {
    if (const auto done = set(settings, key, value); !done) return done.error().message;
  }
  const auto checked = check(name, settings);
  return checked ? "" : checked.error().message;
}

const Given kFile = {{"kind", "file"}, {"path", "/tmp/x"}};
const Given kBroker = {
    {"kind", "mqtt"}, {"broker", "127.0.0.1:1883"}, {"topics", std::vector<std::string>{"a/{b}"}}};

Given with(Given given, const std::string& key, const SettingValue& value) {
  given.emplace_back(key, value);
  return given;
}

TEST(DoorSettings, Right) {
  EXPECT_EQ(wrong(kFile), "");
  EXPECT_EQ(wrong(with(kFile, "subscribe", "Fire")), "");
  EXPECT_EQ(wrong(with(kFile, "subscribe", "*(value > 45) execute webhook(\"ops\")")), "");
  EXPECT_THAT(wrong(with(kFile, "subscribe", "Fire(")), HasSubstr("subscribe: unexpected end"));
  EXPECT_EQ(wrong(kBroker), "");
  EXPECT_EQ(wrong(with(with(kFile, "format", "csv"), "separator", ";")), "");
}

TEST(DoorSettings, WrongOnesNameTheKey) {
  EXPECT_THAT(wrong({}), HasSubstr("doors.plant: kind: "));
  EXPECT_THAT(wrong({{"kind", "pigeon"}}), HasSubstr("no doors of kind 'pigeon'"));
  EXPECT_THAT(wrong(kFile, "a b"), HasSubstr("the name of a door"));
  EXPECT_THAT(wrong(with(kFile, "pth", "x")), HasSubstr("did you mean 'path'?"));
  EXPECT_THAT(wrong(with(kFile, "path", std::int64_t{1})), HasSubstr("path: expected a string"));
  EXPECT_THAT(wrong(with(kFile, "broker", "x:1")), HasSubstr("broker is for doors of kind "));
  EXPECT_THAT(wrong(with(kFile, "from", "middle")), HasSubstr("from: 'middle'"));
  EXPECT_THAT(wrong(with(kFile, "time_column", "t")), HasSubstr("nothing about event lines"));
  EXPECT_THAT(wrong(with(with(kFile, "format", "csv"), "zone", "Mars/Base")), HasSubstr("zone"));
  EXPECT_THAT(wrong(with(with(kFile, "subscribe", "Fire"), "format", "csv")),
              HasSubstr("events come in"));
  EXPECT_THAT(wrong(with(kFile, "subscribe", "")), HasSubstr("subscribe: it is empty"));
  const Given csv = with(kFile, "format", "csv"), json = with(kFile, "format", "json");
  for (const Given& form : {csv, json}) {
    EXPECT_THAT(wrong(with(with(form, "type", "A"), "type_column", "kind")),
                HasSubstr("type_column says nothing where `type` stands"));
  }
  EXPECT_THAT(wrong(with(json, "separator", ";")), HasSubstr("separator says nothing about JSON"));
  EXPECT_THAT(wrong(with(json, "columns", std::vector<std::string>{"a"})),
              HasSubstr("columns says nothing about JSON"));
  EXPECT_THAT(wrong(with(kBroker, "broker", "nowhere")), HasSubstr("broker: "));
  EXPECT_THAT(wrong(with(kBroker, "max_in_flight", std::int64_t{0})), HasSubstr("max_in_flight"));
  EXPECT_THAT(wrong(with(kBroker, "user", "ada")), HasSubstr("password_file"));
  EXPECT_THAT(wrong(with(kBroker, "format", "csv")), HasSubstr("columns: "));
  EXPECT_THAT(wrong({{"kind", "nats"},
                     {"broker", "a:1"},
                     {"subject", "a.{type}"},
                     {"format", "csv"},
                     {"columns", std::vector<std::string>{"v"}}}),
              HasSubstr("{type} in 'a.{type}'"));
  EXPECT_THAT(wrong({{"kind", "mqtt"}, {"broker", "127.0.0.1:1"}, {"subscribe", "Fire"}}),
              HasSubstr("topic: "));
  EXPECT_THAT(wrong(with(kBroker, "protocol", "4")), HasSubstr("protocol: '4'"));
  EXPECT_THAT(wrong({{"kind", "stdin"}, {"subscribe", "Fire"}}), HasSubstr("no events leave"));
  EXPECT_THAT(wrong({{"kind", "postgres"}, {"table", "t"}}), HasSubstr("which events leave"));
  EXPECT_THAT(
      wrong({{"kind", "postgres"}, {"table", "t"}, {"database", "hots=x"}, {"subscribe", "Fire"}}),
      HasSubstr("database: "));
  EXPECT_THAT(wrong({{"kind", "nats"}, {"broker", "a:1"}, {"subject", "a.b c"}}),
              HasSubstr("blank"));
  EXPECT_THAT(wrong({{"kind", "nats"}, {"broker", "a:1,b"}, {"subject", "a"}}),
              HasSubstr("broker: "));
  EXPECT_THAT(wrong({{"kind", "nats"}, {"broker", "a:1"}, {"subject", "a"}, {"from", "end"}}),
              HasSubstr("no stream"));
  EXPECT_THAT(wrong({{"kind", "syslog"}, {"listen", "a:1"}, {"format", "csv"}}),
              HasSubstr("format is for doors of kind "));
  EXPECT_THAT(wrong({{"kind", "http"}, {"url", "ftp://x"}}), HasSubstr("url: "));
  using Table = std::map<std::string, std::string>;
  EXPECT_THAT(wrong({{"kind", "kafka"},
                     {"broker", "a:1"},
                     {"topics", std::vector<std::string>{"a"}},
                     {"properties", Table{{"no.such", "x"}}}}),
              HasSubstr("properties: "));
}

TEST(DoorSettings, OneDoorReadsTheStandardInput) {
  Doors doors;
  for (const char* name : {"a", "b"}) ASSERT_TRUE(set(doors[name], "kind", "stdin"));
  EXPECT_THAT(check(doors).error().message, HasSubstr("doors.b"));
  doors.erase("b");
  EXPECT_TRUE(check(doors));
}

TEST(DoorSettings, OneDoorListensOnAPort) {
  Doors doors;
  const auto put = [&](const char* name, const char* kind, const char* address) {
    ASSERT_TRUE(set(doors[name], "kind", kind));
    ASSERT_TRUE(set(doors[name], "listen", address));
  };
  put("a", "syslog", "127.0.0.1:5514");
  put("b", "mqtt-listener", "127.0.0.1:5514");
  ASSERT_TRUE(set(doors["b"], "topics", std::vector<std::string>{"{type}"}));
  EXPECT_TRUE(check(doors)) << "UDP and TCP";
  ASSERT_TRUE(set(doors["a"], "transport", "tcp"));
  EXPECT_THAT(check(doors).error().message,
              HasSubstr("doors.b: the door a has TCP 127.0.0.1:5514 already"));
  put("a", "syslog", "127.0.0.1:5515");
  EXPECT_TRUE(check(doors));
}

}  // namespace
}  // namespace gorgo::doors
