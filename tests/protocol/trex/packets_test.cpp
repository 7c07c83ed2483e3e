#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "protocol/trex/decode.hpp"
#include "protocol/trex/latin1.hpp"
#include "support.hpp"

namespace gorgo::protocol::trex {
namespace {

using testing::HasSubstr;

Publication sample() {
  using namespace std::string_view_literals;
  return {10, 1000, {{"i", -2}, {"f", 1.5f}, {"b", true}, {"s", "hi"sv}}};
}

TEST(TRexPackets, PublicationsHaveTheBytesOfTheJavaClient) {
  const Bytes bytes = from_hex(kPublication);
  Publication read;
  ASSERT_TRUE(decode(body_of(bytes), read));
  EXPECT_EQ(read, sample());
  Bytes written;
  encode(written, sample());
  EXPECT_EQ(written, bytes);
}

TEST(TRexPackets, SubscriptionsHaveTheBytesOfTheJavaClient) {
  using namespace std::string_view_literals;
  const Subscription at_least{20, {{"temp", Comparison::greater_equal, 45}}};
  const Subscription contains{20, {{"area", Comparison::contains, "off"sv}}};
  const Bytes first = from_hex(kSubscription), second = from_hex(kContains);
  EXPECT_EQ(decode_subscription(body_of(first)).value(), at_least);
  EXPECT_EQ(decode_subscription(body_of(second)).value(), contains);
  Bytes written;
  encode_subscription(written, at_least);
  EXPECT_EQ(written, first);
}

TEST(TRexPackets, AnUnsubscriptionHoldsAWholeSubscription) {
  const Subscription at_least{20, {{"temp", Comparison::greater_equal, 45}}};
  const Bytes bytes = from_hex(kUnsubscription);
  EXPECT_EQ(decode_unsubscription(body_of(bytes)).value(), at_least);
  Bytes written;
  encode_unsubscription(written, at_least);
  EXPECT_EQ(written, bytes);
}

TEST(TRexPackets, APingIsEmpty) {
  Bytes written;
  encode_ping(written);
  EXPECT_EQ(written, from_hex("65 00000000"));
}

TEST(TRexPackets, RulesHaveTheBytesOfTheJavaClient) {
  for (const char* hex : {kSmallRule, kFullRule}) {
    const Bytes bytes = from_hex(hex);
    const auto rule = decode_rule(body_of(bytes));
    ASSERT_TRUE(rule) << rule.error().to_string();
    Bytes written;
    encode(written, *rule);
    EXPECT_EQ(written, bytes);
  }
}

TEST(TRexPackets, APacketThatEndsAnywhereIsAnError) {
  for (const char* hex : {kSmallRule, kFullRule}) {
    const Bytes bytes = from_hex(hex);
    const auto body = body_of(bytes);
    for (std::size_t size = 0; size < body.size(); ++size) {
      EXPECT_FALSE(decode_rule(body.first(size))) << size;
    }
  }
  const Bytes bytes = from_hex(kPublication);
  Publication read;
  for (std::size_t size = 0; size < body_of(bytes).size(); ++size) {
    EXPECT_FALSE(decode(body_of(bytes).first(size), read)) << size;
  }
  for (const char* hex : {kSubscription, kContains}) {
    const Bytes packet = from_hex(hex);
    for (std::size_t size = 0; size < body_of(packet).size(); ++size) {
      EXPECT_FALSE(decode_subscription(body_of(packet).first(size))) << size;
    }
  }
  for (std::size_t size = 0; size < 27; ++size) {
    const Bytes packet = from_hex(kUnsubscription);
    EXPECT_FALSE(decode_unsubscription(body_of(packet).first(size))) << size;
  }
}

TEST(TRexPackets, BytesBehindWhatAPacketNeedsAreIgnored) {
  Bytes bytes = from_hex(kPublication);
  bytes.push_back(0xFF);
  Publication read;
  ASSERT_TRUE(decode(body_of(bytes), read));
  EXPECT_EQ(read, sample());
}

TEST(TRexPackets, CountsThatLieAreErrorsThatNameThePlace) {
  for (const char* count : {"7fffffff", "ffffffff", "80000000", "00000002"}) {
    const Bytes bytes =
        from_hex("0000000a 0000000000000000 " + std::string(count) + " 00000001 69 00 00000001");
    Publication read;
    const auto decoded = decode(bytes, read);
    ASSERT_FALSE(decoded) << count;
    EXPECT_THAT(decoded.error().message, HasSubstr("elements of attributes"));
    EXPECT_THAT(decoded.error().message, HasSubstr("at byte 16"));
  }
  const auto texts = decode_subscription(from_hex("00000001 00000001 7fffffff 61 00 00 0000"));
  ASSERT_FALSE(texts);
  EXPECT_THAT(texts.error().message, HasSubstr("elements of a name"));
  const auto keys = decode_rule(from_hex("00000001 7fffffff"));
  EXPECT_FALSE(keys);
}

TEST(TRexPackets, ValuesThatMeanNothingAreErrors) {
  Publication read;
  const auto type =
      decode(from_hex("00000001 0000000000000000 00000001 00000001 61 04 00000000"), read);
  ASSERT_FALSE(type);
  EXPECT_THAT(type.error().message, HasSubstr("has 4 for the type of a value"));
  const auto comparison =
      decode_subscription(from_hex("00000001 00000001 00000001 61 07 00 00000000"));
  ASSERT_FALSE(comparison);
  EXPECT_THAT(comparison.error().message, HasSubstr("has 7 for a comparison"));
}

TEST(TRexPackets, ABoolIsTrueOnlyAsOne) {
  Publication read;
  ASSERT_TRUE(decode(from_hex("00000001 0000000000000000 00000001 00000001 61 02 02"), read));
  EXPECT_EQ(std::get<bool>(read.attributes[0].value), false);
}

TEST(TRexPackets, NamesAndStringsMayBeLong) {
  const std::string name(1000, 'n'), text(100'000, 's');
  const Publication sent{1, 0, {{name, std::string_view(text)}}};
  Bytes bytes;
  encode(bytes, sent);
  Publication read;
  ASSERT_TRUE(decode(body_of(bytes), read));
  EXPECT_EQ(read, sent);
}

TEST(TRexPackets, TooManyAttributesAreAnError) {
  Publication sent;
  sent.attributes.resize(4097, {"a", 1});
  Bytes bytes;
  encode(bytes, sent);
  Publication read;
  const auto decoded = decode(body_of(bytes), read);
  ASSERT_FALSE(decoded);
  EXPECT_THAT(decoded.error().message, HasSubstr("more than 4096 attributes"));
}

TEST(TRexPackets, KeysOfARuleNumberItsPartsInAnyOrder) {
  const auto predicate = [](const std::string& key, const std::string& type) {
    return key + type + "00000000 00000000 0000000000000001 00 ";
  };
  const std::string rest = "00000000 00000000 00000000 00000003 00000000 00000000 00000000";
  const auto swapped = decode_rule(from_hex("00000002" + predicate("00000001", "00000008") +
                                            predicate("00000000", "00000007") + rest));
  ASSERT_TRUE(swapped) << swapped.error().to_string();
  EXPECT_EQ(swapped->predicates[0].type, 7);
  EXPECT_EQ(swapped->predicates[1].type, 8);
  for (const char* key : {"00000000", "00000002", "ffffffff"}) {
    const auto wrong = decode_rule(from_hex("00000002" + predicate(key, "00000008") +
                                            predicate("00000000", "00000007") + rest));
    EXPECT_FALSE(wrong) << key;
  }
}

TEST(TRexPackets, ExpressionsThatNestWithoutEndAreErrors) {
  std::string hex = "00000000 00000000 00000000 00000000 00000003 00000001 00000001 78";
  for (int i = 0; i < 100'000; ++i) hex += "0100";
  const auto deep = decode_rule(from_hex(hex));
  ASSERT_FALSE(deep);
  EXPECT_THAT(deep.error().message, HasSubstr("too deep"));
}

TEST(TRexPackets, TextsAreLatin1OnTheWireAndUtf8Within) {
  EXPECT_EQ(to_utf8("caf\xE9"), "caf\xC3\xA9");
  EXPECT_EQ(to_utf8("\x80\xFF"), "\xC2\x80\xC3\xBF");
  std::string out;
  append_latin1(out, "caf\xC3\xA9 \xC2\x80\xC3\xBF \xE2\x82\xAC \xF0\x9F\x98\x80.");
  EXPECT_EQ(out, "caf\xE9 \x80\xFF ? ?.");
}

TEST(TRexPackets, EveryByteOfATextComesBack) {
  std::string all;
  for (int byte = 0; byte < 256; ++byte) all += static_cast<char>(byte);
  std::string back;
  append_latin1(back, to_utf8(all));
  EXPECT_EQ(back, all);
}

}  // namespace
}  // namespace gorgo::protocol::trex
