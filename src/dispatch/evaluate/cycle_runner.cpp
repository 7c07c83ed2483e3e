#include "dispatch/evaluate/cycle_runner.hpp"

#include <algorithm>
#include <utility>

namespace gorgo::dispatch {

void CycleRunner::run(const plan::Cycle& cycle) {
  cycle_ = &cycle;
  types_.clear();
  for (const TypeId type : cycle.types) {
    if (rules_.types().has(type)) types_.push_back(type);
  }
  waiting_.resize(types_.size());
  for (std::size_t i = 0; i < types_.size(); ++i) {
    expected_.take_all(types_[i], waiting_[i].records);
    waiting_[i].front = 0;
  }
  Bound next{};
  while (find_next(next) && !stop_.load(std::memory_order_relaxed)) {
    run_root(next.root);
    if (wave_.holds_too_much()) wave_.cut_before(next.root + 1);
  }
  put_back();
}

/// What the cut has left over waits for the next wave.
void CycleRunner::put_back() {
  for (std::size_t i = 0; i < types_.size(); ++i) {
    const auto& [records, front] = waiting_[i];
    for (std::size_t r = front; r < records.size(); ++r) {
      expected_.add(types_[i], records[r]);
    }
  }
  for (const Composite& composite : composites_) expected_.add(composite.type, composite.record);
  composites_.clear();
}

/// Finds the earliest (root, depth) of the wave that waits; false when none does.
bool CycleRunner::find_next(Bound& next) const {
  bool found = false;
  const auto consider = [&](std::uint32_t index) {
    const Record& record = wave_.batch().records[index];
    if (!wave_.contains(record)) return;
    if (!found || std::pair(record.root, record.depth) < std::pair(next.root, next.depth)) {
      next = {record.root, record.depth};
    }
    found = true;
  };
  for (const Waiting& waiting : waiting_) {
    if (waiting.front < waiting.records.size()) consider(waiting.records[waiting.front]);
  }
  for (const Composite& composite : composites_) consider(composite.record);
  for (const std::uint32_t rule : cycle_->rules) {
    if (const auto* const terminator = queues_.first_left(rule)) consider(terminator->record);
  }
  return found;
}

void CycleRunner::run_root(std::uint64_t root) {
  Bound step{};
  while (find_next(step) && step.root == root) {
    store_step(step);
    run_step(step);
    if (stop_.load(std::memory_order_relaxed)) return;
  }
}

void CycleRunner::store_step(const Bound& step) {
  for (std::size_t i = 0; i < types_.size(); ++i) {
    take_due(i, step);
    writer_.store(types_[i], due_);
  }
  writer_.queue_terminators(types_);
}

/// Takes the records of a type of the cycle that are to be stored in this step, in place order.
void CycleRunner::take_due(std::size_t type, const Bound& step) {
  const auto& records = wave_.batch().records;
  auto& [waiting, front] = waiting_[type];
  due_.clear();
  for (; front < waiting.size() && step.admits(records[waiting[front]]); ++front) {
    due_.push_back(waiting[front]);
  }
  const auto due = std::stable_partition(
      composites_.begin(), composites_.end(), [&](const Composite& composite) {
        return composite.type != types_[type] || !step.admits(records[composite.record]);
      });
  for (auto composite = due; composite != composites_.end(); ++composite) {
    due_.push_back(composite->record);
  }
  composites_.erase(due, composites_.end());
  std::sort(due_.begin(), due_.end(), PlaceOrder(records));
}

/// Evaluates the terminators of a step, some at a time where they bring about too much to hold.
void CycleRunner::run_step(const Bound& step) {
  const std::size_t first_new = wave_.batch().records.size();
  std::size_t extra = wave_.extra();
  bool is_done = false;
  do {
    for (const std::uint32_t rule : cycle_->rules) run_.collect(rule, step, step.root);
    is_done = run_.run(extra, [this](TypeId type, std::size_t first) { add(type, first); });
    extra = wave_.extra_of_a_root();
    if (wave_.contents().composites <= (is_done ? 1 : 2) * limit_.most()) continue;
    limit_.apply_to_root(wave_.batch(), step.root, first_new);
    if (!is_done) forget_dropped(first_new);
  } while (!is_done && !stop_.load(std::memory_order_relaxed));
}

/// Keeps the new records from `first` on, of one type, for the next step if they are the cycle's.
void CycleRunner::add(TypeId type, std::size_t first) {
  if (!rules_.strata().in_cycle(type)) return expected_.add_from(first);
  add_to(type, type, first);
  for (const TypeId joint : rules_.types().joints_of(type)) add_to(joint, type, first);
}

/// Keeps the new records from `first` on, of one type, to be stored in this one.
void CycleRunner::add_to(TypeId stored, TypeId type, std::size_t first) {
  if (!rules_.types().has(stored)) return;
  const bool is_here = rules_.strata().cycle_of(stored) == rules_.strata().cycle_of(type);
  for (std::size_t i = first; i < wave_.batch().records.size(); ++i) {
    const auto record = static_cast<std::uint32_t>(i);
    if (is_here) {
      composites_.push_back({stored, record});
    } else {
      expected_.add(stored, record);
    }
  }
}

/// Takes the dropped records from `first` on out of the batch.
void CycleRunner::forget_dropped(std::size_t first) {
  const Records& numbers = reducer_.reduce(
      [first](std::uint32_t i, const Record& record) { return i < first || !record.dropped; });
  for (Waiting& waiting : waiting_) {
    for (std::size_t i = waiting.front; i < waiting.records.size(); ++i) {
      waiting.records[i] = numbers[waiting.records[i]];
    }
  }
  for (Composite& composite : composites_) composite.record = numbers[composite.record];
  std::erase_if(composites_, [](const Composite& c) { return c.record == kNoRecord; });
}

}  // namespace gorgo::dispatch
