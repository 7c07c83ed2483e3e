#include "cluster/ownership.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace gorgo::cluster {
namespace {

std::vector<PartitionName> partitions(std::uint32_t count) {
  std::vector<PartitionName> all;
  for (std::uint32_t i = 0; i < count; ++i) all.push_back({"area", i});
  return all;
}

TEST(Ownership, NamesAndLeasesAreReadAsTheyWereWritten) {
  const Member member{.owns = {{"a/b", 0}, {"area+x.y", 7}},
                      .ready = {{"whole", 0}},
                      .stuck = {{{"a/b", 0}, "why"}}};
  EXPECT_EQ(Member::parse(member.to_json()), member);
  EXPECT_EQ(Member::parse(R"({"owns":[],"ready":[]})"), Member()) << "of an earlier version";
  for (const char* wrong :
       {"", "{}", "[]", R"({"owns":["x"],"ready":[]})", R"({"owns":["a/1x"],"ready":[]})",
        R"({"owns":[1],"ready":[]})", R"({"owns":[],"ready":[],"stuck":{"x":"why"}})"}) {
    EXPECT_FALSE(Member::parse(wrong)) << wrong;
  }
  EXPECT_FALSE(PartitionName::parse("/1"));
  EXPECT_FALSE(PartitionName::parse("a/4294967296"));
}

/// How many partitions each node has at this rank.
std::map<std::string, int> counts(const Rankings& rankings, std::size_t rank) {
  std::map<std::string, int> counts;
  for (const auto& [partition, ranked] : rankings) ++counts[ranked[rank]];
  return counts;
}

TEST(Ownership, NodesHaveTheSameNumberOfPartitions) {
  Situation situation;
  for (unsigned nodes = 1; nodes <= 8; ++nodes) {
    situation.live["n" + std::to_string(nodes)];
    const auto rankings = rank(partitions(64), situation);
    const int most = static_cast<int>((64 + nodes - 1) / nodes);
    for (const auto& [node, count] : counts(rankings, 0)) EXPECT_LE(count, most) << node;
    if (nodes < 2) continue;
    // Whoever is left for the last ones may own them.
    for (const auto& [node, count] : counts(rankings, 1)) EXPECT_LE(count, most + 2) << node;
  }
}

TEST(Ownership, ANodeThatGoesMovesItsOwnPartitionsAndFewOthers) {
  Situation all;
  for (const char* node : {"n0", "n1", "n2", "n3"}) all.live[node];
  Situation fewer = all;
  fewer.live.erase("n2");
  const auto before = rank(partitions(1000), all), after = rank(partitions(1000), fewer);
  int moved = 0;
  for (const PartitionName& one : partitions(1000)) {
    if (before.at(one)[0] != "n2" && after.at(one)[0] != before.at(one)[0]) ++moved;
  }
  EXPECT_LT(moved, 50);
}

TEST(Ownership, WhatPeopleAppointCountsAndTheOrderInWhichPartitionsAreHeardOfDoesNot) {
  Situation situation;
  for (const char* node : {"n0", "n1", "n2"}) situation.live[node];
  for (std::uint32_t i = 50; i < 60; ++i) situation.appointed[{"area", i}] = "n1";
  situation.appointed[{"area", 3}] = "nobody";
  auto all = partitions(60);
  const auto rankings = rank(all, situation);
  for (std::uint32_t i = 50; i < 60; ++i) EXPECT_EQ(rankings.at({"area", i})[0], "n1");
  for (const auto& [node, count] : counts(rankings, 0)) EXPECT_EQ(count, 20) << node;
  std::ranges::reverse(all);
  EXPECT_EQ(rank(all, situation), rankings);
}

/// Nodes that hear each other at once, evaluate for a while before they are ready, come, go, and
/// are drained.
class Nodes {
 public:
  explicit Nodes(unsigned seed) : random_(seed) {}

  Situation situation;

  void come(const std::string& node) { situation.live[node]; }
  void go(const std::string& node) {
    situation.live.erase(node);
    warm_.erase(node);
  }
  /// One node after the other, in any order, looks and does what it has to.
  void turn() {
    std::vector<std::string> nodes;
    for (const auto& [node, member] : situation.live) nodes.push_back(node);
    std::ranges::shuffle(nodes, random_);
    for (const std::string& node : nodes) act(node);
  }
  int owners(const PartitionName& name) const {
    return static_cast<int>(std::ranges::count_if(
        situation.live, [&](const auto& one) { return one.second.owns.contains(name); }));
  }

 private:
  static constexpr int kWarmUp = 3;  // turns
  std::mt19937 random_;
  std::map<std::string, std::map<PartitionName, int>> warm_;

  void act(const std::string& node) {
    const auto rankings = rank(partitions(40), situation);
    for (const PartitionName& one : partitions(40)) {
      const Duty duty = duty_of(node, one, rankings.at(one), situation);
      Member& self = situation.live[node];
      duty == Duty::owner ? (void)self.owns.insert(one) : (void)self.owns.erase(one);
      int& turns = warm_[node][one];
      turns = duty == Duty::none ? 0 : turns + 1;
      turns >= kWarmUp ? (void)self.ready.insert(one) : (void)self.ready.erase(one);
      EXPECT_LE(owners(one), 1) << one.text();
    }
  }
};

TEST(Ownership, EachPartitionHasOneOwnerWhoeverComesGoesAndIsDrained) {
  for (unsigned seed = 0; seed < 12; ++seed) {
    std::mt19937 random(seed);
    Nodes nodes(seed);
    nodes.come("n0");
    for (int change = 0; change < 10; ++change) {
      const std::string node = "n" + std::to_string(random() % 5);
      const auto what = random() % 4;
      auto& drained = nodes.situation.drained;
      if (what == 0 && nodes.situation.live.size() > 1) nodes.go(node);
      if (what == 1) nodes.come(node);
      if (what == 2)
        drained.contains(node) ? (void)drained.erase(node) : (void)drained.insert(node);
      if (what == 3)
        nodes.situation.appointed[{"area", static_cast<std::uint32_t>(random() % 40)}] = node;
      if (nodes.situation.live.empty()) nodes.come("n0");
      for (int i = 0; i < 12; ++i) nodes.turn();
      for (const auto& [one, ranked] : rank(partitions(40), nodes.situation)) {
        EXPECT_EQ(nodes.owners(one), 1);
        EXPECT_TRUE(nodes.situation.live[ranked[0]].owns.contains(one)) << one.text();
        if (ranked.size() < 2) continue;
        EXPECT_EQ(duty_of(ranked[1], one, ranked, nodes.situation), Duty::standby);
      }
    }
  }
}

TEST(Ownership, AReadyNodeTakesWhatADeadOneLeavesBeforeAnUnreadyOneThatIsFirst) {
  Situation situation;
  const PartitionName name{"area", 0};
  for (const char* node : {"n0", "n1", "n2"}) situation.live[node];
  const auto ranked = rank({name}, situation).at(name);
  situation.live[ranked[1]].ready.insert(name);
  EXPECT_EQ(duty_of(ranked[0], name, ranked, situation), Duty::standby);
  EXPECT_EQ(duty_of(ranked[1], name, ranked, situation), Duty::owner);
  EXPECT_EQ(duty_of(ranked[2], name, ranked, situation), Duty::none);
  situation.live[ranked[1]].owns.insert(name);
  situation.live[ranked[0]].ready.insert(name);
  EXPECT_EQ(duty_of(ranked[0], name, ranked, situation), Duty::standby);
  EXPECT_EQ(duty_of(ranked[1], name, ranked, situation), Duty::standby);
  situation.live[ranked[1]].owns.clear();
  EXPECT_EQ(duty_of(ranked[0], name, ranked, situation), Duty::owner);
}

}  // namespace
}  // namespace gorgo::cluster
