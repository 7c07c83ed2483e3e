#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <string_view>
#include <vector>

#include "protocol/trex/decode.hpp"
#include "protocol/trex/encode.hpp"
#include "protocol/trex/rule_text.hpp"
#include "support.hpp"

// Whatever is encoded decodes to the same.
namespace gorgo::protocol::trex {
namespace {

using namespace std::string_view_literals;

rc::Gen<std::string_view> text() {
  return rc::gen::element(""sv, "a"sv, "v"sv, "area"sv, "a name of more than fourteen bytes"sv,
                          "\xE9\x00\xFF"sv, "and"sv, "\"\\\n"sv);
}

rc::Gen<Literal> literal() {
  return rc::gen::oneOf(
      rc::gen::map(rc::gen::arbitrary<std::int32_t>(),
                   [](std::int32_t value) { return Literal(value); }),
      rc::gen::map(rc::gen::arbitrary<float>(), [](float value) { return Literal(value); }),
      rc::gen::map(rc::gen::arbitrary<bool>(), [](bool value) { return Literal(value); }),
      rc::gen::map(text(), [](std::string_view value) { return Literal(value); }));
}

template <class Enum>
rc::Gen<Enum> choice(Enum last) {
  return rc::gen::map(rc::gen::inRange(0, static_cast<int>(last) + 1),
                      [](int value) { return static_cast<Enum>(value); });
}

/// Up to four elements.
template <class T>
std::vector<T> some(const rc::Gen<T>& element) {
  return *rc::gen::resize(4, rc::gen::container<std::vector<T>>(element));
}

std::int32_t number() { return *rc::gen::inRange(-1, 5); }
std::int64_t time() { return *rc::gen::arbitrary<std::int64_t>(); }

Attribute attribute() { return {*text(), *literal()}; }
Constraint constraint() { return {*text(), *choice(Comparison::greater_equal), *literal()}; }

template <class Make>
auto made(Make make) {
  return rc::gen::exec(make);
}

Tree tree(int deepest) {
  Tree result;
  result.type = *choice(ValueType::string);
  switch (*rc::gen::inRange(0, deepest > 0 ? 3 : 2)) {
    case 0:
      result.node = *literal();
      break;
    case 1:
      result.node = Reference{number(), *choice(Part::aggregate), *text()};
      break;
    default:
      result.node = Tree::Inner{*choice(Operation::disj), {tree(deepest - 1), tree(deepest - 1)}};
  }
  return result;
}

Span span() { return {number(), time(), number()}; }

Predicate predicate() {
  return {number(), some(made(constraint)), number(), time(), *choice(Selection::all)};
}
Parameter parameter() {
  return {*choice(Comparison::greater_equal), *choice(Part::aggregate), *choice(ValueType::string),
          tree(3), tree(3)};
}
Aggregate aggregate() {
  return {number(), some(made(constraint)), span(), *choice(Function::sum), *text()};
}
Negation negation() { return {number(), some(made(constraint)), span()}; }
Template::Dynamic dynamic() { return {*text(), tree(3)}; }

Rule rule() {
  Rule result;
  result.predicates = some(made(predicate));
  result.parameters = some(made(parameter));
  result.aggregates = some(made(aggregate));
  result.negations = some(made(negation));
  result.composite = {number(), some(made(dynamic)), some(made(attribute))};
  result.consuming = some(made(number));
  return result;
}

TEST(TRexRoundTrip, Publications) {
  EXPECT_TRUE(rc::check([] {
    const Publication sent{*rc::gen::arbitrary<std::int32_t>(), time(), some(made(attribute))};
    Bytes bytes;
    encode(bytes, sent);
    Publication read{7, 7, {{"left", 7}}};
    RC_ASSERT(decode(body_of(bytes), read).has_value());
    RC_ASSERT(read == sent);
  }));
}

TEST(TRexRoundTrip, Subscriptions) {
  EXPECT_TRUE(rc::check([] {
    const Subscription sent{*rc::gen::arbitrary<std::int32_t>(), some(made(constraint))};
    Bytes bytes, within;
    encode_subscription(bytes, sent);
    encode_unsubscription(within, sent);
    RC_ASSERT(decode_subscription(body_of(bytes)).value() == sent);
    RC_ASSERT(decode_unsubscription(body_of(within)).value() == sent);
  }));
}

TEST(TRexRoundTrip, Rules) {
  EXPECT_TRUE(rc::check([] {
    const Rule sent = rule();
    Bytes bytes;
    encode(bytes, sent);
    const auto read = decode_rule(body_of(bytes));
    RC_ASSERT(read.has_value());
    RC_ASSERT(*read == sent);
    // It has a text or says why not.
    const auto written = rule_text(sent, default_name);
    RC_ASSERT((written ? written->text : written.error().message) != "");
  }));
}

TEST(TRexRoundTrip, NoPartOfARuleIsARule) {
  EXPECT_TRUE(rc::check([] {
    Bytes bytes;
    encode(bytes, rule());
    const auto body = body_of(bytes);
    const auto size = *rc::gen::inRange<std::size_t>(0, body.size());
    RC_ASSERT(!decode_rule(body.first(size)).has_value());
  }));
}

}  // namespace
}  // namespace gorgo::protocol::trex
