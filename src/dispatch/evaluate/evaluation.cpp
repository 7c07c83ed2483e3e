#include "dispatch/evaluate/evaluation.hpp"

#include <algorithm>
#include <span>

namespace gorgo::dispatch {

Evaluation::Evaluation(RuleSet& rules, history::History& history, ProcessorCounters& counters,
                       Workers& workers, Placer& placer, RuleRunner& runner,
                       Suspensions& suspensions, const Limits& limits,
                       const std::atomic<bool>& stop)
    : rules_(rules),
      history_(history),
      placer_(placer),
      runner_(runner),
      wave_(limits.max_held_bytes),
      queues_(rules),
      expected_(rules, history, wave_),
      limit_(rules, counters, limits.max_composites),
      writer_(rules, history, wave_, expected_, queues_, limit_, workers, limits.max_depth,
              limits.thread_events),
      reducer_(rules.schema(), wave_, expected_, queues_),
      run_(rules, wave_, queues_, runner, suspensions, counters, limits.max_held_bytes,
           limits.max_depth, stop),
      cycles_(rules, wave_, queues_, expected_, writer_, run_, reducer_, limit_, stop),
      sizer_(limits.latency_target) {}

void Evaluation::start(Batch& batch, Timestamp clock) {
  placer_.settle();
  runner_.start();
  sizer_.start(placer_.is_trying());
  wave_.start(batch);
  queues_.start(history_.column_ids());
  expected_.start();
  writer_.start();
  run_.start(clock);
}

void Evaluation::run_wave() {
  wave_.begin(sizer_.roots());
  ran_ahead_ = wave_.contents().composites > 0;
  for (std::uint32_t level = 0; level < rules_.strata().levels(); ++level) {
    writer_.store_level(level);
    run_cycles(level);
    run_rules(level);
    if (wave_.contents().composites > most_composites()) limit_level(level);
  }
  if (has_finished() || wave_.contents().composites <= most_composites()) return;
  reducer_.reduce([](std::uint32_t, const Record& record) { return !record.dropped; });
}

/// How many composites may be in the batch before it is worth looking for roots that have too many.
/// A root that is not at its end has several waves for itself, so it is not looked at in each of
/// them.
std::uint64_t Evaluation::most_composites() const {
  return (has_finished() ? 1 : 2) * limit_.most();
}

void Evaluation::run_cycles(std::uint32_t level) {
  for (const plan::Cycle& cycle : rules_.strata().cycles()) {
    if (cycle.level == level) cycles_.run(cycle);
  }
}

/// Runs the rules of a level that are on no cycle. The wave ends before the first terminator that
/// is not done.
void Evaluation::run_rules(std::uint32_t level) {
  const Bound everything{Wave::kNoCut, 0};
  find_due_rules(level);
  if (due_.empty()) return;
  constexpr std::size_t kGroup = 16;  // rules whose cache misses overlap
  for (std::size_t first = 0; first < due_.size(); first += kGroup) {
    const auto group = std::span(due_).subspan(first, std::min(kGroup, due_.size() - first));
    for (const std::uint32_t rule : group) rules_.prefetch(rule);
    for (const std::uint32_t rule : group) rules_.prefetch_parts(rule);
    for (const std::uint32_t rule : group) run_.collect(rule, everything, wave_.front());
  }
  const bool is_done =
      run_.run(wave_.extra(), [this](TypeId, std::size_t first) { expected_.add_from(first); });
  if (is_done) return;
  for (const std::uint32_t rule : due_) {
    const auto* const left = queues_.first_left(rule);
    if (left != nullptr) wave_.cut_before(wave_.batch().records[left->record].root);
  }
}

void Evaluation::find_due_rules(std::uint32_t level) {
  const plan::Stratification& strata = rules_.strata();
  due_.clear();
  for (const std::uint32_t rule : queues_.rules()) {
    if (strata.level_of_rule(rule) == level && !strata.closes_cycle(rule)) due_.push_back(rule);
  }
  std::sort(due_.begin(), due_.end());
}

/// The wave's first root may still get more composites, but those beyond the limit stay beyond it.
void Evaluation::limit_level(std::uint32_t level) {
  limit_.apply_to_level(wave_.batch(), level, [this](const Record& record) {
    return finished(record) || (record.root == wave_.front() && !record.dropped);
  });
}

void Evaluation::drop_finished() {
  const Wave::Contents before = wave_.contents();
  forget_finished();
  const Wave::Contents& rest = wave_.contents();
  sizer_.learn(before.composites - rest.composites, before.roots - rest.roots,
               {.uses_device = runner_.uses_device(), .is_undecided = placer_.is_trying()});
}

void Evaluation::forget_finished() {
  Batch& batch = wave_.batch();
  if (!wave_.is_cut()) {
    wave_.set_contents({});
    return batch.clear();
  }
  reducer_.reduce([this](std::uint32_t, const Record& record) {
    return !wave_.contains(record) && !record.dropped;
  });
  if (batch.empty()) batch.clear();
}

}  // namespace gorgo::dispatch
