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
#include "engine/reference/reference.hpp"

namespace gorgo::dispatch {
namespace {

using history::EventRef;
using history::Slot;

/// Becomes set some time after its construction, or soon after `stop`, for loops that cannot ask a
/// clock.
class TimeOver {
 public:
  /// 0: it is not set by time.
  TimeOver(Duration time, const std::atomic<bool>& stop)
      : is_over_(stop.load()), thread_([this, time, &stop] { watch(time, stop); }) {}
  ~TimeOver() {
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
  std::thread thread_;  // the last member, because it uses the others

  void watch(Duration time, const std::atomic<bool>& stop) {
    constexpr std::chrono::milliseconds kLook{20};  // at `stop`, which nothing announces
    const auto start = std::chrono::steady_clock::now();
    std::unique_lock lock(mutex_);
    while (!end_.wait_for(lock, kLook, [this] { return ended_; })) {
      const bool is_late =
          time != 0 && std::chrono::steady_clock::now() - start >= std::chrono::nanoseconds(time);
      if (is_late || stop) is_over_ = true;
    }
  }
};

/// Evaluates terminators of one rule again.
class Reenactment {
 public:
  Reenactment(const Reenacted& rule, history::History& history, const std::atomic<bool>& stop)
      : remembered_(rule),
        rule_(rule.plan->rule),
        history_(history),
        stop_(stop),
        store_(history.store(rule_.states[0].predicate.type)),
        witness_(rule_, rule.schema, history),
        evaluator_(rule.plan, history, &witness_) {}

  /// What became of the terminators, ascending.
  std::vector<Funnel> funnels() {
    std::vector<Funnel> funnels;
    for (std::size_t i = 0; i < remembered_.newest.size(); ++i) {
      const Slot slot = remembered_.newest[i];
      if (slot < store_.begin()) break;
      funnels.push_back(funnel_of(slot, remembered_.numbers[i]));
      if (stop_) break;
    }
    std::reverse(funnels.begin(), funnels.end());
    return funnels;
  }

 private:
  Funnel funnel_of(Slot slot, std::uint64_t number) {
    const EventRef terminator{&store_, slot};
    witness_.begin(terminator);
    engine::RuleState state(rule_);
    state.deployed_at = remembered_.state.deployed_at;
    for (const std::uint32_t consuming : rule_.consuming) {
      state.consumed[consuming] = remembered_.state.consumed[consuming].before(slot);
    }
    Funnel::Outcome outcome = Funnel::Outcome::evaluated;
    std::uint64_t composites = 0, waiting = 0, cut = 0;
    if (!is_seen(terminator)) {
      outcome = Funnel::Outcome::before_deployment;
    } else if (store_.is_too_deep(slot)) {
      outcome = Funnel::Outcome::too_deep;
    } else if (number > 0 && number < rule_.every->events) {
      outcome = Funnel::Outcome::counted;
    } else {
      outcome = evaluate(slot, state);
      composites = sink_.size();
      if (remembered_.plan->deadline) {
        composites = decided(terminator, state);
        waiting = count_waiting(terminator);
      }
      cut = std::min(composites, count_cut(terminator));
      composites -= cut;
    }
    Funnel funnel = witness_.take(composites, waiting, cut);
    funnel.outcome = outcome;
    funnel.number = number;
    if (rule_.every) funnel.every = rule_.every->events;
    funnel.forgotten = is_forgotten(terminator);
    return funnel;
  }

  /// With history, a rule sees events that came before it, but not as terminators.
  bool is_seen(EventRef terminator) const {
    const auto& deployed_at = remembered_.state.deployed_at;
    return rule_.timer || (terminator.slot >= remembered_.first_terminator &&
                           (!deployed_at || terminator.timestamp() > *deployed_at));
  }

  Funnel::Outcome evaluate(Slot slot, engine::RuleState& state) {
    sink_.clear();
    sink_.begin_rule(rule_, state, true);
    const engine::Budget budget{.stop = &stop_};
    if (evaluator_.evaluate({.slots = {&slot, 1}}, state, budget, sink_) == 0) {
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
    const auto& decisions = remembered_.state.decided;
    for (const engine::DecidedComposite& decision : decisions) {
      if (stop_) break;
      if (!is_same(decision.terminator, terminator)) continue;
      // Where events of the window are forgotten, fewer sequences are found than there were.
      if (decision.sequence >= sink_.composites().size()) continue;
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
    const auto is_of_it = [&](Slot of_rule) { return is_same(of_rule, terminator); };
    return static_cast<std::uint64_t>(std::ranges::count_if(remembered_.state.waiting, is_of_it));
  }

  std::uint64_t count_cut(EventRef terminator) const {
    std::uint64_t count = 0;
    for (const engine::CutComposites& cut : remembered_.state.cut) {
      if (is_same(cut.terminator, terminator)) count += cut.count;
    }
    return count;
  }

  /// Whether the history may have forgotten an event that the rule could see.
  bool is_forgotten(EventRef terminator) const {
    const Duration deadline = remembered_.plan->deadline.value_or(0);
    return std::any_of(
        remembered_.plan->reach.begin(), remembered_.plan->reach.end(), [&](const auto& entry) {
          const auto& [type, reach] = entry;
          const Timestamp first =
              arithmetic::saturating_subtract(terminator.timestamp(), reach - deadline);
          return reach > deadline && history_.store(type).horizon() > first;
        });
  }

  const Reenacted& remembered_;
  const Rule& rule_;
  const history::History& history_;
  const std::atomic<bool>& stop_;
  const history::EventStore& store_;
  FunnelWitness witness_;
  engine::ReferenceEvaluator evaluator_;
  engine::CompositeSink sink_;
};

template <class Decision>
std::vector<Decision> copy_of(const history::SlidingVector<Decision>& decisions) {
  std::vector<Decision> copy;
  copy.reserve(decisions.end() - decisions.begin());
  for (auto i = decisions.begin(); i < decisions.end(); ++i) copy.push_back(decisions[i]);
  return copy;
}

}  // namespace

Remembered::Remembered(const engine::RuleState& state)
    : consumed(state.consumed),
      deployed_at(state.deployed_at),
      timer_from(state.timed().timer_from),
      timer_at(state.timed().timer_at),
      decided(copy_of(state.timed().decided)),
      cut(copy_of(state.timed().cut)),
      counts(state.timed().counts),
      terminators(state.terminators),
      composites(state.composites) {
  for (const auto& [deadline, composite] : state.timed().pending) {
    waiting.push_back(composite.events[0].slot);
  }
}

void explain_terminators(const Reenacted& rule, history::History& history,
                         const std::atomic<bool>& stop, Why& why) {
  why.terminator = WitnessText(rule.plan->rule, rule.schema).clause(0);
  if (rule.newest.empty()) return;
  const TimeOver over(rule.max_time, stop);
  why.funnels = Reenactment(rule, history, over.flag()).funnels();
}

}  // namespace gorgo::dispatch
