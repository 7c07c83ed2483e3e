#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <map>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "dispatch/placement/policy.hpp"
#include "dispatch/placement/tuning.hpp"

namespace gorgo {
namespace {

using dispatch::Arrangement;
using dispatch::Directive;
using dispatch::Ledger;
using dispatch::Ratios;

constexpr double kOneSecond = 1e9;  // in nanoseconds, as all times here

/// An engine that is only named: what it costs is made up.
class Named final : public engine::Engine {
 public:
  Named(std::string_view name, bool is_device, double fixed_cost)
      : name_(name), is_device_(is_device), fixed_cost_(fixed_cost) {}

  std::string_view name() const override { return name_; }
  bool divides_terminators() const override { return !is_device_; }
  bool is_device() const override { return is_device_; }
  double fixed_cost() const override { return fixed_cost_; }
  std::vector<std::string> description() const override { return {}; }
  void evaluate(std::span<engine::Request>, const engine::Budget&) const override {}
  std::unique_ptr<engine::Evaluator> prepare(std::shared_ptr<const plan::Plan>,
                                             history::History&) const override {
    return nullptr;
  }

 private:
  std::string_view name_;
  bool is_device_;
  double fixed_cost_;
};

const Named kByThreads("threads", false, 0), kOther("other", false, 0);
const Named kDevice("device", true, 60e3);  // nanoseconds a batch

/// Rules whose costs are made up. Batch by batch, they run where `decide` has them run. Noise is
/// heavy in the tails, and often one of the engines is slow for a while. A device has its fixed
/// cost once for all rules, and what it takes is divided among them by their terminators.
class World {
 public:
  /// What a terminator of the rule costs on the engine at that time, without the fixed cost.
  using Costs = std::function<double(std::uint64_t rule, const Named& engine, double time)>;

  World(std::uint64_t seed, std::vector<const Named*> engines, Costs costs, std::uint64_t rules = 1)
      : random_(seed), costs_(std::move(costs)) {
    ledger_.credit = 20e6;
    for (std::uint64_t serial = 1; serial <= rules; ++serial) {
      Ledger::Rule& rule = ledger_.at(serial);
      rule.now = {engines.front()};
      for (const Named* const engine : engines) {
        rule.options.emplace_back(engine).ability = Ledger::Option::Ability::able;
      }
    }
  }

  void run(double seconds) {
    for (const double end = time_ + seconds * kOneSecond; time_ < end;) batch();
  }

  const Arrangement& at(std::uint64_t serial = 1) const { return ledger_.find(serial)->now; }
  bool is_on(const Named& engine, std::uint64_t serial = 1) const {
    return at(serial) == Arrangement{&engine};
  }
  const Ledger& ledger() const { return ledger_; }
  unsigned moves() const { return moves_; }
  /// The most rules that have moved by one directive.
  std::size_t most_together() const { return most_together_; }
  /// The most rules that have left the device at once.
  std::size_t most_back() const { return most_back_; }
  const std::map<Directive::Kind, unsigned>& directives() const { return directives_; }

  double terminators = 21;  ///< of each rule in a batch
  double bias = 1;          ///< what trials take, as a part of what evaluations take
  double sharing = 1;       ///< what a shared evaluation takes, as a part of what speeds promise
  double credit = 20e6;
  double noise = 0.3;
  bool is_warming_up = false;           ///< the device, which takes five times as long meanwhile
  std::map<int, double> hold_ups = {};  ///< by batches after a move: how long it is held up

 private:
  double noisy(const Named& engine) {
    if (noise == 0) return 1;
    if (time_ > slow_until_) {
      slow_until_ = time_ + 0.1 * kOneSecond * uniform_(random_);
      slow_ = random_() % 3;
    }
    const bool is_slow = slow_ == 1 ? &engine == &kByThreads : slow_ == 2 && &engine != &kByThreads;
    const double outlier = uniform_(random_) < 0.02 ? 5 : 1;
    return std::exp(noise * normal_(random_)) * outlier * (is_slow ? 1.2 : 1);
  }

  /// What the terminators of a batch take there, without the fixed cost.
  double take(std::uint64_t serial, const engine::Engine* engine) {
    const auto& named = static_cast<const Named&>(*engine);
    const double warming = is_warming_up && named.is_device() ? 5 : 1;
    return terminators * costs_(serial, named, time_) * noisy(named) * warming;
  }

  double take(std::uint64_t serial, const Arrangement& where) {
    if (where.reserve == nullptr) return take(serial, where.engine);
    // Both are done at the same time.
    const double device = take(serial, where.engine), threads = take(serial, where.reserve);
    return sharing * threads * (device + where.engine->fixed_cost()) / (device + threads);
  }

  void batch() {
    std::map<std::uint64_t, double> took;
    double on_device = 0, rules_there = 0;
    for (const auto& [serial, rule] : ledger_.rules()) {
      took[serial] = take(serial, rule.now);
      if (rule.now != Arrangement{&kDevice}) continue;
      on_device += took[serial];
      ++rules_there;
    }
    const auto hold_up = hold_ups.find(++since_move_);
    if (hold_up != hold_ups.end()) on_device += hold_up->second;
    for (auto& [serial, each] : took) {
      Ledger::Rule& rule = ledger_.at(serial);
      if (rule.now == Arrangement{&kDevice}) {
        each = (kDevice.fixed_cost() + on_device) / rules_there;
      }
      time_ += each;
      report(serial, rule, each);
    }
    settle();
  }

  void report(std::uint64_t serial, Ledger::Rule& rule, double took) {
    const dispatch::Placement::Spent now{took, terminators};
    if (rule.proof) Ledger::prove(serial, rule, now, is_warming_up && rule.now.engine == &kDevice);
    if (rule.tried() != nullptr) try_elsewhere(serial, *rule.find(rule.tried()->engine), took);
    dispatch::Placement::Spent& spent = spent_[serial];
    spent.nanoseconds += took;
    spent.terminators += terminators;
    if (spent.nanoseconds < dispatch::Placement::kWorth) return;
    rule.batch = terminators;
    rule.share = 0.5;
    ledger_.observe(rule, std::exchange(spent, {}));
    due_.insert(serial);
  }

  void try_elsewhere(std::uint64_t serial, Ledger::Option& option, double own) {
    const bool is_warm = option.engine->is_device() && is_warming_up;
    if (is_warm && is_waiting(option, time_)) return;
    const double there = bias * (take(serial, option.engine) + option.engine->fixed_cost());
    time_ += there;
    Ledger::compare(option, own, there, is_warm, time_);
    due_.insert(serial);
  }

  void settle() {
    ledger_.credit = credit;
    ledger_.end_batch();
    const std::vector<std::uint64_t> due(due_.begin(), due_.end());
    due_.clear();
    std::size_t back = 0;
    for (const Directive& directive : dispatch::decide(ledger_, due, time_)) {
      back += std::ranges::count_if(directive.rules, [&](std::uint64_t serial) {
        return is_on(kDevice, serial) && directive.where == Arrangement{&kByThreads};
      });
      ledger_.carry_out(directive, time_);
      ++directives_[directive.kind];
      most_together_ = std::max(most_together_, directive.rules.size());
      const bool moves =
          directive.kind == Directive::Kind::run || directive.kind == Directive::Kind::share;
      if (moves) ++moves_, since_move_ = 0;
    }
    most_back_ = std::max(most_back_, back);
  }

  std::mt19937_64 random_;
  std::normal_distribution<double> normal_;
  std::uniform_real_distribution<double> uniform_;
  const Costs costs_;
  Ledger ledger_;
  std::map<std::uint64_t, dispatch::Placement::Spent> spent_;
  std::set<std::uint64_t> due_;
  std::map<Directive::Kind, unsigned> directives_;
  unsigned moves_ = 0;
  std::size_t most_together_ = 0, most_back_ = 0;
  int since_move_ = 0;
  double time_ = 0, slow_until_ = 0;
  int slow_ = 0;
};

World::Costs fixed(double threads, double elsewhere) {
  return [=](std::uint64_t, const Named& engine, double) {
    return &engine == &kByThreads ? threads : elsewhere;
  };
}

World two_engines(std::uint64_t seed, const World::Costs& costs) {
  return {seed, {&kByThreads, &kOther}, costs};
}

constexpr std::uint64_t kSeeds = 12;

/// In so many of the worlds `f(seed)` is true.
template <class F>
std::uint64_t count(F f) {
  std::uint64_t times = 0;
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) times += f(seed) ? 1 : 0;
  return times;
}

TEST(RatiosTest, TheMiddleIsBetweenTheBounds) {
  Ratios ratios;
  EXPECT_EQ(ratios.lower(), 0);
  for (const double ratio : {0.5, 0.6, 30.0, 0.55}) ratios.add(1, ratio);
  EXPECT_EQ(ratios.lower(), 0.5);
  EXPECT_EQ(ratios.upper(), 30);
  for (const double ratio : {0.56, 0.57, 0.58, 0.59}) ratios.add(1, ratio);
  EXPECT_FALSE(ratios.is_enough());
  EXPECT_EQ(ratios.lower(), 0.55);
  EXPECT_EQ(ratios.upper(), 0.6);
  for (int i = 0; i < 8; ++i) ratios.add(1, 0.575);
  EXPECT_TRUE(ratios.is_enough());
  EXPECT_EQ(ratios.median(), 0.575);
}

TEST(RatiosTest, ASinglePieceProvesNothingButAGreatGain) {
  Ratios one;
  one.add(100, 10);
  EXPECT_EQ(one.lower(), 0);
  EXPECT_LT(one.upper(), 0.5);
  Ratios other;
  other.add(100, 90);
  EXPECT_GT(other.upper(), 1);
}

TEST(Settling, ARuleStaysWhereTwoEnginesAreAboutEqual) {
  unsigned moves = 0;
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    World world = two_engines(seed, fixed(3000, 3100));
    world.run(20);
    EXPECT_LE(world.moves(), 4u) << seed;
    moves += world.moves();
  }
  EXPECT_LE(moves, 2 * kSeeds);
}

/// With so much noise, one in twelve may have bad luck once.
TEST(Settling, ARuleGoesWhereItCostsLess) {
  const auto settles = [](std::uint64_t seed) {
    World world = two_engines(seed, fixed(3400, 2600));
    world.run(1);
    const bool soon = world.is_on(kOther);
    world.run(20);
    EXPECT_LE(world.moves(), 4u) << seed;
    return soon && world.is_on(kOther);
  };
  EXPECT_GE(count(settles), kSeeds - 1);
}

TEST(Settling, WhatOnlySeemsBetterIsTakenBack) {
  const auto is_taken_back = [](std::uint64_t seed) {
    World world = two_engines(seed, fixed(2600, 3400));
    world.bias = 0.5;
    world.run(20);
    EXPECT_LE(world.moves(), 6u) << seed;
    return world.is_on(kByThreads);
  };
  EXPECT_GE(count(is_taken_back), kSeeds - 1);
}

TEST(Settling, ALoadThatShiftsIsFollowed) {
  const double shift = 20 * kOneSecond;
  const World::Costs costs = [=](std::uint64_t, const Named& engine, double time) {
    return &engine == &kOther ? 3500 : time < shift ? 3000 : 9000;
  };
  const auto is_followed = [&](std::uint64_t seed) {
    World world = two_engines(seed, costs);
    world.run(20);
    const bool was_right = world.is_on(kByThreads);
    world.run(1);
    EXPECT_TRUE(world.is_on(kOther)) << seed;
    world.run(20);
    EXPECT_TRUE(world.is_on(kOther)) << seed;
    EXPECT_LE(world.moves(), 6u) << seed;
    return was_right;
  };
  EXPECT_GE(count(is_followed), kSeeds - 1);
}

TEST(Settling, ADeviceThatIsWorseForFewTerminatorsIsTriedAgainWithMany) {
  const auto is_tried_again = [](std::uint64_t seed) {
    World world(seed, {&kByThreads, &kDevice}, fixed(3000, 400));
    world.terminators = 16;  // 48 microseconds against 66
    world.run(20);
    const bool was_right = world.is_on(kByThreads);
    world.terminators = 1000;
    world.run(1);
    EXPECT_TRUE(world.is_on(kDevice)) << seed;
    return was_right;
  };
  EXPECT_GE(count(is_tried_again), kSeeds - 1);
}

TEST(Settling, ASingleBatchThatIsHeldUpDecidesNothing) {
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    World world(seed, {&kByThreads, &kDevice}, fixed(3000, 1500));
    world.noise = 0.1;
    world.terminators = 1000;
    world.hold_ups = {{3, 30e6}};
    world.run(1);
    EXPECT_EQ(world.at().engine, &kDevice) << seed;
    EXPECT_EQ(world.directives().at(Directive::Kind::run), 1u) << seed;
  }
}

TEST(Settling, AProofIsShortWhereThereIsNoDoubt) {
  World world(0, {&kByThreads, &kOther}, fixed(3000, 9000));
  world.bias = 0.1;
  world.noise = 0;
  world.run(0.5);  // only devices are tried in it
  ASSERT_TRUE(world.is_on(kByThreads));
  for (int i = 0; i < 20 && world.is_on(kByThreads); ++i) world.run(0.001);
  ASSERT_TRUE(world.is_on(kOther));
  world.run(0.012);
  EXPECT_TRUE(world.is_on(kByThreads));
}

TEST(Settling, WhatADeviceTakesBeforeItIsReadyDoesNotRuleItOut) {
  World world(1, {&kByThreads, &kDevice}, fixed(3000, 1500));
  world.terminators = 1000;
  world.is_warming_up = true;
  world.run(0.5);
  EXPECT_TRUE(world.is_on(kByThreads));
  EXPECT_NE(world.ledger().find(1)->tried(), nullptr);
  world.is_warming_up = false;
  world.run(0.5);
  EXPECT_EQ(world.at().engine, &kDevice);
}

TEST(Settling, NoTrialBeginsWithoutTimeForIt) {
  World world = two_engines(0, fixed(3400, 2600));
  world.credit = 1e6;
  world.run(1);
  EXPECT_TRUE(world.directives().empty());
}

TEST(Settling, RulesGoToADeviceTogetherWhereNoneHasAnythingToWinAlone) {
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    World world(seed, {&kByThreads, &kDevice}, fixed(3000, 1200), 6);
    world.noise = 0;
    world.terminators = 20;  // 60 microseconds for each against 84 alone, or 34 of all six
    world.run(5);
    EXPECT_GT(world.most_together(), 1u) << seed;
    for (std::uint64_t serial = 1; serial <= 6; ++serial) {
      EXPECT_TRUE(world.is_on(kDevice, serial)) << seed << " " << serial;
    }
  }
}

TEST(Settling, RulesThatWentTogetherGoBackTogether) {
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    World world(seed, {&kByThreads, &kDevice}, fixed(3000, 5000), 6);
    world.noise = 0;
    world.terminators = 15;  // 45 microseconds for each against 135 alone, or 85 of all six
    world.bias = 0.35;
    world.run(5);
    EXPECT_GT(world.most_together(), 1u) << seed;
    for (std::uint64_t serial = 1; serial <= 6; ++serial) {
      EXPECT_TRUE(world.is_on(kByThreads, serial)) << seed << " " << serial;
    }
    EXPECT_LE(world.moves(), 24u) << seed;
    EXPECT_GT(world.most_back(), 1u) << seed;
  }
}

/// A batch of 20 terminators takes each of six rules 60 microseconds on threads, 84 alone on the
/// device, and 34 with all six there. For two further rules the device is dearer even in company.
/// From then on, the device is dear.
World a_set_among_others(std::uint64_t seed, double until) {
  const World::Costs costs = [=](std::uint64_t rule, const Named& engine, double time) {
    if (&engine == &kByThreads) return 3000.0;
    if (rule > 6) return 9000.0;
    return time < until ? 1200.0 : 20'000.0;
  };
  World world(seed, {&kByThreads, &kDevice}, costs, 8);
  world.noise = 0;
  world.terminators = 20;
  return world;
}

bool are_on(const World& world, const Named& engine) {
  for (std::uint64_t serial = 1; serial <= 6; ++serial) {
    if (!world.is_on(engine, serial)) return false;
  }
  return true;
}

TEST(Settling, ASetGoesToADeviceWithoutTheOthersAndBackWhenTheLoadShifts) {
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    World world = a_set_among_others(seed, 10 * kOneSecond);
    world.run(10);
    EXPECT_TRUE(are_on(world, kDevice)) << seed;
    EXPECT_GT(world.most_together(), 1u) << seed;
    for (std::uint64_t serial = 1; serial <= 8; ++serial) {
      EXPECT_EQ(world.ledger().find(serial)->proof, nullptr) << seed << " " << serial;
    }
    world.run(10);
    EXPECT_TRUE(are_on(world, kByThreads)) << seed;
    EXPECT_TRUE(world.is_on(kByThreads, 7) && world.is_on(kByThreads, 8)) << seed;
  }
}

/// A device and threads that share the rule.
World sharing(std::uint64_t seed, double threads, double device) {
  World world(seed, {&kByThreads, &kDevice}, fixed(threads, device));
  world.noise = 0;
  world.terminators = 1000;
  return world;
}

TEST(Settling, ADeviceAndTheThreadsShareARuleOfWhichNeitherIsMuchTheFaster) {
  for (const double device : {2000, 4000}) {
    const auto is_shared = [&](std::uint64_t seed) {
      World world = sharing(seed, 3000, device);
      world.run(2);
      EXPECT_EQ(world.ledger().find(1)->proof, nullptr) << seed;
      return world.at() == Arrangement{&kDevice, &kByThreads};
    };
    EXPECT_GE(count(is_shared), kSeeds - 1) << device;
  }
}

TEST(Settling, SharingEndsWhereItCostsMoreThanTheBetterOneAlone) {
  for (const double device : {2000, 4000}) {
    const auto is_alone = [&](std::uint64_t seed) {
      World world = sharing(seed, 3000, device);
      world.sharing = 3;
      world.run(5);
      EXPECT_GE(world.directives().at(Directive::Kind::share), 1u) << seed;
      return world.is_on(device < 3000 ? kDevice : kByThreads);
    };
    EXPECT_GE(count(is_alone), kSeeds - 1) << device;
  }
}

}  // namespace
}  // namespace gorgo
