#include "engine/cuda/evaluator.hpp"

#include <algorithm>
#include <memory>
#include <new>
#include <optional>
#include <utility>

#include "engine/cuda/device_plan.hpp"
#include "engine/cuda/rounds.hpp"
#include "history/evaluate.hpp"

namespace gorgo::engine {
namespace {

std::size_t total_events(const DevicePlan& plan) {
  const DeviceScan& scan = plan.states.empty() ? plan.aggregates[0] : plan.states[0];
  return scan.timeline->end() - scan.timeline->begin();
}

std::uint64_t consumptions(const RuleState& state) {
  std::uint64_t count = 0;
  for (const auto& slots : state.consumed) count += slots.insertions();
  return count;
}

}  // namespace

double CudaEvaluator::upkeep() {
  count_upkeep();
  return on_cpu_->upkeep() + upkeep_;
}

/// Adds what keeping the timelines has taken since the last call. To be called before there are
/// more plans, each of which holds the timelines.
void CudaEvaluator::count_upkeep() {
  if (!plan_) return;
  double each = 0;
  for_each_scan(*plan_, [&](const DeviceScan& scan) { each += scan.timeline->upkeep().each(); });
  const double before = std::exchange(counted_, each);
  upkeep_ += static_cast<double>(1 + placed_.size()) * (each - before);
}

std::uint64_t CudaEvaluator::pairs(const Terminators& terminators) const {
  if (!plan_ || contended_ > 0) return 0;
  if (!history::all_hold(plan_->plan->states[0].scan.guards, {})) return 0;
  return terminators.slots.size() * total_events(*plan_);
}

bool CudaEvaluator::has_columns_on(DeviceContext& context) const {
  const DeviceScan& scan = plan_->states.empty() ? plan_->aggregates[0] : plan_->states[0];
  return context.mirrors(*scan.timeline);
}

/// A plan's use changes only caches in it, so one channel takes a copy of what another one has.
DevicePlan& CudaEvaluator::plan_on(DeviceContext& context, std::uint32_t channel) {
  const auto known = placed_.lower_bound({&context, channel});
  if (known != placed_.end() && known->first == std::pair(&std::as_const(context), channel)) {
    return known->second;
  }
  const auto other = placed_.lower_bound({&context, 0});
  const bool is_there = other != placed_.end() && other->first.first == &context;
  count_upkeep();
  DevicePlan plan = is_there ? other->second : put_on(*plan_, context);
  return placed_.emplace(std::pair(&context, channel), std::move(plan)).first->second;
}

/// The home device if it is in use, else the first that is.
std::shared_ptr<DeviceContext> CudaEvaluator::context_to_use() {
  if (home_ && home_->problem().empty()) return home_;
  const auto contexts = engine_.contexts();
  if (contexts.empty()) return nullptr;
  return home_ = contexts.front();
}

/// Whether devices have done all parts of the request.
bool CudaEvaluator::is_searched() const {
  return !searches_.empty() &&
         std::ranges::none_of(searches_, [](const auto& search) { return search == nullptr; });
}

/// Reports what devices have found.
std::size_t CudaEvaluator::report(const Budget& budget, CompositeSink& sink) {
  std::size_t done = 0;
  for (const auto& search : searches_) {
    const std::size_t of_search = report(*search, done, budget, sink);
    done += of_search;
    if (of_search < search->terminators()) break;
  }
  return done;
}

std::size_t CudaEvaluator::finish(const Terminators& terminators, const RuleState& state,
                                  const Budget& budget, CompositeSink& sink) {
  if (!plan_) return on_cpu_->evaluate(terminators, state, budget, sink);
  const auto forget = [this] {
    searches_.clear();
    left_to_cpu_.clear();
  };
  std::size_t done = 0;
  try {
    done = evaluate_somewhere(terminators, state, budget, sink);
  } catch (const std::bad_alloc&) {
    forget();
    forget_marks(nullptr);  // what was about to be consumed may not have been
    throw;
  }
  forget();
  consumed_ = consumptions(state);
  return done;
}

std::size_t CudaEvaluator::evaluate_somewhere(const Terminators& terminators,
                                              const RuleState& state, const Budget& budget,
                                              CompositeSink& sink) {
  if (is_searched()) return report(budget, sink);
  searches_.clear();
  if (contended_ > 0) {
    const std::size_t done = evaluate_on_cpu(terminators, state, budget, sink);
    contended_ -= std::min(contended_, done);
    decline(done, "terminators compete for the events that they consume");
    return done;
  }
  const std::uint64_t least = std::max<std::uint64_t>(1, least_pairs_);
  if (pairs(terminators) < least) return evaluate_on_cpu(terminators, state, budget, sink);
  std::string_view reason;
  for (const std::string_view of_part : left_to_cpu_) reason = reason.empty() ? of_part : reason;
  std::optional<std::unique_ptr<RuleSearch>> found;
  const auto use = [&](DeviceContext& context) {
    if (reaches_long_text(plan_on(context), terminators)) {
      reason = kLongText;
    } else {
      found = search_on(context, terminators, state, budget);
    }
  };
  if (const auto context = reason.empty() ? context_to_use() : nullptr) {
    try_on_device(
        *context, [&] { use(*context); },
        [&] { return terminators_text(terminators.slots.size(), 1, name()); });
  }
  if (found) return *found == nullptr ? 0 : report(**found, 0, budget, sink);
  if (reason.empty()) reason = home_ ? home_->failure() : "no device is in use";
  const std::size_t on_cpu = evaluate_on_cpu(terminators, state, budget, sink);
  decline(on_cpu, reason);
  return on_cpu;
}

std::size_t CudaEvaluator::evaluate_on_cpu(const Terminators& terminators, const RuleState& state,
                                           const Budget& budget, CompositeSink& sink) {
  forget_marks(nullptr);
  return on_cpu_->evaluate(terminators, state, budget, sink);
}

std::size_t CudaEvaluator::report(RuleSearch& search, std::size_t first_terminator,
                                  const Budget& budget, CompositeSink& sink) {
  constexpr std::size_t kRest = 16;  // batches: what the attempt cost is little beside them
  if (search.is_contended()) contended_ = kRest * search.terminators();
  forget_marks(&search.plan());
  return search.report(static_cast<std::uint32_t>(first_terminator), budget, sink);
}

/// Makes all plans but one look at all marks again: what is about to be consumed is known on one
/// device at most.
void CudaEvaluator::forget_marks(const DevicePlan* up_to_date) {
  if (is_divisible()) return;
  for (auto& [place, plan] : placed_) {
    if (&plan == up_to_date) continue;
    for (DeviceScan& scan : plan.states) {
      if (scan.consumed) scan.consumed->all_changed();
    }
  }
}

/// Looks at all marks again if the rule consumed what this evaluator does not know of: another one
/// may have had terminators.
void CudaEvaluator::keep_in_step(const RuleState& state) {
  if (consumptions(state) != consumed_) forget_marks(nullptr);
}

/// Searches for all terminators together, or for as many as there is room for: the others are left
/// for the next call. Null when it was stopped.
std::unique_ptr<RuleSearch> CudaEvaluator::search_on(DeviceContext& context,
                                                     const Terminators& terminators,
                                                     const RuleState& state, const Budget& budget) {
  DevicePlan& plan = plan_on(context);
  keep_in_step(state);
  for (std::size_t count = terminators.slots.size();; count = (count + 1) / 2) {
    auto search = std::make_unique<RuleSearch>(
        plan, Terminators{terminators.slots.first(count), terminators.ordered_before}, state);
    if (!run(context, ChannelSchedule(search.get()), 1, budget.stop)) return nullptr;
    if (!search->is_too_large()) return search;
  }
}

}  // namespace gorgo::engine
