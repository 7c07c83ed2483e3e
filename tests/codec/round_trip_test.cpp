#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <bit>
#include <cmath>
#include <set>

#include "codec/event_line.hpp"
#include "codec/event_text.hpp"
#include "codec/lines.hpp"
#include "codec/text.hpp"
#include "codec/timestamp.hpp"

namespace gorgo::codec {
namespace {

/// UTF-8 with characters of every length, and those that the formats must escape.
rc::Gen<std::string> text() {
  const auto character = rc::gen::element<std::string>("a", "Z", "0", " ", ",", "\"", "\\", "\n",
                                                       "\r", "\t", "\x01", "ß", "€", "𝄞", "'");
  return rc::gen::map(rc::gen::container<std::vector<std::string>>(character),
                      [](const std::vector<std::string>& parts) {
                        std::string all;
                        for (const auto& part : parts) all += part;
                        return all;
                      });
}

rc::Gen<double> any_float() {
  return rc::gen::map(rc::gen::arbitrary<std::uint64_t>(),
                      [](std::uint64_t bits) { return std::bit_cast<double>(bits); });
}

Value any_value(ValueType type) {
  switch (type) {
    case ValueType::integer:
      return *rc::gen::arbitrary<std::int64_t>();
    case ValueType::floating:
      return *any_float();
    case ValueType::boolean:
      return *rc::gen::arbitrary<bool>();
    case ValueType::string:
      return *text();
  }
  return {};
}

/// An event of a made-up type, and that type.
std::pair<Event, EventType> any_event() {
  EventType type{.name = "T" + std::to_string(*rc::gen::inRange(0, 9))};
  Event event{.type = type.name};
  if (*rc::gen::arbitrary<bool>()) event.timestamp = *rc::gen::arbitrary<std::int64_t>();
  const int count = *rc::gen::inRange(1, 6);
  for (int i = 0; i < count; ++i) {
    const std::string name = "a" + std::to_string(i);
    const auto kind = static_cast<ValueType>(*rc::gen::inRange(0, 4));
    type.attributes.push_back({name, kind});
    event.attributes.push_back({name, any_value(kind)});
  }
  return {event, type};
}

bool same(const Value& a, const Value& b) {
  if (a.index() != b.index()) return false;
  const auto* x = std::get_if<double>(&a);
  if (x == nullptr) return a == b;
  const double y = std::get<double>(b);
  if (std::isnan(*x)) return std::isnan(y);
  return std::bit_cast<std::uint64_t>(*x) == std::bit_cast<std::uint64_t>(y);
}

void expect_same(const Event& read, const Event& written) {
  RC_ASSERT(read.type == written.type);
  RC_ASSERT(read.timestamp == written.timestamp);
  RC_ASSERT(read.attributes.size() == written.attributes.size());
  for (std::size_t i = 0; i < read.attributes.size(); ++i) {
    RC_ASSERT(read.attributes[i].name == written.attributes[i].name);
    RC_ASSERT(same(read.attributes[i].value, written.attributes[i].value));
  }
}

TEST(RoundTrip, EveryTimestamp) {
  EXPECT_TRUE(rc::check([](Timestamp timestamp) {
    std::string out;
    append_milliseconds(out, timestamp);
    RC_ASSERT(*parse_milliseconds(out) == timestamp);
  }));
}

TEST(RoundTrip, EventLines) {
  EXPECT_TRUE(rc::check([] {
    const auto [event, type] = any_event();
    std::string line;
    append_event_line(line, event);
    RC_ASSERT(line.find('\n') == line.size() - 1);
    auto read = read_event_line(line);
    RC_ASSERT(read.has_value());
    for (std::size_t i = 0; i < type.attributes.size(); ++i) {
      Value& value = read->attributes[i].value;
      if (type.attributes[i].type != ValueType::floating ||
          !std::holds_alternative<std::string>(value))
        continue;
      const auto named = float_from_name(std::get<std::string>(value));
      RC_ASSERT(named.has_value());
      value = *named;
    }
    expect_same(*read, event);
  }));
}

TEST(RoundTrip, Csv) {
  EXPECT_TRUE(rc::check([] {
    const auto [event, type] = any_event();
    Schema schema;
    schema.add(type);
    std::vector<std::string> columns;
    for (const auto& attribute : type.attributes) columns.push_back(attribute.name);
    std::string out;
    make_csv_writer(columns)->write(out, event);

    const auto reader = make_csv_reader({}, &schema);
    BatchBuilder batch;
    std::string_view rest = out;
    while (!rest.empty()) {
      const auto end = rest.find('\n');
      RC_ASSERT(reader->next(rest.substr(0, end), batch).has_value());
      rest.remove_prefix(end + 1);
    }
    RC_ASSERT(reader->finish().has_value());
    RC_ASSERT(batch.events() == 1u);
    expect_same(BatchCursor(batch.batch()).to_event(), event);
  }));
}

TEST(RoundTrip, NoBytesCrashTheReaders) {
  EXPECT_TRUE(rc::check([](const std::string& bytes) {
    Event event;
    const auto line = read_event_line(bytes, event);
    BatchBuilder batch;
    const auto reader = make_csv_reader({.type = "T"}, nullptr);
    const auto header = reader->next("ts,a", batch);
    const auto row = reader->next(bytes, batch);
    RC_ASSERT(header.has_value());
    RC_ASSERT(batch.events() == (row && row->kind == LineContent::Kind::event ? 1u : 0u));
    if (batch.events() > 0) RC_ASSERT(batch.batch().tables.at(0).type == "T");
    if (line) RC_ASSERT(!is_tick(event) || event.timestamp.has_value());
  }));
}

TEST(Utf8, AgreesWithTheJsonReader) {
  EXPECT_TRUE(rc::check([](const std::vector<std::uint8_t>& bytes) {
    std::string text;
    for (const auto byte : bytes) {
      if (byte >= 0x20 && byte != '"' && byte != '\\') text += static_cast<char>(byte);
    }
    const bool read = read_event_line("{\"type\":\"T" + text + "\"}").has_value();
    RC_ASSERT(read == is_valid_utf8(text));
  }));
}

TEST(Utf8, KnowsTheBordersOfWellFormed) {
  for (const auto* good : {"", "\x7F", "\xC2\x80", "\xE0\xA0\x80", "\xED\x9F\xBF", "\xEE\x80\x80",
                           "\xF0\x90\x80\x80", "\xF4\x8F\xBF\xBF", "12345678\xC3\xBC"}) {
    EXPECT_TRUE(is_valid_utf8(good));
  }
  for (const auto* bad :
       {"\x80", "\xC1\xBF", "\xC2", "\xE0\x9F\xBF", "\xED\xA0\x80", "\xE1\x80", "\xF0\x8F\xBF\xBF",
        "\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "12345678\xFF"}) {
    EXPECT_FALSE(is_valid_utf8(bad));
  }
}

}  // namespace
}  // namespace gorgo::codec
