#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <functional>
#include <optional>
#include <random>
#include <utility>

#include "dispatch/placement/attempt.hpp"
#include "dispatch/placement/comparison.hpp"
#include "dispatch/placement/watch.hpp"

namespace gorgo {
namespace {

using dispatch::Attempt;

constexpr double kSecond = 1e9;  // in nanoseconds, as all times here

/// Costs of a terminator on one of two engines, by the time.
struct Costs {
  std::function<double(int engine, double time)> evaluation;
  /// The cost with all that happens, except trials.
  std::function<double(int engine, double time)> everything;
};

/// A rule whose costs are made up: batches of 21 terminators run on one of two engines, which is
/// chosen as `Placer` does. Noise is heavy in the tails, and often one of the engines is slow for a
/// while.
class NoisyRule {
 public:
  explicit NoisyRule(std::uint64_t seed) : random_(seed) {}

  void run(const Costs& costs, double seconds) {
    for (const double end = time_ + seconds * kSecond; time_ < end;) {
      const double cost = costs.evaluation(engine_, time_) * noise(engine_);
      const double extra = costs.everything(engine_, time_) - costs.evaluation(engine_, time_);
      const double took = kTerminators * (cost + extra);
      time_ += took;
      terminators_ += kTerminators;
      if (attempt_) {
        go_on(attempt_->add(took, terminators_));
      } else {
        watch(cost, costs);
      }
    }
  }

  unsigned moves() const { return moves_; }
  /// Where it is to stay.
  int home() const { return home_; }

 private:
  static constexpr std::uint64_t kTerminators = 21;
  static constexpr Attempt::Prospect kMuch{.hope = 1e6, .least = 0};

  double noise(int engine) {
    if (time_ > slow_until_) {
      slow_until_ = time_ + 0.1 * kSecond * uniform_(random_);
      slow_ = random_() % 3;
    }
    const double outlier = uniform_(random_) < 0.02 ? 5 : 1;
    return std::exp(0.3 * normal_(random_)) * outlier * (slow_ == engine ? 1.2 : 1);
  }

  void watch(double cost, const Costs& costs) {
    average_ += 0.01 * (cost - average_);
    spent_ += kTerminators * cost;
    if (spent_ > 2e6) watch_.look(std::exchange(spent_, 0), average_);
    if (!comparison_ && watch_.is_due()) comparison_.emplace();
    if (!comparison_) return;
    const int other = 1 - engine_;
    const double there = costs.evaluation(other, time_) * noise(other);
    comparison_->add(kTerminators, kTerminators * cost, kTerminators * there);
    time_ += kTerminators * there;
    if (comparison_->is_enough(1)) judge();
  }

  void judge() {
    const double ratio = comparison_->ratio();
    comparison_.reset();
    watch_.tried(ratio > 2);
    if (ratio < watch_.trust() * 0.8) {
      watch_.moved();
      engine_ = 1 - engine_;
      return settle();
    }
    if (ratio < 2 && watch_.may_attempt()) {
      attempt_.emplace(0, on(engine_), on(1 - engine_), kMuch, terminators_);
    }
  }

  void go_on(Attempt::Verdict verdict) {
    if (verdict == Attempt::Verdict::go_on) return;
    engine_ = verdict == Attempt::Verdict::give_up ? home_ : engine_;
    if (verdict == Attempt::Verdict::take_turns) {
      engine_ = 1 - engine_;
      return;
    }
    watch_.attempted();
    attempt_.reset();
    settle();
  }

  void settle() {
    moves_ += engine_ != home_ ? 1 : 0;
    home_ = engine_;
  }

  static dispatch::Arrangement on(int engine) {
    return {engine::find_engine(engine == 0 ? "column" : "column-scan")};
  }

  unsigned moves_ = 0;
  int engine_ = 0, home_ = 0;
  std::mt19937_64 random_;
  std::normal_distribution<double> normal_;
  std::uniform_real_distribution<double> uniform_;
  dispatch::Watch watch_;
  std::optional<dispatch::Comparison> comparison_;
  std::optional<Attempt> attempt_;
  double time_ = 0, slow_until_ = 0, spent_ = 0, average_ = 2000;
  int slow_ = 0;
  std::uint64_t terminators_ = 0;
};

auto fixed(double a, double b) {
  return [=](int engine, double) { return engine == 0 ? a : b; };
}

constexpr std::uint64_t kSeeds = 12;

TEST(Settling, ARuleStaysWhereTwoEnginesAreAboutEqual) {
  unsigned moves = 0;
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    NoisyRule rule(seed);
    rule.run({fixed(2000, 2100), fixed(3000, 3100)}, 60);
    EXPECT_LE(rule.moves(), 3u) << seed;
    moves += rule.moves();
  }
  EXPECT_LE(moves, kSeeds);  // one in a minute
}

/// The evaluations alone take equally long on both engines.
TEST(Settling, ARuleGoesWhereEverythingTakesLess) {
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    NoisyRule rule(seed);
    rule.run({fixed(2000, 2000), fixed(3400, 2600)}, 10);
    EXPECT_EQ(rule.home(), 1) << seed;
    rule.run({fixed(2000, 2000), fixed(3400, 2600)}, 60);
    EXPECT_EQ(rule.home(), 1) << seed;
    EXPECT_LE(rule.moves(), 3u) << seed;
  }
}

TEST(Settling, WhatOnlySeemsBetterIsTakenBack) {
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    NoisyRule rule(seed);
    rule.run({fixed(2000, 1000), fixed(2600, 3400)}, 60);
    EXPECT_EQ(rule.home(), 0) << seed;
    EXPECT_LE(rule.moves(), 4u) << seed;
  }
}

TEST(Settling, ALoadThatShiftsIsFollowed) {
  const double shift = 20 * kSecond;
  const auto costs = [=](double extra) {
    return [=](int engine, double time) {
      return extra + (engine == 1 ? 2500 : time < shift ? 2000 : 6000);
    };
  };
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    NoisyRule rule(seed);
    rule.run({costs(0), costs(1000)}, 20);
    EXPECT_EQ(rule.home(), 0) << seed;
    rule.run({costs(0), costs(1000)}, 1);
    EXPECT_EQ(rule.home(), 1) << seed;
    rule.run({costs(0), costs(1000)}, 20);
    EXPECT_EQ(rule.home(), 1) << seed;
    EXPECT_LE(rule.moves(), 3u) << seed;
  }
}

}  // namespace
}  // namespace gorgo
