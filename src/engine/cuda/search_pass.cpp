#include "engine/cuda/search_pass.hpp"

#include <algorithm>

#include "history/evaluate.hpp"

namespace gorgo::engine {

SearchPass::SearchPass(DevicePlan& plan, const Terminators& terminators, const RuleState& state)
    : input_{.plan = plan, .terminators = terminators, .rule_state = state},
      table_(terminators.slots.size(), plan.aggregates.size()),
      choice_(input_, table_),
      negations_(input_, choice_),
      aggregates_(input_, table_),
      queue_(terminators.in_order()) {
  negations_.request(queue_);
}

bool SearchPass::ask(RoundWriter& writer) {
  while (step_ != Step::done && !is_too_large()) {
    if (queue_.is_done()) {
      advance();
    } else if (queue_.ask(writer)) {
      return true;
    }
  }
  return false;
}

void SearchPass::advance() {
  queue_.clear();
  switch (step_) {
    case Step::choose:
      step_ = Step::verify;
      return negations_.request(queue_);
    case Step::verify:
      return choice_.settle() ? choose() : finish_state();
    case Step::aggregate:
      return finish();
    case Step::done:
      return;
  }
}

void SearchPass::choose() {
  step_ = Step::choose;
  choice_.request(queue_);
}

void SearchPass::finish_state() {
  const std::size_t state = choice_.state();
  const auto accepted = choice_.accepted();
  note_dependencies(accepted);
  if (state > 0) table_.limit(accepted, rule().options.max_sequences);
  table_.extend(accepted, [&](std::uint64_t position) { return input_.event(state, position); });
  too_large_ = table_.rows() > StateChoice::kMostRows && terminators() > 1;
  if (is_too_large()) return;
  if (state + 1 == rule().states.size()) {
    step_ = Step::aggregate;
    return aggregates_.request(queue_);
  }
  const bool is_open = choice_.begin_next();
  choose();
  if (is_open) aggregates_.request_ahead(queue_);
}

/// With `each` rows do not rely on each other's events: without an event the rows that have it are
/// gone, and nothing else changes.
void SearchPass::note_dependencies(std::span<const SequenceTable::Extension> accepted) {
  const auto state = static_cast<std::uint32_t>(choice_.state());
  if (rule().states[state].selection == Selection::each || !consumes(rule(), state)) return;
  for (const SequenceTable::Extension& extension : accepted) {
    const history::EventRef event = input_.event(state, extension.position);
    dependencies_.push_back({table_.terminator_of(extension.row), state, event.slot});
  }
}

void SearchPass::finish() {
  step_ = Step::done;
  table_.index_terminators();
  std::ranges::stable_sort(dependencies_, {}, &Dependency::terminator);
}

void SearchPass::report(std::size_t number, CompositeSink& sink) const {
  const auto values = table_.values(number);
  const history::Scope scope{.candidate = {}, .states = row(number), .aggregates = values};
  const bool passes = std::ranges::all_of(rule().filters, [&](const Filter& filter) {
    return history::holds(filter.condition, scope);
  });
  if (passes) sink.accept(row(number), values);
}

std::span<const SearchPass::Dependency> SearchPass::dependencies_of(
    std::uint32_t terminator) const {
  const auto first_of = [&](std::uint32_t t) {
    return std::ranges::lower_bound(dependencies_, t, {}, &Dependency::terminator);
  };
  return {first_of(terminator), first_of(terminator + 1)};
}

}  // namespace gorgo::engine
