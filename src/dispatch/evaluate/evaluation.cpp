#include "dispatch/evaluate/evaluation.hpp"

#include <algorithm>
#include <utility>

#include "base/arithmetic.hpp"
#include "dispatch/evaluate/out_of_memory.hpp"

namespace gorgo::dispatch {
namespace {

constexpr std::uint64_t kNoCut = ~std::uint64_t{0};
constexpr std::size_t kNoCells = ~std::size_t{0};

}  // namespace

void Evaluation::start(Batch& batch, Timestamp clock) {
  batch_ = &batch;
  clock_ = clock;
  runner_.settle_placement(clock);
  sizer_.start();
  for (const TypeId type : incoming_types_) {
    incoming_[type].known = false;
    incoming_[type].records.clear();
  }
  for (const history::ColumnId column : columns_) arrivals_[column].clear();
  incoming_types_.clear();
  columns_.clear();
  touched_.clear();
  incoming_.resize(rules_.schema().size());
  arrivals_.resize(history_.column_ids());
  next_arrival_.resize(rules_.rules().size());
  composites_ = composite_cells_ = 0;
  ran_ahead_ = is_cut_ = false;
  roots_ = batch.records.size();
  std::uint32_t index = 0;
  for (const Record& record : batch.records) expect(record.type, index++);
}

/// Has the record stored when its type's turn comes, if the history keeps the type.
void Evaluation::expect(TypeId type, std::uint32_t record) {
  if (type == kNoType) return;
  Incoming& incoming = incoming_[type];
  if (!incoming.known) {
    if (!history_.keeps(type)) return;
    incoming_types_.push_back(type);
    incoming.known = true;
  }
  incoming.records.push_back(record);
}

/// A wave behind a cut has about as many roots as a batch should have: what is evaluated beyond the
/// next cut only takes room, or is evaluated again.
void Evaluation::begin_wave() {
  const std::uint64_t before = std::exchange(front_, batch_->records.front().root);
  const bool goes_on = is_cut_ && before == front_;
  cut_ = is_cut_ ? front_ + (goes_on ? 1 : sizer_.roots()) : kNoCut;
  is_cut_ = true;
  extra_ = goes_on ? limits_.max_held_bytes / 2 : 0;
}

void Evaluation::run_wave() {
  begin_wave();
  for (std::uint32_t level = 0; level < rules_.strata().levels(); ++level) {
    store_level(level);
    run_cycles(level);
    run_rules(level);
    if (composites_ > most_composites()) limit_level(level);
  }
  if (!has_finished() && composites_ > most_composites()) forget_dropped(0);
}

/// How many composites may be in the batch before it is worth looking for roots that have too many.
/// A root that is not at its end has several waves for itself, so it is not looked at in each of
/// them.
std::uint64_t Evaluation::most_composites() const {
  return has_finished() ? limits_.max_composites : 2 * limits_.max_composites;
}

void Evaluation::run_cycles(std::uint32_t level) {
  for (const plan::Cycle& cycle : rules_.strata().cycles()) {
    if (cycle.level == level) run_cycle(cycle);
  }
}

void Evaluation::run_rules(std::uint32_t level) {
  const Bound everything{kNoCut, 0};
  Records due;
  for (const std::uint32_t rule : touched_) {
    const plan::Stratification& strata = rules_.strata();
    if (strata.level_of_rule(rule) == level && !strata.closes_cycle(rule)) due.push_back(rule);
  }
  std::sort(due.begin(), due.end());
  for (const std::uint32_t rule : due) collect_terminators(rule, everything);
  run_collected();
}

Evaluation::Records& Evaluation::sorted_incoming(TypeId type) {
  Records& incoming = incoming_[type].records;
  if (rules_.strata().is_produced(type)) {
    std::sort(incoming.begin(), incoming.end(), PlaceOrder(batch_->records));
  }
  return incoming;
}

void Evaluation::store_level(std::uint32_t level) {
  due_types_.clear();
  for (const TypeId type : incoming_types_) {
    const bool due =
        rules_.strata().level_of_type(type) == level && !rules_.strata().in_cycle(type);
    if (due && !incoming_[type].records.empty()) due_types_.push_back(type);
  }
  // The types with the most records come first, so that little is left for the thread that the
  // others wait for at the end.
  std::stable_sort(due_types_.begin(), due_types_.end(), [this](TypeId a, TypeId b) {
    return incoming_[a].records.size() > incoming_[b].records.size();
  });
  share_types();
  at_once_ = std::min(std::max(1U, limits_.sharing.threads),
                      static_cast<unsigned>(std::max<std::size_t>(1, shares_.size())));
  runner_.share(shares_.size(), [this](std::size_t share) {
    const std::size_t begin = share == 0 ? 0 : shares_[share - 1];
    for (std::size_t i = begin; i < shares_[share]; ++i) store_type(due_types_[i]);
  });
  at_once_ = 1;
  take_in(due_types_);
}

/// Does the chores that storing the types has left, on all threads, while one of them hands the
/// arrivals to the rules.
void Evaluation::take_in(std::span<const TypeId> types) {
  chores_.clear();
  for (const TypeId type : types) {
    for (const history::Chore& chore : history_.chores(type)) chores_.push_back(&chore);
  }
  runner_.share(1 + chores_.size(), [&](std::size_t i) {
    if (i > 0) return (*chores_[i - 1])();
    for (const TypeId type : types) arrive(type);
  });
}

/// Divides the types, which do not depend on each other, among threads. A share is large enough
/// that handing it to another thread takes less time than the share.
void Evaluation::share_types() {
  constexpr std::size_t kEvents = 256;
  const std::size_t chosen = limits_.sharing.job_terminators;
  const std::size_t least = chosen > 0 ? chosen : kEvents;
  shares_.clear();
  std::size_t events = 0;
  for (std::size_t i = 0; i < due_types_.size(); ++i) {
    events += incoming_[due_types_[i]].records.size();
    if (events < least && i + 1 < due_types_.size()) continue;
    shares_.push_back(i + 1);
    events = 0;
  }
}

void Evaluation::store_type(TypeId type) {
  Records& incoming = sorted_incoming(type);
  const auto done = std::partition_point(incoming.begin(), incoming.end(), [&](std::uint32_t i) {
    return batch_->records[i].root < cut_;
  });
  Records& stored = incoming_[type].stored;
  stored.assign(done, incoming.end());
  incoming.erase(done, incoming.end());
  stored.swap(incoming);
  store(type);
}

/// Stores the records of a type that stand in `stored`, in place order. `arrive` is to be called
/// next.
void Evaluation::store(TypeId type) {
  with_memory_to("remember events of type", rules_.schema().at(type).name,
                 "make the windows of the rules that read it shorter", [&] { remember(type); });
}

void Evaluation::remember(TypeId type) {
  Incoming& incoming = incoming_[type];
  if (rules_.strata().is_produced(type)) {
    std::erase_if(incoming.stored, [&](std::uint32_t i) { return batch_->records[i].dropped; });
  }
  incoming.events.resize(incoming.stored.size());
  incoming.deepest = 0;
  const Datum* const cells = batch_->cells.data();
  const Record* const records = batch_->records.data();
  auto event = incoming.events.begin();
  for (const std::uint32_t index : incoming.stored) {
    const Record& record = records[index];
    *event++ = {record.timestamp, record.root, cells + record.first_cell};
    incoming.deepest = std::max(incoming.deepest, record.depth);
  }
  incoming.first = history_.append(type, incoming.events);
  incoming.matches = history_.settle(type, at_once_);
}

/// Hands the stored events to the rules that they are terminators of.
void Evaluation::arrive(TypeId type) {
  constexpr std::size_t kGroup = 16;  // matches whose cache misses overlap
  const Incoming& incoming = incoming_[type];
  if (incoming.deepest >= limits_.max_depth) mark_too_deep(type);
  const history::Column* column = nullptr;
  std::vector<Arrival>* arrivals = nullptr;  // those of the column
  for (std::size_t begin = 0; begin < incoming.matches.size(); begin += kGroup) {
    const std::size_t count = std::min(kGroup, incoming.matches.size() - begin);
    const auto group = incoming.matches.subspan(begin, count);
    for (const auto& match : group) {
      if (match.column == column) continue;
      __builtin_prefetch(rules_.rules_of(match.column->id()).data());
      __builtin_prefetch(&arrivals_[match.column->id()]);
    }
    for (const auto& match : group) {
      if (match.column != column) arrivals = arrivals_of(match.column->id());
      column = match.column;
      if (arrivals == nullptr) continue;
      arrivals->push_back({match.slot, incoming.stored[match.slot - incoming.first]});
    }
  }
}

void Evaluation::mark_too_deep(TypeId type) {
  const Incoming& incoming = incoming_[type];
  for (std::size_t i = 0; i < incoming.stored.size(); ++i) {
    if (batch_->records[incoming.stored[i]].depth < limits_.max_depth) continue;
    ++counters_.dropped_depth;
    limit_.note(*batch_, batch_->records[incoming.stored[i]]);
    history_.mark_too_deep(type, incoming.first + i);
  }
}

/// Where the column's next arrival is to go; null: it is no rule's terminator.
std::vector<Evaluation::Arrival>* Evaluation::arrivals_of(history::ColumnId column) {
  const auto rules = rules_.rules_of(column);
  if (rules.empty()) return nullptr;
  auto& arrivals = arrivals_[column];
  if (arrivals.empty()) {
    columns_.push_back(column);
    for (const std::uint32_t rule : rules) {
      touched_.push_back(rule);
      next_arrival_[rule] = 0;
    }
  }
  return &arrivals;
}

void Evaluation::collect_terminators(std::uint32_t index, const Bound& bound) {
  DeployedRule& rule = rules_.rules()[index];
  const auto& arrivals = arrivals_[rule.terminator_column];
  std::size_t& next = next_arrival_[index];
  std::uint64_t passed_over = 0;
  const bool suspended =
      limits_.sharing.max_rule_time > 0 && rule.throttle.is_suspended(Clock::now());
  for (; next < arrivals.size(); ++next) {
    const Record& record = batch_->records[arrivals[next].record];
    if (record.root >= cut_ || !bound.admits(record)) break;
    if (record.depth >= limits_.max_depth) continue;
    if (rule.has_timer ? record.rule != index : !rule.sees(record.timestamp)) continue;
    if (suspended) {
      ++passed_over;
    } else {
      const bool is_next = cycle_ != nullptr || record.root == front_;
      if (is_next && !certain_) certain_ = runner_.size();
      runner_.add(index, arrivals[next].slot, next);
    }
  }
  if (passed_over > 0) note_passed_over(index, passed_over);
}

void Evaluation::note_passed_over(std::uint32_t rule, std::uint64_t terminators) {
  rules_.rules()[rule].throttle.pass_over(terminators);
  counters_.passed_over += terminators;
  last_passed_over_ = rules_.names()[rule];
}

void Evaluation::run_collected() {
  if (stop_.load(std::memory_order_relaxed)) return runner_.clear();
  held_.restart(held_bytes(), extra_);
  const std::size_t first = batch_->cells.size();
  runner_.run(batch_->in_order, held_, std::exchange(certain_, {}).value_or(runner_.size()));
  if (stop_.load(std::memory_order_relaxed)) return runner_.clear();
  first_cells_.assign(runner_.jobs(), kNoCells);
  for (const RuleRunner::Part& part : runner_.parts()) {
    with_memory_to("hold the composites of rule", rules_.names()[part.rule],
                   "lower engine.max_composites or engine.max_held_bytes", [&] { take_out(part); });
  }
  composite_cells_ += batch_->cells.size() - first;
  runner_.clear();
  counters_.peak_held_bytes = held_.peak();
}

void Evaluation::take_out(const RuleRunner::Part& part) {
  std::size_t& first_cell = first_cells_[part.job];
  if (first_cell == kNoCells) {
    first_cell = batch_->cells.size();
    const auto cells = runner_.request(part).sink->cells();
    batch_->cells.insert(batch_->cells.end(), cells.begin(), cells.end());
  }
  if (settle_terminators(part)) add_composites(part, first_cell);
}

/// Counts the terminators that are done. The wave ends before the first one that is not, but a step
/// of a cycle goes on. False when the rule's earlier terminators are not done, so that these are to
/// be evaluated again.
bool Evaluation::settle_terminators(const RuleRunner::Part& part) {
  const std::size_t first = runner_.tag(part, 0);
  std::size_t& next = next_arrival_[part.rule];
  if (next <= first) return false;
  DeployedRule& rule = rules_.rules()[part.rule];
  const engine::Request& outcome = runner_.request(part);
  rule.state.terminators += outcome.done;
  rule.state.overflows += outcome.overflows;
  if (outcome.done == outcome.terminators.slots.size()) return true;
  next = runner_.tag(part, outcome.done);
  step_goes_on_ = cycle_ != nullptr;
  if (step_goes_on_) return true;
  const auto& arrival = arrivals_[rule.terminator_column][next];
  cut_ = std::min(cut_, batch_->records[arrival.record].root);
  return true;
}

void Evaluation::add_composites(const RuleRunner::Part& part, std::size_t first_cell) {
  if (rules_.rules()[part.rule].plan->deadline) return add_awaited(part, first_cell);
  const std::size_t first = batch_->records.size();
  const engine::Request& outcome = runner_.request(part);
  const auto composites =
      std::span(outcome.sink->composites())
          .subspan(outcome.first_composite, outcome.end_composite - outcome.first_composite);
  for (const auto& composite : composites) {
    batch_->records.push_back(composite_record(part, first_cell, composite));
  }
  add_records(part.rule, first);
}

/// Adds composites of a rule with a deadline: those whose deadline is over exist if the absence
/// holds, and the others wait.
void Evaluation::add_awaited(const RuleRunner::Part& part, std::size_t first_cell) {
  DeployedRule& rule = rules_.rules()[part.rule];
  const engine::Request& outcome = runner_.request(part);
  const engine::CompositeSink& sink = *outcome.sink;
  const std::size_t first = batch_->records.size();
  for (std::size_t i = outcome.first_composite;
       i < outcome.end_composite && !stop_.load(std::memory_order_relaxed); ++i) {
    const auto& composite = sink.composites()[i];
    const auto events = sink.events().subspan(composite.first_event, rule.rule().states.size());
    Record record = composite_record(part, first_cell, composite);
    const Timestamp deadline = arithmetic::saturating_add(record.timestamp, *rule.plan->deadline);
    if (deadline > clock_) {
      await_deadline(deadline, record, events);
      continue;
    }
    rule.state.decided.push_back({events[0].slot, record.sequence, record.root + 1});
    if (!rule.is_absent(events)) continue;
    record.timestamp = deadline;
    batch_->in_order = false;  // what brought it about has an earlier timestamp and the same root
    batch_->records.push_back(record);
  }
  add_records(part.rule, first);
}

Record Evaluation::composite_record(const RuleRunner::Part& part, std::size_t first_cell,
                                    const engine::CompositeSink::Composite& composite) const {
  const DeployedRule& rule = rules_.rules()[part.rule];
  const auto& arrivals = arrivals_[rule.terminator_column];
  const std::uint32_t producer = arrivals[runner_.tag(part, composite.terminator)].record;
  const Record& terminator = batch_->records[producer];
  return {.type = rule.rule().type,
          .timestamp = terminator.timestamp,
          .root = terminator.root,
          .depth = terminator.depth + 1,
          .producer = producer,
          .rule = part.rule,
          .sequence = composite.sequence,
          .first_cell = static_cast<std::uint32_t>(first_cell + composite.first_cell)};
}

/// Counts the rule's records from `first` on and lets their type's rules have them.
void Evaluation::add_records(std::uint32_t rule_index, std::size_t first) {
  DeployedRule& rule = rules_.rules()[rule_index];
  const std::size_t count = batch_->records.size() - first;
  rule.state.composites += count;
  composites_ += count;
  const TypeId type = rule.rule().type;
  const bool of_cycle = cycle_ != nullptr && rules_.strata().in_cycle(type);
  if (!of_cycle && !history_.keeps(type)) return;
  for (std::size_t i = first; i < batch_->records.size(); ++i) {
    const auto record = static_cast<std::uint32_t>(i);
    of_cycle ? cycle_composites_.push_back(record) : expect(type, record);
  }
}

void Evaluation::await_deadline(Timestamp deadline, const Record& composite,
                                std::span<const history::EventRef> sequence) {
  DeployedRule& rule = rules_.rules()[composite.rule];
  // Every composite that fires is a root of its own, so the limits of a root do not bound what
  // rules do that feed each other through deadlines.
  if (rule.state.pending.size() >= rule.rule().options.max_sequences) {
    ++rule.state.overflows;
    return;
  }
  const std::size_t width = rule.rule().assignments.size();
  const auto cells = std::span<const Datum>(batch_->cells).subspan(composite.first_cell, width);
  rule.state.pending.emplace(
      deadline,
      engine::PendingComposite{.terminator = place_key(batch_->records, composite.producer),
                               .sequence = composite.sequence,
                               .cells = {cells.begin(), cells.end()},
                               .events = {sequence.begin(), sequence.end()}});
}

/// The wave's first root may still get more composites, but those beyond the limit stay beyond it.
void Evaluation::limit_level(std::uint32_t level) {
  limit_.apply_to_level(*batch_, level, [this](const Record& record) {
    return finished(record) || (record.root == front_ && !record.dropped);
  });
}

void Evaluation::drop_finished() {
  const std::size_t composites = composites_, roots = roots_;
  forget_finished();
  sizer_.learn(composites - composites_, roots - roots_,
               {.uses_device = runner_.uses_device(), .is_undecided = runner_.is_undecided()});
}

/// Takes everything before the cut out of the batch.
void Evaluation::forget_finished() {
  if (cut_ == kNoCut) {
    composites_ = composite_cells_ = roots_ = 0;
    return batch_->clear();
  }
  reduce([this](std::uint32_t, const Record& record) {
    return record.root >= cut_ && !record.dropped;
  });
  if (batch_->empty()) batch_->clear();
  ran_ahead_ = composites_ > 0;
}

/// Takes the dropped records from `first` on out of the batch.
void Evaluation::forget_dropped(std::size_t first) {
  reduce([first](std::uint32_t i, const Record& record) { return i < first || !record.dropped; });
}

/// Takes records out of the batch. Precondition: where a record goes, all that it brought about
/// goes, too.
void Evaluation::reduce(const std::function<bool(std::uint32_t, const Record&)>& is_kept) {
  moved_.assign(batch_->records.size(), kNoRecord);
  rest_.clear();
  rest_.in_order = batch_->in_order;
  rest_.extras = batch_->extras;
  composites_ = composite_cells_ = roots_ = 0;
  for (std::uint32_t i = 0; i < batch_->records.size(); ++i) {
    Record record = batch_->records[i];
    if (!is_kept(i, record)) continue;
    moved_[i] = static_cast<std::uint32_t>(rest_.records.size());
    const std::size_t width =
        (record.type == kNoType ? 0 : rules_.schema().at(record.type).attributes.size()) +
        batch_->extra_cells(record);
    const auto first = batch_->cells.begin() + record.first_cell;
    record.first_cell = static_cast<std::uint32_t>(rest_.cells.size());
    rest_.cells.insert(rest_.cells.end(), first, first + static_cast<std::ptrdiff_t>(width));
    // The producer stays, too, and stands before the record.
    if (record.producer != kNoRecord) record.producer = moved_[record.producer];
    if (record.producer == kNoRecord) {
      ++roots_;
    } else {
      ++composites_;
      composite_cells_ += width;
    }
    rest_.records.push_back(record);
  }
  std::swap(*batch_, rest_);
  rest_.clear();
  renumber();
}

/// Replaces record numbers by those in `moved_`.
void Evaluation::renumber() {
  const auto renumber = [this](Records& records) {
    for (std::uint32_t& record : records) record = moved_[record];
    std::erase(records, kNoRecord);
  };
  for (const TypeId type : incoming_types_) renumber(incoming_[type].records);
  renumber(cycle_composites_);
  for (const history::ColumnId column : columns_) {
    for (Arrival& arrival : arrivals_[column]) {
      if (arrival.record != kNoRecord) arrival.record = moved_[arrival.record];
    }
  }
}

}  // namespace gorgo::dispatch
