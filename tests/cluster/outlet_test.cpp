#include "cluster/outlet.hpp"

#include <gtest/gtest.h>

namespace gorgo::cluster {
namespace {

std::string described(const std::string& position) {
  const Settings settings{.name = "c", .node = "a"};
  return Outlet(settings, position).describe(position);
}

TEST(Outlet, PositionsTellHowFarEachStreamWasRead) {
  EXPECT_EQ(described(""), "0 messages of 0 partitions");
  EXPECT_EQ(described("1700000000000000000 7 s-0\n1700000000000000001 12 s-1\n"),
            "19 messages of 2 partitions");
  EXPECT_EQ(described("-5 18446744073709551615 s-0\n"),
            "18446744073709551615 messages of 1 partitions");
}

TEST(Outlet, WhatIsNoPositionEndsThere) {
  const std::string one = "5 7 s-0\n";
  for (const std::string rest :
       {"{", "{\"s-1\":[1,2]}", "1", "1 ", "1 2", "1 2 ", "1 2 s-1", "1 99999999999999999999 s-1\n",
        "99999999999999999999 1 s-1\n", "x 1 s-1\n", "1 x s-1\n", "1 2\n", "\n"}) {
    EXPECT_EQ(described(one + rest), "7 messages of 1 partitions") << rest;
    EXPECT_EQ(described(rest), "0 messages of 0 partitions") << rest;
  }
}

}  // namespace
}  // namespace gorgo::cluster
