#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <functional>
#include <optional>
#include <random>
#include <utility>

#include "dispatch/placement/comparison.hpp"
#include "dispatch/placement/policy.hpp"

namespace gorgo {
namespace {

using dispatch::Policy;
using dispatch::Probation;

constexpr double kSecond = 1e9;  // in nanoseconds, as all times here

/// What a terminator costs on one of two engines, by the time.
using Costs = std::function<double(int engine, double time)>;

/// A rule whose costs are made up: batches of 21 terminators run on one of two engines, as the
/// policy decides. Noise is heavy in the tails, and often one of the engines is slow for a while.
class NoisyRule {
 public:
  /// `bias`: what trials take, as a part of what evaluations take.
  explicit NoisyRule(std::uint64_t seed, double bias = 1) : random_(seed), bias_(bias) {}

  void run(const Costs& costs, double seconds) {
    for (const double end = time_ + seconds * kSecond; time_ < end;) {
      const double cost = costs(engine_, time_) * noise(engine_);
      const double took = kTerminators * cost;
      time_ += took;
      spent_ += took;
      terminators_ += kTerminators;
      if (comparison_) go_on(costs, cost);
      if (spent_ > 2e6) look(std::exchange(spent_, 0), std::exchange(terminators_, 0));
    }
  }

  unsigned moves() const { return moves_; }
  int engine() const { return engine_; }

 private:
  static constexpr std::uint64_t kTerminators = 21;
  static constexpr const char* kNames[] = {"one", "other"};

  double noise(int engine) {
    if (time_ > slow_until_) {
      slow_until_ = time_ + 0.1 * kSecond * uniform_(random_);
      slow_ = random_() % 3;
    }
    const double outlier = uniform_(random_) < 0.02 ? 5 : 1;
    return std::exp(0.3 * normal_(random_)) * outlier * (slow_ == engine ? 1.2 : 1);
  }

  void look(double spent, double terminators) {
    if (probation_) {
      probation_->add(before_ * terminators, spent);
      const auto verdict = probation_->look();
      if (verdict == Probation::Verdict::go_on) return;
      const bool stays = verdict == Probation::Verdict::stay;
      policy_.settled(kNames[stays ? 1 - engine_ : engine_], stays);
      probation_.reset();
      if (!stays) move();
      return;
    }
    policy_.look(spent, spent / terminators, kTerminators);
    if (comparison_ || !policy_.is_due()) return;
    if (policy_.may_try(kNames[1 - engine_])) {
      comparison_.emplace();
    } else {
      policy_.passed();
    }
  }

  void go_on(const Costs& costs, double cost) {
    const int other = 1 - engine_;
    const double there = bias_ * costs(other, time_) * noise(other);
    comparison_->add(kTerminators, kTerminators * cost, kTerminators * there);
    time_ += kTerminators * there;
    if (!comparison_->is_enough(1)) return;
    const double ratio = comparison_->ratio();
    before_ = policy_.cost();
    comparison_.reset();
    if (!policy_.is_worth(ratio)) return policy_.tried(ratio > 2);
    probation_.emplace();
    move();
  }

  void move() {
    engine_ = 1 - engine_;
    ++moves_;
  }

  unsigned moves_ = 0;
  int engine_ = 0;
  std::mt19937_64 random_;
  std::normal_distribution<double> normal_;
  std::uniform_real_distribution<double> uniform_;
  Policy policy_;
  std::optional<dispatch::Comparison> comparison_;
  std::optional<Probation> probation_;
  const double bias_;
  double before_ = 0;
  double time_ = 0, slow_until_ = 0, spent_ = 0, terminators_ = 0;
  int slow_ = 0;
};

Costs fixed(double a, double b) {
  return [=](int engine, double) { return engine == 0 ? a : b; };
}

constexpr std::uint64_t kSeeds = 12;

TEST(ProbationTest, OnlyTheSumOfABatchCounts) {
  Probation probation;
  auto verdict = Probation::Verdict::go_on;
  for (int i = 0; i < 100 && verdict == Probation::Verdict::go_on; ++i) {
    probation.add(1e6, 9e6);
    probation.add(9e6, 0.5e6);
    verdict = probation.look();
  }
  EXPECT_EQ(verdict, Probation::Verdict::stay);
}

TEST(ProbationTest, IsShortWhereThereIsNoDoubt) {
  Probation probation;
  int batches = 0;
  while (probation.look() == Probation::Verdict::go_on && batches < 100) {
    probation.add(1e6, 3e6);
    ++batches;
  }
  EXPECT_LT(batches, 6);
}

TEST(ProbationTest, ASingleSlowBatchDecidesNothing) {
  Probation probation;
  auto verdict = Probation::Verdict::go_on;
  for (int i = 0; i < 100 && verdict == Probation::Verdict::go_on; ++i) {
    probation.add(1e6, i == 2 ? 30e6 : 0.4e6);
    verdict = probation.look();
  }
  EXPECT_EQ(verdict, Probation::Verdict::stay);
  EXPECT_LT(probation.ratio(), 1);
}

TEST(ProbationTest, ABatchThatTakesVeryLongEndsIt) {
  Probation probation;
  for (int i = 0; i < 2; ++i) {
    probation.add(1e6, 1e6);
    EXPECT_EQ(probation.look(), Probation::Verdict::go_on);
  }
  probation.add(1e6, 200e6);
  EXPECT_EQ(probation.look(), Probation::Verdict::go_back);
}

TEST(PolicyTest, AnEngineThatWasWorseIsTriedAgainLater) {
  Policy policy;
  EXPECT_TRUE(policy.may_try("cuda"));
  policy.settled("cuda", false);
  EXPECT_FALSE(policy.may_try("cuda"));
  EXPECT_TRUE(policy.may_try("automaton"));
  policy.pass(60e9);
  EXPECT_TRUE(policy.may_try("cuda"));
  policy.settled("cuda", false);
  policy.pass(60e9);
  EXPECT_FALSE(policy.may_try("cuda"));  // longer this time
}

TEST(PolicyTest, AnEngineThatWasWorseForFewTerminatorsIsTriedAgainWithMany) {
  Policy policy;
  EXPECT_FALSE(policy.look(2e6, 1000, 16));
  policy.settled("cuda", false);
  EXPECT_FALSE(policy.look(2e6, 1000, 40));
  EXPECT_FALSE(policy.may_try("cuda"));
  EXPECT_TRUE(policy.look(2e6, 1000, 4096));
  EXPECT_TRUE(policy.may_try("cuda"));
  EXPECT_TRUE(policy.is_due());
  policy.settled("cuda", false);
  EXPECT_FALSE(policy.look(2e6, 1000, 4096));
  EXPECT_FALSE(policy.may_try("cuda"));
}

TEST(Settling, ARuleStaysWhereTwoEnginesAreAboutEqual) {
  unsigned moves = 0;
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    NoisyRule rule(seed);
    rule.run(fixed(3000, 3100), 60);
    EXPECT_LE(rule.moves(), 6u) << seed;
    moves += rule.moves();
  }
  EXPECT_LE(moves, 3 * kSeeds);  // three in a minute
}

TEST(Settling, ARuleGoesWhereItCostsLess) {
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    NoisyRule rule(seed);
    rule.run(fixed(3400, 2600), 1);
    EXPECT_EQ(rule.engine(), 1) << seed;
    rule.run(fixed(3400, 2600), 60);
    EXPECT_EQ(rule.engine(), 1) << seed;
    EXPECT_LE(rule.moves(), 3u) << seed;
  }
}

TEST(Settling, WhatOnlySeemsBetterIsTakenBack) {
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    NoisyRule rule(seed, 0.5);
    rule.run(fixed(2600, 3400), 60);
    EXPECT_EQ(rule.engine(), 0) << seed;
    EXPECT_LE(rule.moves(), 6u) << seed;
  }
}

TEST(Settling, ALoadThatShiftsIsFollowed) {
  const double shift = 20 * kSecond;
  const Costs costs = [=](int engine, double time) {
    return engine == 1 ? 3500 : time < shift ? 3000 : 9000;
  };
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    NoisyRule rule(seed);
    rule.run(costs, 20);
    EXPECT_EQ(rule.engine(), 0) << seed;
    rule.run(costs, 1);
    EXPECT_EQ(rule.engine(), 1) << seed;
    rule.run(costs, 20);
    EXPECT_EQ(rule.engine(), 1) << seed;
    EXPECT_LE(rule.moves(), 5u) << seed;
  }
}

}  // namespace
}  // namespace gorgo
