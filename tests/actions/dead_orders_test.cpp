#include "actions/dead_orders.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "actions/target_state.hpp"

namespace gorgo::actions {
namespace {

Order order(std::uint64_t root, std::size_t bytes = 0) {
  Event event{.type = "Fire", .timestamp = 1'714'557'601'000'000'007, .attributes = {}};
  event.attributes.push_back({"area", "A\"1 \u00e9" + std::string(bytes, 'x')});
  event.attributes.push_back({"heat", std::int64_t{1} << 62});
  event.attributes.push_back({"value", 46.0});
  event.attributes.push_back({"none", std::numeric_limits<double>::infinity()});
  event.attributes.push_back({"is_hot", true});
  return {{{{root, 1}, std::move(event)}}, std::to_string(root) + "-1/ops"};
}

TEST(DeadOrders, AreThereAgainAsTheyWere) {
  DeadOrders dead;
  dead.add(order(7));
  dead.add(order(8));
  DeadOrders again(dead.saved());
  EXPECT_EQ(again.retriable(), 2u);
  EXPECT_EQ(again.bytes(), dead.bytes());
  const auto orders = again.retry();
  ASSERT_EQ(orders.size(), 2u);
  EXPECT_EQ(orders[0].key, "7-1/ops");
  const auto& [place, event] = orders[0].rows.at(0);
  const Event expected = order(7).rows[0].event;
  EXPECT_EQ(place, (Place{7, 1}));
  EXPECT_EQ(event.type, expected.type);
  EXPECT_EQ(event.timestamp, expected.timestamp);
  ASSERT_EQ(event.attributes.size(), expected.attributes.size());
  for (std::size_t i = 0; i < expected.attributes.size(); ++i) {
    EXPECT_EQ(event.attributes[i].name, expected.attributes[i].name);
    EXPECT_EQ(event.attributes[i].value, expected.attributes[i].value) << i;
  }
}

TEST(DeadOrders, AreTriedOnceUntilTheyAreGivenUpAgain) {
  DeadOrders dead;
  dead.add(order(7));
  EXPECT_EQ(dead.retry().size(), 1u);
  EXPECT_EQ(dead.retry().size(), 0u);
  EXPECT_EQ(dead.retriable(), 0u);
  EXPECT_EQ(DeadOrders(dead.saved()).retriable(), 1u) << "a server that ends has not done it";
  dead.add(order(7));
  EXPECT_EQ(dead.retriable(), 1u);
  EXPECT_TRUE(dead.forget("7-1/ops"));
  EXPECT_FALSE(dead.forget("7-1/ops"));
  EXPECT_EQ(dead.saved(), "[]");
}

TEST(DeadOrders, TheOldestAreForgotten) {
  DeadOrders dead;
  for (std::uint64_t root = 0; root < 1001; ++root) dead.add(order(root));
  EXPECT_EQ(dead.retriable(), 1000u);
  EXPECT_FALSE(dead.forget("0-1/ops"));
  for (std::uint64_t root = 2000; root < 2020; ++root) dead.add(order(root, 100'000));
  EXPECT_LE(dead.bytes(), std::size_t{1} << 20);
  EXPECT_TRUE(dead.forget("2019-1/ops"));
}

TEST(DeadOrders, WhatIsNoneIsEmpty) {
  for (const char* text : {"", "x", "{}", "[1]", "[{\"key\":\"a\",\"rows\":[{}]}]"}) {
    EXPECT_EQ(DeadOrders(text).retriable(), 0u) << text;
  }
}

TEST(TargetState, HasSilencesAndOrders) {
  TargetState state;
  ActionSilence silence;
  silence.until = 100;
  silence.matchers = {"area=A1"};
  ASSERT_TRUE(state.silences.add(silence, 0));
  EXPECT_EQ(TargetState(state.silences.saved()).silences.all(0).size(), 1u) << "of 0.2.0";
  state.dead.add(order(7));
  const TargetState again(state.saved());
  EXPECT_EQ(again.silences.all(0).size(), 1u);
  EXPECT_EQ(again.dead.retriable(), 1u);
  EXPECT_EQ(again.saved(), state.saved());
}

}  // namespace
}  // namespace gorgo::actions
