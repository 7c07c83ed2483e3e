#include <algorithm>
#include <utility>

#include "dispatch/evaluate/evaluation.hpp"

namespace gorgo::dispatch {

/// Recursion is iteration: root by root, and within a root depth by depth, the events of the
/// cycle's types are stored in place order and handed to the cycle's rules, whose composites are
/// one deeper (TESLA.md §7).
void Evaluation::run_cycle(const plan::Cycle& cycle) {
  cycle_ = &cycle;
  for (const TypeId type : cycle.types) sorted_incoming(type);
  cycle_front_.assign(cycle.types.size(), 0);
  Bound next{};
  while (next_of_cycle(next) && !stop_.load(std::memory_order_relaxed)) {
    run_cycle_root(next.root);
    if (holds_too_much()) cut_ = std::min(cut_, next.root + 1);
  }

  // What the cut left over waits for the next wave.
  for (std::size_t i = 0; i < cycle.types.size(); ++i) {
    Records& incoming = incoming_[cycle.types[i]].records;
    incoming.erase(incoming.begin(),
                   incoming.begin() + static_cast<std::ptrdiff_t>(cycle_front_[i]));
  }
  for (const std::uint32_t record : cycle_composites_) {
    expect(batch_->records[record].type, record);
  }
  cycle_composites_.clear();
  cycle_ = nullptr;
}

bool Evaluation::next_of_cycle(Bound& next) const {
  bool found = false;
  const auto consider = [&](std::uint32_t index) {
    const Record& record = batch_->records[index];
    if (record.root >= cut_) return;
    if (!found || std::pair(record.root, record.depth) < std::pair(next.root, next.depth)) {
      next = {record.root, record.depth};
    }
    found = true;
  };
  for (std::size_t i = 0; i < cycle_->types.size(); ++i) {
    const Records& incoming = incoming_[cycle_->types[i]].records;
    if (cycle_front_[i] < incoming.size()) consider(incoming[cycle_front_[i]]);
  }
  for (const std::uint32_t record : cycle_composites_) consider(record);
  for (const std::uint32_t rule : cycle_->rules) {
    const auto& arrivals = arrivals_[rules_.rules()[rule].terminator_column];
    const std::size_t i = arrivals.empty() ? 0 : next_arrival_[rule];
    if (i < arrivals.size()) consider(arrivals[i].record);
  }
  return found;
}

void Evaluation::run_cycle_root(std::uint64_t root) {
  Bound step{};
  while (next_of_cycle(step) && step.root == root) {
    store_step(step);
    run_step(step);
    if (stop_.load(std::memory_order_relaxed)) return;
  }
}

/// Evaluates the terminators of a step, some at a time where they bring about too much to hold.
void Evaluation::run_step(const Bound& step) {
  const std::size_t first_new = batch_->records.size(), extra = extra_;
  do {
    step_goes_on_ = false;
    for (const std::uint32_t rule : cycle_->rules) collect_terminators(rule, step);
    run_collected();
    extra_ = limits_.max_held_bytes / 2;
    if (composites_ <= (step_goes_on_ ? 2 : 1) * limits_.max_composites) continue;
    limit_.apply_to_root(*batch_, step.root, first_new);
    if (step_goes_on_) forget_dropped(first_new);
  } while (step_goes_on_ && !stop_.load(std::memory_order_relaxed));
  extra_ = extra;
}

void Evaluation::store_step(const Bound& step) {
  for (std::size_t i = 0; i < cycle_->types.size(); ++i) {
    const TypeId type = cycle_->types[i];
    const Records& incoming = incoming_[type].records;
    Records& due = incoming_[type].stored;
    std::size_t& front = cycle_front_[i];
    due.clear();
    for (; front < incoming.size() && step.admits(batch_->records[incoming[front]]); ++front) {
      due.push_back(incoming[front]);
    }
    const auto later = std::stable_partition(cycle_composites_.begin(), cycle_composites_.end(),
                                             [&](std::uint32_t index) {
                                               const Record& record = batch_->records[index];
                                               return record.type != type || !step.admits(record);
                                             });
    due.insert(due.end(), later, cycle_composites_.end());
    cycle_composites_.erase(later, cycle_composites_.end());
    std::sort(due.begin(), due.end(), PlaceOrder(batch_->records));
    store(type);
  }
  take_in(cycle_->types);
}

}  // namespace gorgo::dispatch
