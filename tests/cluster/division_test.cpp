#include <gtest/gtest.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <map>
#include <memory>
#include <optional>

#include "../plan/plan_support.hpp"
#include "cluster/names.hpp"
#include "cluster/parcels.hpp"
#include "cluster/partition_of.hpp"
#include "columns.hpp"
#include "gorgo/processor.hpp"
#include "keyed_rules.hpp"

// What is divided by the plan gives what is not divided, without brokers.
namespace gorgo::cluster {
namespace {

constexpr std::uint32_t kPartitions = 4;
/// An event may bring about so many. Rules that read themselves now and then go on without end.
constexpr std::size_t kMostComposites = 1000;

/// The composites of a run: all of them, sorted, and those of each key in their order.
struct Outcome {
  std::vector<std::string> all;
  std::map<std::string, std::vector<std::string>> by_key;
};

/// One processor with some of the rules.
class Machine {
 public:
  Machine(const std::string& text, const std::vector<std::string>& rules, const ClusterPlan& plan)
      : processor_({.max_composites = kMostComposites, .max_late = Duration{1} << 60}),
        plan_(plan) {
    EXPECT_FALSE(processor_.deploy("plant.tesla", text).failed()) << text;
    for (const RuleInfo& rule : processor_.rules()) {
      if (std::ranges::find(rules, rule.name) != rules.end()) continue;
      EXPECT_TRUE(processor_.remove(rule.name));
    }
  }

  void append(const Event& event, Outcome& outcome) {
    EXPECT_TRUE(processor_.append(event));
    processor_.process([&](const OutputBatch& batch) { write(batch, outcome); });
  }
  void tick(Timestamp clock, Outcome& outcome) {
    EXPECT_TRUE(processor_.tick(clock));
    processor_.process([&](const OutputBatch& batch) { write(batch, outcome); });
  }
  /// Whether an event had more than `kMostComposites`.
  bool is_incomplete() const { return processor_.counters().dropped_composites > 0; }
  void finish(Outcome& outcome) {
    processor_.finish([&](const OutputBatch& batch) { write(batch, outcome); });
  }

 private:
  Processor processor_;

  const ClusterPlan& plan_;

  void write(const OutputBatch& batch, Outcome& outcome) const {
    for (const auto& row : batch.rows) {
      if (row.rule == OutputBatch::kPrimitive) continue;
      const std::string& rule = batch.rule_names[row.rule];
      const auto place = std::ranges::find(plan_.rules, rule, &RulePlace::rule);
      std::string line = rule + " @" + std::to_string(row.timestamp);
      std::string key;  // of the family, which composites hand on
      batch.for_each_attribute(row, [&](std::string_view name, const Datum& value) {
        const std::string text =
            value.tag == Datum::Tag::floating ? std::to_string(value.floating) : key_text(value);
        line += " " + std::string(name) + "=" + text;
        if (name == place->family) key = text;
      });
      outcome.all.push_back(line);
      outcome.by_key[rule + " " + key].push_back(std::move(line));
    }
  }
};

std::vector<std::string> names_of(const plan::Planned& planned) {
  std::vector<std::string> names;
  for (const plan::Plan* const plan : planned.plans) names.push_back(plan->rule.name);
  return names;
}

/// Nothing where an event has too many composites: the machines of a cluster count their own.
std::optional<Outcome> on_one(const std::string& text, const plan::Planned& planned,
                              const ClusterPlan& plan, const doors::Departing& events) {
  Outcome outcome;
  Machine machine(text, names_of(planned), plan);
  for (const auto& row : events.rows) machine.append(row.event, outcome);
  machine.finish(outcome);
  if (machine.is_incomplete()) return std::nullopt;
  std::ranges::sort(outcome.all);
  return outcome;
}

/// Brings a message to the machine of its subject.
void take(const StreamMessage& message, std::map<std::string, std::unique_ptr<Machine>>& machines,
          Outcome& outcome) {
  Machine& machine = *machines.at(message.subject);
  for (const auto& [name, value] : message.headers) {
    if (name != kClockHeader) continue;
    Timestamp clock = 0;
    std::from_chars(value.data(), value.data() + value.size(), clock);
    machine.tick(clock, outcome);
  }
  if (message.payload.empty()) return;
  const auto events = ReceivedEvents::decode(
      {reinterpret_cast<const char*>(message.payload.data()), message.payload.size()});
  ASSERT_TRUE(events);
  for (BatchCursor cursor(events->batch()); !cursor.done(); cursor.advance()) {
    machine.append(cursor.to_event(), outcome);
  }
}

Outcome on_many(const std::string& text, const ClusterPlan& plan, const doors::Departing& events,
                KeyedRules& random) {
  Outcome outcome;
  Deployment deployment;
  deployment.partitions = kPartitions;
  deployment.plan = plan;
  std::map<std::string, std::unique_ptr<Machine>> machines;
  for (const Family& family : plan.families) {
    for (std::uint32_t i = 0; i < deployment.partitions_of(family); ++i) {
      machines[input_subject("c", family.name, i)] =
          std::make_unique<Machine>(text, family.rules, plan);
    }
  }
  Parcels parcels("c", "node");
  parcels.follow(Routing(deployment));
  for (std::size_t done = 0; done < events.rows.size();) {
    const std::size_t count =
        std::min<std::size_t>(random.number(1, 30), events.rows.size() - done);
    const auto first = events.rows.begin() + static_cast<std::ptrdiff_t>(done);
    const auto middle = first + random.number(0, static_cast<int>(count));
    Columns one({first, middle}), other({middle, first + static_cast<std::ptrdiff_t>(count)});
    const std::vector some{one.view(), other.view()};
    done += count;
    if (random.one_in(4)) {  // an attempt that failed
      static_cast<void>(parcels.pack(some));
      parcels.sent();
      parcels.take_back();
    }
    for (const auto& round : parcels.pack(some)) {
      for (const StreamMessage& message : round) take(message, machines, outcome);
    }
    parcels.sent();
    parcels.confirm();
    if (!random.one_in(5)) continue;
    for (const StreamMessage& message : parcels.tell_clock()) take(message, machines, outcome);
    parcels.sent();
    parcels.confirm();
  }
  for (const auto& [subject, machine] : machines) machine->finish(outcome);
  std::ranges::sort(outcome.all);
  return outcome;
}

TEST(Division, GivesWhatOneMachineGives) {
  std::size_t divided = 0, whole = 0, composites = 0;
#ifdef GORGO_SANITIZED
  constexpr std::uint64_t kSeeds = 150;  // each takes ten times as long
#else
  constexpr std::uint64_t kSeeds = 400;
#endif
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    KeyedRules random(seed);
    const std::string text = random.rules();
    const plan::Planned planned(text);
    const ClusterPlan plan = plan_cluster(planned.plans, planned.schema);
    for (const RulePlace& rule : plan.rules) ++(rule.family == kWhole ? whole : divided);
    const doors::Departing events = random.stream();
    const auto one = on_one(text, planned, plan, events);
    if (!one) continue;
    const Outcome many = on_many(text, plan, events, random);
    composites += one->all.size();
    ASSERT_EQ(one->all, many.all) << "seed " << seed << "\n" << text;
    ASSERT_EQ(one->by_key, many.by_key) << "seed " << seed << "\n" << text;
  }
  // Otherwise this would say little.
  EXPECT_GT(divided, kSeeds);
  EXPECT_GT(whole, kSeeds / 8);
  EXPECT_GT(composites, 25 * kSeeds);
  std::printf("%zu rules divided, %zu whole, %zu composites\n", divided, whole, composites);
}

}  // namespace
}  // namespace gorgo::cluster
