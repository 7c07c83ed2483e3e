#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <limits>
#include <map>

#include "generator.hpp"
#include "gorgo/processor.hpp"

namespace gorgo::testing {
namespace {

/// Composites by rule.
using Counts = std::map<std::string, std::uint64_t>;
/// By rule and by the timestamp of the terminator.
using Composites = std::map<std::pair<std::string, Timestamp>, std::uint64_t>;

struct Ran {
  Processor processor;
  Composites composites;  // of rules without a deadline, whose composites bear that timestamp
  Counts delivered;
};

bool is_delayed(const RuleInfo& rule) { return rule.text.find(" after S0") != std::string::npos; }

void apply(const Change& change, Processor& processor) {
  if (!change.remove.empty()) RC_ASSERT(processor.remove(change.remove).has_value());
  if (change.text.empty()) return;
  const auto deployed =
      processor.deploy("later.tesla", change.text, {.with_history = change.with_history});
  RC_ASSERT(!deployed.failed());
}

/// Runs events in batches of one engine and forgets nothing.
Ran run(const std::string& rules, const std::vector<Change>& changes,
        const std::vector<Event>& events, const std::string& engine, std::size_t batch) {
  Ran ran{.processor = Processor({.engine = engine,
                                  .max_depth = 5,
                                  .max_composites = 200,
                                  .remember = std::numeric_limits<Duration>::max()}),
          .composites = {},
          .delivered = {}};
  RC_ASSERT(!ran.processor.deploy("types.tesla", type_rules()).failed());
  RC_ASSERT(!ran.processor.deploy("random.tesla", rules).failed());
  const auto deliver = [&](const OutputBatch& out) {
    for (const auto& row : out.rows) {
      if (row.rule == OutputBatch::kPrimitive) continue;
      ++ran.composites[{out.rule_names[row.rule], row.timestamp}];
      ++ran.delivered[out.rule_names[row.rule]];
    }
  };
  for (std::size_t i = 0; i < events.size(); ++i) {
    const Event& event = events[i];
    for (const Change& change : changes) {
      if (change.before != i) continue;
      ran.processor.process(deliver);
      apply(change, ran.processor);
    }
    const auto taken =
        event.type.empty() ? ran.processor.tick(*event.timestamp) : ran.processor.append(event);
    static_cast<void>(taken);  // what comes too late is refused
    if (ran.processor.pending() >= batch) ran.processor.process(deliver);
  }
  ran.processor.process(deliver);
  return ran;
}

/// What holds between the numbers of a funnel.
void check_steps(const Funnel& funnel) {
  for (std::size_t i = 0; i < funnel.steps.size(); ++i) {
    const Step& step = funnel.steps[i];
    std::uint64_t lost = 0;
    for (const Loss& loss : step.losses) {
      lost += loss.count;
      RC_ASSERT(loss.nearest.has_value() == (loss.count > 0));
    }
    RC_ASSERT(step.left <= step.passed);
    if (funnel.outcome != Funnel::Outcome::evaluated) continue;
    RC_ASSERT(step.candidates == step.passed + lost);
    if (i > 0 && step.kind != Step::Kind::absence) {
      RC_ASSERT(step.sequences == funnel.steps[i - 1].left);
    }
  }
}

RC_GTEST_PROP(Why, SaysOfEveryTerminatorWhatCameOfIt, ()) {
  const std::string rules = random_rules();
  const std::vector<Change> changes = random_changes();
  const std::vector<Event> events = random_stream();
  RC_LOG() << rules;
  for (const Change& change : changes) RC_LOG() << change.before << ": " << change.text << "\n";
  const std::string engine = *rc::gen::elementOf(engine_names());
  const auto batch = static_cast<std::size_t>(*rc::gen::inRange(1, 140));
  Ran ran = run(rules, changes, events, engine, batch);
  // What a root may cause at most is no matter of one rule.
  RC_PRE(ran.processor.counters().dropped_composites == 0);

  for (const RuleInfo& rule : ran.processor.rules()) {
    const auto why = ran.processor.why(rule.name, {.last = 1'000'000, .at = {}});
    RC_ASSERT(why.has_value());
    Composites explained;
    std::uint64_t evaluated = 0, composites = 0, waiting = 0, overflows = 0;
    for (const Funnel& funnel : why->funnels) {
      check_steps(funnel);
      const bool seen = funnel.outcome != Funnel::Outcome::too_deep &&
                        funnel.outcome != Funnel::Outcome::before_deployment &&
                        funnel.outcome != Funnel::Outcome::counted;
      evaluated += seen ? 1 : 0;
      overflows += funnel.outcome == Funnel::Outcome::too_many ? 1 : 0;
      composites += funnel.composites;
      waiting += funnel.waiting;
      RC_ASSERT(!funnel.forgotten);
      if (funnel.composites > 0) explained[{rule.name, funnel.timestamp}] += funnel.composites;
    }
    RC_LOG() << rule.name << " under " << engine << ", batches of " << batch << "\n";
    RC_ASSERT(evaluated == rule.terminators);
    RC_ASSERT(composites == ran.delivered[rule.name]);
    RC_ASSERT(waiting == rule.pending);
    if (is_delayed(rule)) continue;
    RC_ASSERT(overflows == rule.overflows);
    Composites delivered;
    for (const auto& [key, count] : ran.composites) {
      if (key.first == rule.name) delivered[key] = count;
    }
    RC_ASSERT(explained == delivered);
  }
  RC_CLASSIFY(ran.processor.counters().composites > 0, "some composites");
}

}  // namespace
}  // namespace gorgo::testing
