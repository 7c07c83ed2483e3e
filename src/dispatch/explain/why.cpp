#include "dispatch/explain/why.hpp"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <span>
#include <thread>
#include <vector>

#include "base/arithmetic.hpp"
#include "dispatch/explain/funnel_witness.hpp"
#include "dispatch/order/timers.hpp"
#include "engine/reference/reference.hpp"

namespace gorgo::dispatch {
namespace {

using history::EventRef;
using history::Slot;

/// Becomes set some time after its construction, for loops that cannot ask a clock.
class TimeOver {
 public:
  /// `stop`: whether it is set at once. 0: it is not set by time.
  TimeOver(Duration time, const std::atomic<bool>& stop) : is_over_(stop.load()) {
    if (time == 0) return;
    thread_ = std::thread([this, time] {
      std::unique_lock lock(mutex_);
      const bool ended =
          end_.wait_for(lock, std::chrono::nanoseconds(time), [this] { return ended_; });
      if (!ended) is_over_ = true;
    });
  }
  ~TimeOver() {
    if (!thread_.joinable()) return;
    {
      const std::lock_guard lock(mutex_);
      ended_ = true;
    }
    end_.notify_one();
    thread_.join();
  }
  TimeOver(const TimeOver&) = delete;
  TimeOver& operator=(const TimeOver&) = delete;

  const std::atomic<bool>& flag() const { return is_over_; }

 private:
  std::atomic<bool> is_over_;
  std::mutex mutex_;  // guards `ended_`
  std::condition_variable end_;
  bool ended_ = false;
  std::thread thread_;
};

/// Evaluates terminators of one rule again.
class Reenactment {
 public:
  Reenactment(const DeployedRule& rule, const Schema& schema, history::History& history,
              const std::atomic<bool>& stop)
      : deployed_(rule),
        rule_(rule.rule()),
        history_(history),
        stop_(stop),
        store_(history.store(rule_.states[0].predicate.type)),
        witness_(rule_, schema, history),
        evaluator_(rule.plan, history, &witness_) {}

  /// What became of the newest terminators that are asked for, ascending.
  std::vector<Funnel> funnels(const WhyOptions& options) {
    std::vector<Funnel> funnels;
    for (Slot slot = store_.end(); slot > store_.begin() && funnels.size() < options.last; --slot) {
      if (!is_asked_for(slot - 1, options)) continue;
      funnels.push_back(funnel_of(slot - 1));
      if (stop_) break;
    }
    std::reverse(funnels.begin(), funnels.end());
    return funnels;
  }

 private:
  Funnel funnel_of(Slot slot) {
    const EventRef terminator{&store_, slot};
    witness_.begin(terminator);
    engine::RuleState state(rule_);
    state.deployed_at = deployed_.state.deployed_at;
    for (const std::uint32_t consuming : rule_.consuming) {
      state.consumed[consuming] = deployed_.state.consumed[consuming].before(slot);
    }
    Funnel::Outcome outcome = Funnel::Outcome::evaluated;
    std::uint64_t composites = 0, waiting = 0, cut = 0;
    if (!is_seen(terminator)) {
      outcome = Funnel::Outcome::before_deployment;
    } else if (store_.is_too_deep(slot)) {
      outcome = Funnel::Outcome::too_deep;
    } else {
      outcome = evaluate(slot, state);
      composites = sink_.size();
      if (deployed_.plan->deadline) {
        composites = decided(terminator, state);
        waiting = count_waiting(terminator);
      }
      cut = std::min(composites, count_cut(terminator));
      composites -= cut;
    }
    Funnel funnel = witness_.take(composites, waiting, cut);
    funnel.outcome = outcome;
    funnel.forgotten = is_forgotten(terminator);
    return funnel;
  }

  /// With history, a rule sees events that came before it, but not as terminators.
  bool is_seen(EventRef terminator) const {
    return rule_.timer || (terminator.slot >= deployed_.first_terminator &&
                           deployed_.sees(terminator.timestamp()));
  }

  bool is_asked_for(Slot slot, const WhyOptions& options) const {
    const Timestamp at = store_.timestamp(slot);
    if (options.at && at != *options.at) return false;
    if (rule_.timer) return is_instant(slot);
    return options.at || deployed_.terminators->accepts(slot);
  }

  /// Timers share one type. Where two timers have an instant at the same time, the instants are
  /// alike to a rule. The first one counts, because it stands before what the rule consumed with
  /// its own.
  bool is_instant(Slot slot) const {
    const auto& from = deployed_.state.timer_from;
    const Timestamp at = store_.timestamp(slot);
    if (!from || at <= *from || at > *deployed_.state.timer_at) return false;
    if (slot > store_.begin() && store_.timestamp(slot - 1) == at) return false;
    return TimerSchedule(*rule_.timer).next_after(at - 1) == at;
  }

  Funnel::Outcome evaluate(Slot slot, engine::RuleState& state) {
    sink_.clear();
    sink_.begin_rule(rule_, state, true);
    const engine::Budget budget{.stop = &stop_};
    if (evaluator_.evaluate({.slots = {&slot, 1}, .in_order = false}, state, budget, sink_) == 0) {
      return Funnel::Outcome::stopped;
    }
    return sink_.overflows() > 0 ? Funnel::Outcome::too_many : Funnel::Outcome::evaluated;
  }

  bool is_same(Slot of_rule, EventRef terminator) const {
    if (!rule_.timer) return of_rule == terminator.slot;
    return of_rule >= store_.begin() && store_.timestamp(of_rule) == terminator.timestamp();
  }

  /// Decides again what waited for a deadline. Returns how many composites there came to be.
  std::uint64_t decided(EventRef terminator, const engine::RuleState& state) {
    std::uint64_t count = 0;
    const auto& decisions = deployed_.state.decided;
    for (std::uint64_t i = decisions.begin(); i < decisions.end() && !stop_; ++i) {
      const engine::DecidedComposite& decision = decisions[i];
      if (!is_same(decision.terminator, terminator)) continue;
      const auto& composite = sink_.composites()[decision.sequence];
      const auto sequence = sink_.events().subspan(composite.first_event, rule_.states.size());
      count += is_absent(sequence, state, decision.visible_roots) ? 1 : 0;
    }
    return count;
  }

  bool is_absent(std::span<const EventRef> sequence, const engine::RuleState& state,
                 std::uint64_t visible_roots) {
    for (std::uint32_t i = 0; i < rule_.negations.size(); ++i) {
      if (rule_.negations[i].span.kind != SpanKind::after) continue;
      if (const auto by = evaluator_.violation(i, sequence, state, visible_roots)) {
        witness_.came(i, sequence, *by);
        return false;
      }
    }
    witness_.absent();
    return true;
  }

  std::uint64_t count_waiting(EventRef terminator) const {
    const auto& pending = deployed_.state.pending;
    return static_cast<std::uint64_t>(std::count_if(
        pending.begin(), pending.end(),
        [&](const auto& entry) { return is_same(entry.second.events[0].slot, terminator); }));
  }

  std::uint64_t count_cut(EventRef terminator) const {
    std::uint64_t count = 0;
    const auto& cut = deployed_.state.cut;
    for (std::uint64_t i = cut.begin(); i < cut.end(); ++i) {
      if (is_same(cut[i].terminator, terminator)) count += cut[i].count;
    }
    return count;
  }

  /// Whether the history may have forgotten an event that the rule could see.
  bool is_forgotten(EventRef terminator) const {
    const Duration deadline = deployed_.plan->deadline.value_or(0);
    return std::any_of(
        deployed_.plan->reach.begin(), deployed_.plan->reach.end(), [&](const auto& entry) {
          const auto& [type, reach] = entry;
          const Timestamp first =
              arithmetic::saturating_subtract(terminator.timestamp(), reach - deadline);
          return reach > deadline && history_.store(type).horizon() > first;
        });
  }

  const DeployedRule& deployed_;
  const Rule& rule_;
  const history::History& history_;
  const std::atomic<bool>& stop_;
  const history::EventStore& store_;
  FunnelWitness witness_;
  engine::ReferenceEvaluator evaluator_;
  engine::CompositeSink sink_;
};

}  // namespace

Why explain_terminators(const DeployedRule& rule, const Schema& schema, const WhyOptions& options,
                        history::History& history, const std::atomic<bool>& stop) {
  Why why{.rule = rule.rule().name,
          .terminator = WitnessText(rule.rule(), schema).clause(0),
          .evaluated = rule.state.terminators,
          .produced = rule.state.composites,
          .funnels = {}};
  const TimeOver over(options.max_time, stop);
  {
    Reenactment reenactment(rule, schema, history, over.flag());
    why.funnels = reenactment.funnels(options);
  }
  history.trim();
  return why;
}

}  // namespace gorgo::dispatch
