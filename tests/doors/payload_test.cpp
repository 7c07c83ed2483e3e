#include "doors/payload.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "codec/event_notation.hpp"
#include "doors/message_reader.hpp"

namespace gorgo::doors {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// Reads payloads and says what came of each: an event in the notation of rule tests, or why not.
class Payloads : public testing::Test {
 protected:
  Settings settings;

  void SetUp() override { settings.kind = "mqtt"; }

  std::vector<std::string> read(const std::vector<std::string>& payloads,
                                const TopicContent* topic = nullptr) {
    const auto reader =
        make_payload_reader(settings, [] { return std::make_shared<const Schema>(); });
    std::vector<std::string> outcomes;
    for (const std::string& payload : payloads) {
      BatchBuilder batch;
      reader->begin_batch();
      const auto outcome = reader->read(payload, topic, batch);
      if (!outcome) outcomes.push_back(outcome.error().message);
      if (outcome && batch.events() > 0) {
        outcomes.push_back(codec::notation_of(BatchCursor(batch.batch()).to_event()));
      }
      EXPECT_TRUE(outcome || batch.events() == 0);
    }
    return outcomes;
  }
};

TEST_F(Payloads, EventLines) {
  EXPECT_THAT(read({R"({"type":"Temp","ts":1000,"attrs":{"v":46.5}})", " ", "{}"}),
              ElementsAre("@1000 Temp(v=46.5)", HasSubstr("'type' is missing")));
  const TopicContent topic{"Fire", {{"area", "A1"}}};
  EXPECT_THAT(read({R"({"type":"Temp","attrs":{"v":1}})", R"({"tick":1000})", "\n",
                    R"({"type":"Temp","attrs":{"area":"A2"}})"},
                   &topic),
              ElementsAre("@ Temp(v=1, area=\"A1\")", "a tick is no event",
                          "@ Temp(area=\"A2\", area=\"A1\")"));
}

TEST_F(Payloads, ATopicThatIsNoTextMakesNoEvent) {
  settings.format = "json";
  MessageReader reader(
      settings, [] { return std::make_shared<const Schema>(); }, {"plant/{area}/{type}"},
      kMqttTopics);
  Arrived arrived;
  reader.begin_batch();
  for (const std::string& area : {std::string("\xff\xfe"), std::string(1, '\0'), std::string("A1")})
    reader.take("plant/" + area + "/Temp", R"({"v":1})", arrived);
  EXPECT_EQ(arrived.events.events(), 1u);
  ASSERT_EQ(arrived.dead.size(), 2u);
  EXPECT_THAT(arrived.dead[0].reason, HasSubstr("UTF-8"));
}

TEST_F(Payloads, ObjectsOfJson) {
  settings.format = "json";
  settings.form.type = "Temp";
  settings.form.time_column = "at";
  settings.form.time_format = "s";
  settings.form.rename = {{"t", "value"}};
  EXPECT_THAT(read({R"({"at":1.5,"t":46,"where":{"floor":2,"room":"A"},"none":null,"on":true})",
                    R"({"at":"soon"})", R"([1])", "{", R"({"list":[1]})",
                    R"({"big":18446744073709551615})"}),
              ElementsAre("@1500 Temp(value=46, where_floor=2, where_room=\"A\", on=true)",
                          HasSubstr("at: "), HasSubstr("no JSON object"), HasSubstr("no JSON"),
                          HasSubstr("'list' is an array"), HasSubstr("beyond 64 bits")));
}

TEST_F(Payloads, TypesAndAttributesOfTopics) {
  settings.format = "json";
  const TopicContent topic{"Temp", {{"area", "A1"}}};
  EXPECT_THAT(read({R"({"v":1})"}, &topic), ElementsAre("@ Temp(v=1, area=\"A1\")"));
  EXPECT_THAT(read({R"({"v":1})"}), ElementsAre(HasSubstr("nothing says the type")));
}

TEST_F(Payloads, AMemberThatStandsTwiceMakesNoEvent) {
  settings.format = "json";
  settings.form.type = "Temp";
  EXPECT_THAT(
      read({R"({"id":7,"id":8})", R"({"a":{"b":1,"b":1}})"}),
      ElementsAre("a member of an object stands twice", "a member of an object stands twice"));
  EXPECT_THAT(read({R"({"a":":\"::\\","b":{"c":null,"d":{}},"e":1})"}),
              ElementsAre(R"(@ Temp(a=":\"::\\", e=1))"));
}

TEST_F(Payloads, LinesOfCsvWithoutHeader) {
  settings.format = "csv";
  settings.form.type = "Temp";
  settings.columns = {"ts", "v"};
  const TopicContent topic{"", {{"area", "A1"}}};
  EXPECT_THAT(read({"1000,46.5\n", "1,2,3", "2000,47"}, &topic),
              ElementsAre("@1000 Temp(v=46.5, area=\"A1\")", HasSubstr("3 cells"),
                          "@2000 Temp(v=47, area=\"A1\")"));
}

TEST_F(Payloads, AMessageOfCsvIsOneRow) {
  settings.format = "csv";
  settings.form.type = "Temp";
  settings.columns = {"note", "v"};
  EXPECT_THAT(read({"fine,1\nfine,2", "\"two\nlines\",3", "\"\"\"\n\",4\n", "\"x\"\n,5"}),
              ElementsAre(HasSubstr("several rows"), "@ Temp(note=\"two\\nlines\", v=3)",
                          "@ Temp(note=\"\\\"\\n\", v=4)", HasSubstr("several rows")));
}

TEST_F(Payloads, AQuoteThatIsNotClosedEndsWithItsMessage) {
  settings.format = "csv";
  settings.form.type = "Temp";
  settings.columns = {"note", "v"};
  MessageReader reader(
      settings, [] { return std::make_shared<const Schema>(); }, {}, kMqttTopics);
  Arrived arrived;
  reader.begin_batch();
  for (const char* payload : {"\"x,1", "fine,2", "y\",3", "fine,4"}) {
    reader.take("plant", payload, arrived);
  }
  EXPECT_EQ(arrived.events.events(), 2u);
  ASSERT_EQ(arrived.dead.size(), 2u);
  EXPECT_THAT(arrived.dead[0].reason, HasSubstr("has no end"));
  EXPECT_EQ(arrived.dead[0].payload, "\"x,1");
  EXPECT_EQ(arrived.dead[1].payload, "y\",3");
}

}  // namespace
}  // namespace gorgo::doors
