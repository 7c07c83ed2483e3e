#include "cluster/names.hpp"

#include <gtest/gtest.h>

#include "cluster/partition_of.hpp"

namespace gorgo::cluster {
namespace {

TEST(ClusterNames, PlainTextsAreTheirOwnTokens) {
  EXPECT_EQ(token("area"), "area");
  EXPECT_EQ(token("Floor-2_b"), "Floor-2_b");
}

TEST(ClusterNames, WhatNatsDoesNotTakeIsReplacedAndToldApart) {
  const std::string dots = token("Temp.area+Fire.zone"), spaces = token("Temp area Fire zone");
  EXPECT_EQ(dots.rfind("Temp_area_Fire_zone_", 0), 0u) << dots;
  EXPECT_EQ(spaces.rfind("Temp_area_Fire_zone_", 0), 0u) << spaces;
  EXPECT_NE(dots, spaces);
  EXPECT_NE(token(std::string(200, 'a')), token(std::string(201, 'a')));
  EXPECT_LE(token(std::string(1000, 'a')).size(), 90u);
  EXPECT_FALSE(token("").empty());
}

TEST(ClusterNames, StreamsAndSubjects) {
  EXPECT_EQ(input_stream("plant", "area"), "GORGO_plant_IN_area");
  EXPECT_EQ(input_subject("plant", "area", 7), "gorgo.plant.in.area.7");
  EXPECT_EQ(input_subjects("plant", "area"), "gorgo.plant.in.area.*");
  EXPECT_EQ(output_stream("plant", "area", 7), "GORGO_plant_OUT_area_7");
  EXPECT_EQ(output_subject("plant", "area", 7), "gorgo.plant.out.area.7");
}

TEST(ClusterNames, NamesOfClustersAndNodes) {
  EXPECT_TRUE(check_name("north-1_a"));
  for (const char* const wrong : {"", "a.b", "a b", "a*", "a>", "plänt"}) {
    EXPECT_FALSE(check_name(wrong)) << wrong;
  }
  EXPECT_FALSE(check_name(std::string(33, 'a')));
}

/// Test vectors of the authors of FNV: http://www.isthe.com/chongo/tech/comp/fnv/
TEST(PartitionOf, HashIsFnv1a) {
  EXPECT_EQ(fnv1a(""), 0x811c9dc5u);
  EXPECT_EQ(fnv1a("a"), 0xe40c292cu);
  EXPECT_EQ(fnv1a("foobar"), 0xbf9cf968u);
  EXPECT_EQ(partition_of("foobar", 64), 0xbf9cf968u % 64);
}

TEST(PartitionOf, KeysHaveTexts) {
  EXPECT_EQ(key_text(Datum::of("A1")), "A1");
  EXPECT_EQ(key_text(Datum::of(std::int64_t{-12})), "-12");
  EXPECT_EQ(key_text(Datum::of(true)), "true");
  EXPECT_EQ(key_text(Datum::none()), "");
}

}  // namespace
}  // namespace gorgo::cluster
