#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "dispatch/explain/alarm_report.hpp"
#include "dispatch/placement/placer.hpp"

namespace gorgo {

/// A rule on one engine whose terminators were evaluated, and a placer over it.
class TrialTest : public ::testing::Test {
 protected:
  explicit TrialTest(const std::string& engine = "reference",
                     const dispatch::Placer::Options& options = {})
      : rules_(engine, 0), placer_(rules_, history_, for_tests(options), stop_) {
    // What can be tried does not depend on how long devices take to open.
    for (const engine::Engine* each : engine::engines()) {
      if (!each->is_ready()) each->settle();
    }
    deploy(
        "event A(n: int); event B(n: int); rule r: define C(n: int) from B(n = $n) and "
        "each A(n = $n) within 1 h from B where n = A.n;"
        "rule s: define D(n: int) from B(n = $n) and last A(n = $n) within 1 h from B "
        "where n = A.n;");
    const TypeId a = rules_.schema().find("A")->id, b = rules_.schema().find("B")->id;
    std::uint64_t root = 0;
    for (int i = 0; i < 200; ++i) {
      const Datum cell = Datum::of(std::int64_t{i % 5});
      const TypeId type = i % 2 == 0 ? a : b;
      const history::Slot slot = history_.append(type, i, ++root, {&cell, 1});
      if (type == b) terminators_.push_back(slot);
    }
    history_.settle();
    set_automatic(true);
    evaluate();
  }

  void deploy(const std::string& text, const DeployOptions& options = {}) {
    const auto checked = std::make_shared<dispatch::CheckedText>(
        dispatch::check_text(rules_.base(), {"t.tesla", text}, options));
    const auto deployed = rules_.deploy(checked, std::nullopt, history_);
    EXPECT_FALSE(deployed.failed()) << deployed.render();
  }

  /// What trials really take is soon made up for, however slow the machine is.
  dispatch::Placer::Options for_tests(dispatch::Placer::Options options) {
    options.exploration = 1;
    options.on_alarm = [this](const dispatch::DeployedRule& rule, history::Slot terminator) {
      alarms_.push_back(dispatch::alarm_report(rule, rules_.schema(), history_, terminator));
    };
    return options;
  }
  const dispatch::DeployedRule& rule() const { return rules_.rule(number_); }
  dispatch::Placement& placement() { return rules_.placement(number_); }
  void set_automatic(bool automatic) {
    for (std::uint32_t number = 0; number < rules_.numbers(); ++number) {
      rules_.placement(number).set_automatic(automatic);
    }
  }

  void evaluate() { evaluate(number_); }
  void evaluate(std::uint32_t index) {
    const dispatch::DeployedRule& evaluated = rules_.rule(index);
    const dispatch::EngineEntry& entry = evaluated.placement.entry();
    sink_.clear();
    engine::Request request{.evaluator = entry.evaluators.front().get(),
                            .rule = &evaluated.rule(),
                            .state = &rules_.state(index),
                            .terminators = all(),
                            .sink = &sink_};
    entry.engine->evaluate({&request, 1}, {});
    ASSERT_EQ(request.done, terminators_.size());
    ASSERT_GE(sink_.size(), 90u);
  }
  engine::Terminators all() const { return {terminators_}; }
  dispatch::Outcome outcome() const { return {{{&sink_, 0, sink_.size(), 0}}}; }
  /// What the rule's own engine gave, in so many nanoseconds of one thread.
  dispatch::Evaluated evaluated(double took) const { return evaluated(took, number_); }
  dispatch::Evaluated evaluated(double took, std::uint32_t index) const {
    return {.rule = index, .terminators = all(), .outcome = outcome(), .took = took};
  }

  /// Settles after a batch that took so many nanoseconds.
  void settle(double took) {
    placer_.add_time(took);
    placer_.settle();
  }
  bool is_on_proof(std::uint32_t number) {
    const auto* const known = placer_.ledger().find(rules_.rule(number).serial);
    return known != nullptr && known->proof != nullptr;
  }
  /// The rule takes so much time that something else is tried. On a busy machine an earlier trial
  /// may have cost so much that it takes long until there is time for the next one.
  void begin_trial() {
    for (int i = 0; i < 100'000 && !placer_.is_tried(number_); ++i) {
      placer_.place(number_, terminators_.size());
      for (std::uint32_t number = 0; number < rules_.numbers(); ++number) {
        rules_.state(number).terminators += terminators_.size();
      }
      placer_.observe(number_, placement().entry(), terminators_.size(), 10e6);
      if (number_ == 0) observe_other();
      settle(1e6);
    }
    ASSERT_TRUE(placer_.is_tried(number_));
  }
  void go_on(const dispatch::Evaluated& own) {
    placer_.place(number_, terminators_.size());
    placer_.try_elsewhere({&own, 1});
  }
  /// A trial begins and goes on to its end, where terminators take so long on the rule's engine.
  void try_out(double took) {
    begin_trial();
    for (int i = 0; i < 100 && placer_.is_tried(number_); ++i) {
      go_on(evaluated(took));
      // On a slow machine what was tried so far is enough for a batch.
      if (placer_.is_tried(number_)) settle(1e6);
    }
    ASSERT_FALSE(placer_.is_tried(number_));
  }
  /// The rule takes so many milliseconds, for so many nanoseconds a terminator.
  void run(int milliseconds, double each) {
    for (int i = 0; i < milliseconds / 2; ++i) {
      placer_.observe(number_, placement().entry(), static_cast<std::uint64_t>(2e6 / each), 2e6);
      settle(2e6);
    }
  }
  /// The engine that is tried gives a composite that the rule's own did not: the first one, since
  /// a busy machine may evaluate only some terminators at a time.
  void disagree() {
    begin_trial();
    dispatch::Evaluated less = evaluated(1e12);
    ++less.outcome.parts[0].first_composite;
    for (int i = 0; i < 100 && alarms_.empty(); ++i) go_on(less);
  }

  void observe_other() {
    placer_.observe(1, rules_.placement(1).entry(), terminators_.size(), 10e6);
  }

  std::atomic<bool> stop_ = false;
  history::History history_;
  dispatch::RuleSet rules_;
  std::vector<EngineAlarm> alarms_;
  dispatch::Placer placer_;
  std::vector<history::Slot> terminators_;
  engine::CompositeSink sink_;
  std::uint32_t number_ = 0;  // of the rule
};

}  // namespace gorgo
