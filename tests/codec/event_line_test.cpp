#include "codec/event_line.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "codec/event_text.hpp"

namespace gorgo::codec {
namespace {

using testing::HasSubstr;

std::string written(const Event& event) {
  std::string out;
  append_event_line(out, event);
  return out;
}

std::string why(std::string_view line) {
  const auto event = read_event_line(line);
  return event ? "accepted" : event.error().message;
}

Value attribute_of(std::string_view value) {
  const auto event = read_event_line(R"({"type":"T","attrs":{"a":)" + std::string(value) + "}}");
  return event ? event->attributes.at(0).value : Value(event.error().message);
}

TEST(EventLine, ReadsTypeTimeAndAttributesInOrder) {
  const auto event =
      read_event_line(R"({"type":"Temp","ts":1000,"attrs":{"area":"A1","value":46.5,"ok":true}})");
  ASSERT_TRUE(event);
  EXPECT_EQ(event->type, "Temp");
  EXPECT_EQ(event->timestamp, 1'000'000'000);
  ASSERT_EQ(event->attributes.size(), 3u);
  EXPECT_EQ(event->attributes[0].name, "area");
  EXPECT_EQ(event->attributes[0].value, Value("A1"));
  EXPECT_EQ(event->attributes[1].value, Value(46.5));
  EXPECT_EQ(event->attributes[2].value, Value(true));
}

TEST(EventLine, ATickIsATimeAlone) {
  for (const char* line : {R"({"tick":1000.5})", R"({"tick":"1970-01-01T00:00:01.0005Z"})"}) {
    const auto tick = read_event_line(line);
    ASSERT_TRUE(tick) << tick.error().message;
    EXPECT_TRUE(is_tick(*tick));
    EXPECT_EQ(tick->timestamp, 1'000'500'000);
    EXPECT_EQ(written(*tick), "{\"tick\":1000.5}\n");
  }
  EXPECT_EQ(why(R"({"tick":1,"type":"T"})"), "a tick has no other keys");
  EXPECT_EQ(why(R"({"ts":1,"tick":1})"), "a tick has no other keys");
  EXPECT_EQ(why(R"({"tick":true})"), "'tick': a number or a string is expected");
  EXPECT_FALSE(is_tick(*read_event_line(R"({"type":"T","ts":1,"attrs":{"tick":1}})")));
}

TEST(EventLine, KeysMayStandInAnyOrderAndTimeAndAttributesMayLack) {
  const auto event = read_event_line(R"( { "attrs" : { } , "type" : "T" } )");
  ASSERT_TRUE(event);
  EXPECT_EQ(event->timestamp, std::nullopt);
  EXPECT_TRUE(event->attributes.empty());
  EXPECT_TRUE(read_event_line(R"({"type":"T"})"));
}

TEST(EventLine, TimesAreExact) {
  const auto time_of = [](std::string_view ts) {
    return read_event_line(R"({"type":"T","ts":)" + std::string(ts) + "}")->timestamp;
  };
  EXPECT_EQ(time_of("1714564800000.123456"), 1'714'564'800'000'123'456);
  EXPECT_EQ(time_of("-1"), -1'000'000);
  EXPECT_EQ(time_of("0.1"), 100'000);
  EXPECT_EQ(time_of("\"1970-01-01T00:00:01Z\""), 1'000'000'000);
}

TEST(EventLine, SpellingTellsIntsFromFloats) {
  EXPECT_EQ(attribute_of("46"), Value(std::int64_t{46}));
  EXPECT_EQ(attribute_of("46.0"), Value(46.0));
  EXPECT_EQ(attribute_of("4.6e1"), Value(46.0));
  EXPECT_EQ(attribute_of("46e0"), Value(46.0));
  EXPECT_EQ(attribute_of("9007199254740993"), Value(std::int64_t{9007199254740993}));
  EXPECT_EQ(attribute_of("-9223372036854775808"), Value(std::numeric_limits<std::int64_t>::min()));
  EXPECT_TRUE(std::signbit(std::get<double>(attribute_of("-0.0"))));
  EXPECT_EQ(attribute_of("\"NaN\""), Value("NaN"));
}

TEST(EventLine, RefusesNumbersThatDoNotFit) {
  for (const auto* digits : {"9223372036854775808", "-9223372036854775809", "18446744073709551616",
                             "100000000000000000000000"}) {
    EXPECT_THAT(std::get<std::string>(attribute_of(digits)),
                testing::AllOf(HasSubstr("attribute 'a'"), HasSubstr("does not fit")))
        << digits;
  }
  EXPECT_THAT(std::get<std::string>(attribute_of("1e999")), HasSubstr("overflow"));
  // The reader does not know what the type has declared, so a float alone is no advice.
  const auto large = read_event_line(R"({"type":"T","attrs":{"a":9223372036854775808}})");
  EXPECT_THAT(large.error().hint,
              HasSubstr("to 9223372036854775807; larger numbers can be floats"));
}

TEST(EventLine, RefusesWhatNoEventIs) {
  EXPECT_THAT(why(R"({"ts":1})"), HasSubstr("'type' is missing"));
  EXPECT_THAT(why(R"({"type":""})"), HasSubstr("'type': names have 1 to 1024 bytes"));
  EXPECT_THAT(why(R"({"type":"*"})"), HasSubstr("'*' stands for all types"));
  EXPECT_THAT(why(R"({"type":")" + std::string(1025, 'A') + R"("})"), HasSubstr("1 to 1024 bytes"));
  EXPECT_THAT(why(R"({"type":"A","attrs":{"":1}})"),
              HasSubstr("an attribute: names have 1 to 1024 bytes"));
  EXPECT_THAT(why(R"({"type":7})"), HasSubstr("'type': a string is expected"));
  EXPECT_THAT(why(R"({"type":"T","attrs":7})"), HasSubstr("'attrs': an object is expected"));
  EXPECT_THAT(why(R"({"type":"T","ts":true})"), HasSubstr("'ts': a number or a string"));
  EXPECT_THAT(why(R"({"type":"T","ts":null})"), HasSubstr("'ts': null"));
  EXPECT_THAT(why(R"({"type":"T","ts":{}})"), HasSubstr("'ts': a nested value"));
  EXPECT_THAT(why("7"), HasSubstr("an object is expected"));
  EXPECT_THAT(why(R"([{"type":"T"}])"), HasSubstr("a list is no event"));
  EXPECT_THAT(why(R"({"type":"T","attrs":{"a":[]}})"), HasSubstr("a nested value"));
}

TEST(EventLine, RefusesBadTimes) {
  EXPECT_THAT(why(R"({"type":"T","ts":1e3})"), HasSubstr("'ts': timestamp '1e3'"));
  EXPECT_THAT(why(R"({"type":"T","ts":0.1234567})"), HasSubstr("finer"));
  EXPECT_THAT(why(R"({"type":"T","ts":9223372036855})"), HasSubstr("out of range"));
  EXPECT_THAT(why(R"({"type":"T","ts":18446744073709551615})"), HasSubstr("out of range"));
  EXPECT_THAT(why(R"({"type":"T","ts":99999999999999999999999})"), HasSubstr("out of range"));
  EXPECT_THAT(why(R"({"type":"T","ts":"noon"})"), HasSubstr("RFC 3339"));
}

TEST(EventLine, RefusesByTheNameOfTheKey) {
  EXPECT_THAT(why(R"({"type":"T","time":1})"), HasSubstr("unknown key 'time'"));
  EXPECT_THAT(why(R"({"type":"T","type":"U"})"), HasSubstr("key 'type' stands twice"));
  EXPECT_THAT(why(R"({"type":"T","attrs":{"a":1,"a":1}})"), HasSubstr("'a' stands twice"));
  EXPECT_THAT(why(R"({"type":"T","attrs":{"a":null}})"), HasSubstr("attribute 'a': null"));
  EXPECT_THAT(why(R"({"type":"T","attrs":{"a":{"b":1}}})"), HasSubstr("attribute 'a': a nested"));
  EXPECT_THAT(why(R"({"type":"T","attrs":{"a":[1]}})"), HasSubstr("attribute 'a': a nested"));
}

TEST(EventLine, FindsDuplicatesAmongManyAttributes) {
  std::string line = R"({"type":"T","attrs":{)";
  for (int i = 0; i < 100; ++i) line += "\"a" + std::to_string(i) + "\":1,";
  EXPECT_THAT(why(line + "\"a42\":2}}"), HasSubstr("'a42' stands twice"));
  EXPECT_EQ(why(line + "\"b\":2}}"), "accepted");
}

TEST(EventLine, HasAtMost4096Attributes) {
  std::string line = R"({"type":"T","attrs":{"a":1)";
  for (int i = 1; i < 4096; ++i) line += ",\"a" + std::to_string(i) + "\":1";
  EXPECT_EQ(why(line + "}}"), "accepted");
  EXPECT_THAT(why(line + ",\"b\":1}}"), HasSubstr("more than 4096 attributes"));
}

TEST(EventLine, RefusesWhatIsNotJson) {
  EXPECT_THAT(why(""), HasSubstr("not JSON"));
  EXPECT_THAT(why("{"), HasSubstr("not JSON at column"));
  EXPECT_THAT(why(R"({"type":"T"} x)"), HasSubstr("not JSON at column 14"));
  EXPECT_THAT(why(R"({"type":"T","attrs":{"a":NaN}})"), HasSubstr("not JSON"));
  EXPECT_THAT(why("{\"type\":\"T\xFF\"}"), HasSubstr("UTF-8"));
  EXPECT_THAT(why("{\"type\":\"\xED\xA0\x80\"}"), HasSubstr("UTF-8"));
}

TEST(EventLine, ReusesAnEventWithoutLeavingsOfTheOneBefore) {
  Event event;
  ASSERT_TRUE(read_event_line(R"({"type":"T","ts":1,"attrs":{"a":1,"b":"x","c":2}})", event));
  ASSERT_TRUE(read_event_line(R"({"type":"U","attrs":{"d":true}})", event));
  EXPECT_EQ(written(event), "{\"type\":\"U\",\"attrs\":{\"d\":true}}\n");
}

TEST(EventLine, WritesFloatsSoThatTheyReadBackAsFloats) {
  const auto text_of = [](double value) {
    const auto line = written({.type = "T", .attributes = {{"a", value}}});
    constexpr std::string_view kBefore = R"({"type":"T","attrs":{"a":)";
    return line.substr(kBefore.size(), line.size() - kBefore.size() - 3);
  };
  EXPECT_EQ(text_of(46.0), "46.0");
  EXPECT_EQ(text_of(0.1), "0.1");
  EXPECT_EQ(text_of(-0.0), "-0.0");
  EXPECT_EQ(text_of(5e6), "5000000.0");
  EXPECT_EQ(text_of(9007199254740993.0), "9007199254740992.0");
  EXPECT_EQ(text_of(1e16), "1e+16");
  EXPECT_EQ(text_of(0.00001), "0.00001");
  EXPECT_EQ(text_of(-1.5e-6), "-1.5e-06");
  EXPECT_EQ(text_of(-1.7976931348623157e308), "-1.7976931348623157e+308");
  EXPECT_EQ(text_of(5e-324), "5e-324");
  EXPECT_EQ(text_of(std::nan("")), "\"NaN\"");
  EXPECT_EQ(text_of(HUGE_VAL), "\"Infinity\"");
  EXPECT_EQ(text_of(-HUGE_VAL), "\"-Infinity\"");
}

TEST(EventLine, EscapesStrings) {
  EXPECT_EQ(written({.type = "T", .timestamp = 1'500'000, .attributes = {{"a", "q\"\\\n\x01ü"}}}),
            "{\"type\":\"T\",\"ts\":1.5,\"attrs\":{\"a\":\"q\\\"\\\\\\n\\u0001ü\"}}\n");
}

TEST(LineReader, NumbersLinesAndGoesOn) {
  using Kind = LineContent::Kind;
  const auto reader = make_line_reader();
  BatchBuilder batch;
  EXPECT_EQ(reader->next(R"({"type":"T"})", batch)->kind, Kind::event);
  EXPECT_EQ(reader->next("  \r", batch)->kind, Kind::nothing);
  EXPECT_THAT(reader->next("{", batch).error().message, HasSubstr("line 3: not JSON"));
  EXPECT_EQ(reader->next("{\"type\":\"U\"}\r", batch)->kind, Kind::event);
  EXPECT_EQ(reader->line(), 4u);
  EXPECT_FALSE(reader->broken());
  EXPECT_EQ(batch.events(), 2u);
}

TEST(LineReader, ATickIsNoEventOfTheBatch) {
  BatchBuilder batch;
  const auto tick = make_line_reader()->next(R"({"tick":5})", batch);
  EXPECT_EQ(tick->kind, LineContent::Kind::tick);
  EXPECT_EQ(tick->timestamp, 5'000'000);
  EXPECT_EQ(batch.events(), 0u);
}

}  // namespace
}  // namespace gorgo::codec
