#include "dispatch/explain/inquiry.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/arithmetic.hpp"
#include "dispatch/order/timers.hpp"
#include "language/names.hpp"

namespace gorgo::dispatch {
namespace {

using history::EventStore;
using history::Slot;

/// So many events are looked at or copied between two looks at the clock.
constexpr Slot kSome = 4096;

bool is_over(Inquiry::Time until) { return std::chrono::steady_clock::now() >= until; }

/// The plan by which the rule looks at events. Sums of panes tell nothing of these, so a rule with
/// panes is explained as if it had none, as far as the events are still remembered.
std::shared_ptr<const plan::Plan> plan_over_events(std::shared_ptr<const plan::Plan> plan) {
  if (!plan->panes) return plan;
  Rule rule = plan->rule;
  rule.options.panes = false;
  return std::make_shared<const plan::Plan>(plan::make_plan(std::move(rule)));
}

}  // namespace

Inquiry::Inquiry(const DeployedRule& rule, const Schema& schema, const WhyOptions& options)
    : plan_(plan_over_events(rule.plan)), schema_(schema), options_(options) {}

void Inquiry::begin(const DeployedRule& rule, const history::History& history) {
  state_.emplace(rule.state);
  first_terminator_ = rule.first_terminator;
  sought_ = history.store(plan_->rule.states[0].predicate.type).end();
  is_found_ = false;
  asked_for_.clear();
  numbers_.clear();
  for (const Copied& each : copied_) {
    if (history_.keeps(each.type)) history_.forget(each.type);
  }
  copied_.clear();
  for (const auto& [type, reach] : plan_->reach) {
    const EventStore& store = history.store(type);
    copied_.push_back({.type = type, .end = store.end(), .again = store.again()});
  }
  const TypeId terminators = plan_->rule.states[0].predicate.type;
  std::iter_swap(copied_.begin(), std::ranges::find(copied_, terminators, &Copied::type));
}

bool Inquiry::is_outdated(const history::History& history) const {
  return !state_ || std::ranges::any_of(copied_, [&](const Copied& each) {
    return each.again != history.store(each.type).again();
  });
}

bool Inquiry::gather(const DeployedRule& rule, const history::History& history, Time until) {
  if (is_outdated(history)) begin(rule, history);
  const EventStore& terminators = history.store(plan_->rule.states[0].predicate.type);
  if (!is_found_ && !find(rule, terminators, until)) return false;
  if (asked_for_.empty()) return true;
  return std::ranges::all_of(copied_, [&](Copied& each) {
    return too_much_ || copy(each, history.store(each.type), until);
  });
}

bool Inquiry::find(const DeployedRule& rule, const EventStore& store, Time until) {
  while (sought_ > store.begin() && !are_enough()) {
    --sought_;
    const std::uint64_t number = number_of(rule, store, sought_);
    if (is_asked_for(rule, store, sought_, number)) {
      const Timestamp at = store.timestamp(sought_);
      oldest_ = asked_for_.empty() ? at : std::min(oldest_, at);
      asked_for_.push_back(sought_);
      numbers_.push_back(number);
    }
    if (sought_ % kSome == 0 && is_over(until)) return false;
  }
  is_found_ = true;
  if (!asked_for_.empty()) set_bounds();
  return true;
}

/// Without a time, an event that was counted comes in addition to the terminators, of which so many
/// are asked for. It is the first one that is found.
bool Inquiry::are_enough() const {
  const bool has_counted = !has_time() && !numbers_.empty() && is_between(numbers_.front());
  return asked_for_.size() - (has_counted ? 1 : 0) >= options_.last;
}

bool Inquiry::is_asked_for(const DeployedRule& rule, const EventStore& store, Slot slot,
                           std::uint64_t number) const {
  if (!is_at_time(store.timestamp(slot))) return false;
  if (plan_->rule.timer) return is_instant(store, slot);
  if (has_time()) return true;
  // The newest event that was counted tells how far the count is.
  return rule.terminators->accepts(slot) && (!is_between(number) || asked_for_.empty());
}

bool Inquiry::is_at_time(Timestamp terminator) const {
  if (options_.at && terminator != *options_.at) return false;
  const Duration wait = plan_->deadline.value_or(0);
  return !options_.composite_at ||
         arithmetic::saturating_add(terminator, wait) == *options_.composite_at;
}

/// Whether `every` has counted an event with this number, which is no terminator by the count.
bool Inquiry::is_between(std::uint64_t number) const {
  return number > 0 && number < plan_->rule.every->events;
}

/// See Reenacted. To be asked of each event, from the newest one on: that undoes the counts.
std::uint64_t Inquiry::number_of(const DeployedRule& rule, const EventStore& store, Slot slot) {
  if (!plan_->rule.every || slot < first_terminator_) return 0;
  const bool was_counted = rule.terminators->accepts(slot) && rule.sees(store.timestamp(slot)) &&
                           !store.is_too_deep(slot);
  return was_counted ? state_->counts.take_back(*plan_->rule.every, {&store, slot}) : 0;
}

/// Timers share one type. Where two timers have an instant at the same time, the instants are alike
/// to a rule. The first one counts, because it stands before what the rule consumed with its own.
bool Inquiry::is_instant(const EventStore& store, Slot slot) const {
  const auto& from = state_->timer_from;
  const Timestamp at = store.timestamp(slot);
  if (!from || at <= *from || at > *state_->timer_at) return false;
  if (slot > store.begin() && store.timestamp(slot - 1) == at) return false;
  return TimerSchedule(*plan_->rule.timer).next_after(at - 1) == at;
}

/// What consumed an event is a terminator, too, and is named.
void Inquiry::set_bounds() {
  Duration longest = 0;
  for (const auto& [type, reach] : plan_->reach) longest = std::max(longest, reach);
  for (Copied& each : copied_) {
    const bool is_terminators = each.type == plan_->rule.states[0].predicate.type;
    const Duration reach = is_terminators ? longest : plan_->reach.at(each.type);
    each.after =
        arithmetic::saturating_subtract(arithmetic::saturating_subtract(oldest_, reach), 1);
    // The newest row of a key counts however old it is.
    if (schema_.at(each.type).table()) each.after = std::numeric_limits<Timestamp>::min();
  }
}

bool Inquiry::scan(Copied& copied, const EventStore& store, Time until) {
  if (!copied.scanned) copied.scanned = copied.nearest = store.begin();
  Slot& slot = *copied.scanned;
  slot = std::max(slot, store.begin());
  copied.nearest = std::max(copied.nearest, store.begin());
  for (; slot < copied.end && store.timestamp(slot) <= copied.after; ++slot) {
    if (store.timestamp(slot) >= store.timestamp(copied.nearest)) copied.nearest = slot;
    if (slot % kSome == 0 && is_over(until)) return ++slot, false;
  }
  return true;
}

/// What was forgotten meanwhile would leave a gap, so the copy begins behind it again.
bool Inquiry::copy(Copied& copied, const EventStore& store, Time until) {
  if (copied.next && *copied.next < copied.end && *copied.next < store.begin()) {
    history_.forget(copied.type);
    copied.next.reset();
  }
  if (!copied.next) {
    if (!scan(copied, store, until)) return false;
    copied.next = std::max(store.begin(), std::min(copied.nearest, *copied.scanned));
    history_.restore(schema_.at(copied.type),
                     {.begin = *copied.next,
                      .end = std::max(*copied.next, copied.end),
                      .horizon = store.horizon(),
                      .too_deep = {store.too_deep().begin(), store.too_deep().end()}});
  }
  while (*copied.next < copied.end) {
    copy_some(copied, store);
    if (is_too_much()) return true;
    if (*copied.next < copied.end && is_over(until)) return false;
  }
  return true;
}

void Inquiry::copy_some(Copied& copied, const EventStore& store) {
  const Slot last = std::min(*copied.next + kSome, copied.end);
  const std::uint32_t width = store.attributes();
  std::vector<Datum> cells(width * (last - *copied.next));
  std::vector<history::NewEvent> events;
  Datum* cell = cells.data();
  for (Slot slot = *copied.next; slot < last; ++slot) {
    events.push_back({.timestamp = store.timestamp(slot), .root = store.root(slot), .cells = cell});
    for (std::uint32_t i = 0; i < width; ++i) *cell++ = store.attribute(slot, i);
  }
  history_.append(copied.type, events);
  copied.next = last;
}

bool Inquiry::is_too_much() {
  if (options_.max_bytes == 0) return false;
  std::size_t bytes = 0;
  for (const Copied& each : copied_) bytes += history_.bytes(each.type);
  if (bytes <= options_.max_bytes) return false;
  too_much_ = Error{"the windows of the terminators of rule " + language::in_quotes(rule_name()) +
                        " hold more than " + std::to_string(options_.max_bytes >> 20) +
                        " MiB of events, so they cannot be copied",
                    "ask for fewer terminators, or look at a copy of the events"};
  return true;
}

Result<Why> Inquiry::answer(const std::atomic<bool>& stop) {
  if (too_much_) return *too_much_;
  Why why{.rule = rule_name(),
          .terminator = {},
          .evaluated = state_->terminators,
          .produced = state_->composites,
          .funnels = {}};
  explain_terminators({.plan = plan_,
                       .schema = schema_,
                       .state = *state_,
                       .first_terminator = first_terminator_,
                       .newest = asked_for_,
                       .numbers = numbers_,
                       .max_time = options_.max_time},
                      history_, stop, why);
  return why;
}

}  // namespace gorgo::dispatch

namespace gorgo {

Result<Why> answer(const WhyInquiry& inquiry, const std::atomic<bool>& stop) {
  return inquiry->answer(stop);
}

}  // namespace gorgo
