// The fast reader of event lines against the careful one.

#include "codec/plain_lines.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <string>
#include <string_view>
#include <vector>

#include "codec/event_line.hpp"

namespace gorgo::codec {
namespace {

enum class Taken { no, yes };

/// Whether the fast reader takes the line. What it takes must be what the careful reader makes of
/// it.
Taken compare(std::string_view line) {
  static PlainLines lines;
  const PlainLine* const plain = lines.read(line);
  if (plain == nullptr) return Taken::no;
  const auto careful = read_event_line(line);
  if (!careful) {
    ADD_FAILURE() << "taken: " << line << "\nbut " << careful.error().to_string();
    return Taken::yes;
  }
  Event event{.type = std::string(plain->type), .timestamp = plain->timestamp, .attributes = {}};
  for (std::size_t i = 0; i < plain->names.size(); ++i) {
    event.attributes.push_back({std::string(plain->names[i]), to_value(plain->values[i])});
  }
  std::string expected, found;
  append_event_line(expected, *careful);
  append_event_line(found, event);
  EXPECT_EQ(found, expected) << line;
  return Taken::yes;
}

TEST(PlainLines, TakesWhatProgramsWrite) {
  for (const std::string_view line : {
           R"({"type":"Temp","ts":1000,"attrs":{"area":"A1","value":46.5,"ok":true,"n":-7}})",
           R"({"type":"T"})",
           R"( { "attrs" : { } , "type" : "T" } )",
           "{\"ts\":\"2024-05-01T12:00:00.5Z\"\t,\"type\":\"T\"}\r",
           R"({"type":"T","ts":1714564800000.123456,"attrs":{}})",
           R"({"type":"T","ts":-2.5 ,"attrs":{"a":0,"b":-0,"c":-0.0,"d":1e22,"e":5E-324}})",
           R"({"type":"T","attrs":{"a":9223372036854775807,"b":-9223372036854775808}})",
           R"({"type":"T","attrs":{"text":"a \"quoted\" \\ line\n\/ of \t text","é":"€𝄞"}})",
           R"({"type":"T","attrs":{"a":"","b":"}{][,:","c":false , "d":"NaN"}})",
           R"({"tick":1000})",
           R"({"tick":"1970-01-01T00:00:01Z"})",
       }) {
    EXPECT_EQ(compare(line), Taken::yes) << line;
  }
  std::string many = R"({"type":"T","attrs":{"a":1)";
  for (int i = 0; i < 100; ++i) many += ",\"a" + std::to_string(i) + "\":" + std::to_string(i);
  EXPECT_EQ(compare(many + "}}"), Taken::yes);
  EXPECT_EQ(compare(many + ",\"a42\":1}}"), Taken::no);
  const auto with_text = [](std::size_t size) {
    return R"({"type":"T","attrs":{"a":")" + std::string(size, 'x') + "\"}}";
  };
  EXPECT_EQ(compare(with_text(16'000)), Taken::yes);
  EXPECT_EQ(compare(with_text(17'000)), Taken::no);
}

TEST(PlainLines, LeavesToTheCarefulReaderWhatIsWrongOrUnusual) {
  for (const std::string_view line : {
           "",
           "7",
           "[]",
           "{",
           "{}",
           R"({"type":"T"} x)",
           R"({"type":"T"}})",
           R"({"type":"T"}{"type":"T"})",
           R"({"type":"T",})",
           R"({,"type":"T"})",
           R"({"type":"T" "ts":1})",
           R"({"type" "T"})",
           R"({"type":"T)",
           R"({"type":"T","attrs":{"a":1})",
           R"({"type":"T","attrs":{"a":1,}})",
           R"({"type":"T","attrs":{"a":1 2}})",
           R"({"type":"T","attrs":{"a":"x"y}})",
           R"({"type":"T","attrs":{"a":truex}})",
           R"({"type":"T","attrs":{"a":tru}})",
           R"({"type":"T","attrs":{"a":01}})",
           R"({"type":"T","attrs":{"a":+1}})",
           R"({"type":"T","attrs":{"a":1.}})",
           R"({"type":"T","attrs":{"a":.5}})",
           R"({"type":"T","attrs":{"a":1e999}})",
           R"({"type":"T","attrs":{"a":9223372036854775808}})",
           R"({"type":"T","attrs":{"a":18446744073709551616}})",
           R"({"type":"T","attrs":{"a":null}})",
           R"({"type":"T","attrs":{"a":[1]}})",
           R"({"type":"T","attrs":{"a":{"b":1}}})",
           R"({"type":"T","attrs":{"a":1,"a":2}})",
           R"({"type":"T","attrs":{"":1}})",
           R"({"type":"","attrs":{}})",
           R"({"type":7})",
           R"({"type":"T","type":"T"})",
           R"({"type":"T","ts":1e3})",
           R"({"type":"T","ts":true})",
           R"({"type":"T","ts":9223372036855})",
           R"({"type":"T","ts":0.1234567})",
           R"({"type":"T","attrs":7})",
           R"({"type":"T","time":1})",
           R"({"tick":1,"type":"T"})",
           "{\"type\":\"T\xFF\"}",
           "{\"type\":\"T\",\"attrs\":{\"a\":\"\xED\xA0\x80\"}}",
           "{\"type\":\"T\",\"attrs\":{\"a\":\"\n\"}}",
           R"({"type":"T","attrs":{"a":"\q"}})",
           R"({"type":"T","attrs":{"a":"\udc00"}})",
           R"({"t\u0079pe":"T"})",
           "\xEF\xBB\xBF{\"type\":\"T\"}",
       }) {
    EXPECT_EQ(compare(line), Taken::no) << line;
  }
}

/// Pieces that event lines are made of, and some that they are not.
std::string piece() {
  return *rc::gen::element<std::string>(
      "{", "}", "[", "]", ":", ",", "\"", "\\", " ", "\t", "\r", "\n", "0", "1", "-", "+", ".", "e",
      "\"type\":\"T\"", "\"ts\":1000", "\"ts\":1.5", "\"ts\":\"1970-01-01T00:00:01Z\"",
      "\"tick\":1", "\"attrs\":{", "\"a\":1", "\"b\":2.5", "\"c\":\"x\"", "\"d\":true",
      "\"a\":null", "9223372036854775808", "1e400", "\\n", "\\u0041", "\\ud834\\udd1e", "\\ud834",
      "\xC3\xA9", "\xC3", "true", "false", "null", std::string(1, '\0'), "\x01");
}

std::string any_line() {
  std::string line = *rc::gen::element<std::string>(
      R"({"type":"T","ts":1000,"attrs":{"a":1,"b":2.5,"c":"x","d":true}})",
      R"({"attrs":{"long name":"a text of some length, with \"quotes\"","n":-12},"type":"Temp"})",
      R"({"tick":1000.000001})", "");
  const int changes = *rc::gen::inRange(0, 6);
  for (int i = 0; i < changes; ++i) {
    const auto at =
        static_cast<std::size_t>(*rc::gen::inRange(0, static_cast<int>(line.size()) + 1));
    const auto size = static_cast<std::size_t>(*rc::gen::inRange(0, 4));
    const std::string inserted = *rc::gen::arbitrary<bool>() ? piece() : "";
    line.replace(at, size, inserted);
  }
  return line;
}

TEST(PlainLines, TakesNothingThatTheCarefulReaderReadsDifferently) {
  EXPECT_TRUE(rc::check([] {
    for (int i = 0; i < 200; ++i) {
      const std::string line = any_line();
      compare(line);
      RC_ASSERT(!testing::Test::HasFailure());
    }
  }));
}

}  // namespace
}  // namespace gorgo::codec
