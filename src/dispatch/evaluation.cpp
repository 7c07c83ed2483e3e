#include "dispatch/evaluation.hpp"

#include <algorithm>
#include <map>

#include "base/arithmetic.hpp"

namespace gorgo::dispatch {
namespace {

constexpr std::uint64_t kNoCut = ~std::uint64_t{0};

}  // namespace

void Evaluation::start(Batch& batch, Timestamp clock) {
  batch_ = &batch;
  clock_ = clock;
  const TypeId types = rules_.schema().size();
  incoming_.resize(types);
  arrivals_.resize(types);
  for (auto& incoming : incoming_) incoming.clear();
  for (auto& arrivals : arrivals_) arrivals.clear();
  next_arrival_.assign(rules_.rules().size(), 0);
  composites_ = 0;
  for (std::uint32_t i = 0; i < batch.records.size(); ++i) {
    const TypeId type = batch.records[i].type;
    if (type != kNoType && history_.keeps(type)) incoming_[type].push_back(i);
  }
}

void Evaluation::run_wave() {
  cut_ = kNoCut;
  const Bound everything{kNoCut, 0};
  for (std::uint32_t level = 0; level < rules_.levels(); ++level) {
    for (TypeId type = 0; type < incoming_.size(); ++type) {
      const bool due = rules_.level_of(type) == level && !rules_.in_cycle(type);
      if (due && !incoming_[type].empty()) store_type(type);
    }
    for (const plan::Cycle& cycle : rules_.cycles()) {
      if (cycle.level == level) run_cycle(cycle);
    }
    for (std::uint32_t i = 0; i < rules_.rules().size(); ++i) {
      const DeployedRule& rule = rules_.rules()[i];
      if (rule.level == level && !rule.closes_cycle) run_rule(i, everything);
    }
    if (composites_ > limits_.max_composites) limit_level(level);
  }
}

Evaluation::Records& Evaluation::sorted_incoming(TypeId type) {
  Records& incoming = incoming_[type];
  if (rules_.is_produced(type)) {
    std::sort(incoming.begin(), incoming.end(), PlaceOrder(batch_->records));
  }
  return incoming;
}

void Evaluation::store_type(TypeId type) {
  Records& incoming = sorted_incoming(type);
  std::size_t done = 0;
  for (; done < incoming.size() && batch_->records[incoming[done]].root < cut_; ++done) {
    store(incoming[done]);
  }
  incoming.erase(incoming.begin(), incoming.begin() + static_cast<std::ptrdiff_t>(done));
}

void Evaluation::store(std::uint32_t index) {
  const Record& record = batch_->records[index];
  if (record.dropped) return;
  const std::size_t width = rules_.schema().at(record.type).attributes.size();
  const auto cells = std::span<const Datum>(batch_->cells).subspan(record.first_cell, width);
  const auto slot = history_.append(record.type, record.timestamp, record.root, cells);
  arrivals_[record.type].push_back({slot, index});
  if (record.depth >= limits_.max_depth) ++counters_.dropped_depth;
}

void Evaluation::collect_terminators(std::uint32_t index, const Bound& bound) {
  const DeployedRule& rule = rules_.rules()[index];
  const bool timer = rule.rule().timer.has_value();
  slots_.clear();
  terminators_.clear();
  const auto& arrivals = arrivals_[rule.terminator()];
  std::size_t& next = next_arrival_[index];
  for (; next < arrivals.size(); ++next) {
    const Record& record = batch_->records[arrivals[next].record];
    if (record.root >= cut_ || !bound.admits(record)) break;
    if (record.depth >= limits_.max_depth) continue;
    if (timer ? record.rule != index : !rule.sees(record.timestamp)) continue;
    slots_.push_back(arrivals[next].slot);
    terminators_.push_back(next);
  }
}

void Evaluation::run_rule(std::uint32_t index, const Bound& bound) {
  collect_terminators(index, bound);
  if (slots_.empty()) return;
  DeployedRule& rule = rules_.rules()[index];
  const std::size_t room =
      limits_.max_held_composites - std::min(limits_.max_held_composites, composites_);
  const engine::Budget budget{.composites = room, .stop = &stop_};
  engine::CompositeSink sink(rule.rule(), rule.state, batch_->cells,
                             rule.plan->deadline.has_value());
  const std::size_t done = rule.evaluator->evaluate(slots_, rule.state, budget, sink);
  if (done < slots_.size()) {
    next_arrival_[index] = terminators_[done];
    const auto& arrival = arrivals_[rule.terminator()][terminators_[done]];
    cut_ = std::min(cut_, batch_->records[arrival.record].root);
  }
  add_composites(index, sink);
}

void Evaluation::add_composites(std::uint32_t index, const engine::CompositeSink& sink) {
  DeployedRule& rule = rules_.rules()[index];
  const auto& arrivals = arrivals_[rule.terminator()];
  for (std::size_t i = 0; i < sink.size(); ++i) {
    const auto& composite = sink.composites()[i];
    const std::uint32_t producer = arrivals[terminators_[composite.terminator]].record;
    const Timestamp timestamp = batch_->records[producer].timestamp;
    if (!rule.plan->deadline) {
      add_composite(index, producer, timestamp, composite);
      continue;
    }
    const Timestamp deadline = arithmetic::saturating_add(timestamp, *rule.plan->deadline);
    if (deadline > clock_) {
      await_deadline(index, producer, deadline, composite, sink.sequence(i));
    } else if (is_absent(rule, sink.sequence(i))) {
      add_composite(index, producer, deadline, composite);
    }
  }
}

void Evaluation::add_composite(std::uint32_t index, std::uint32_t producer, Timestamp timestamp,
                               const engine::CompositeSink::Composite& composite) {
  DeployedRule& rule = rules_.rules()[index];
  const TypeId type = rule.rule().type;
  const auto record = static_cast<std::uint32_t>(batch_->records.size());
  batch_->records.push_back({.type = type,
                             .timestamp = timestamp,
                             .root = batch_->records[producer].root,
                             .depth = batch_->records[producer].depth + 1,
                             .producer = producer,
                             .rule = index,
                             .sequence = composite.sequence,
                             .first_cell = composite.first_cell});
  if (cycle_ != nullptr && rules_.in_cycle(type)) {
    cycle_composites_.push_back(record);
  } else if (history_.keeps(type)) {
    incoming_[type].push_back(record);
  }
  ++rule.state.composites;
  ++composites_;
}

void Evaluation::await_deadline(std::uint32_t index, std::uint32_t producer, Timestamp deadline,
                                const engine::CompositeSink::Composite& composite,
                                std::span<const history::EventRef> sequence) {
  DeployedRule& rule = rules_.rules()[index];
  // Every composite that fires is a root of its own, so the limits of a root do not bound what
  // rules do that feed each other through deadlines.
  if (rule.state.pending.size() >= rule.rule().options.max_sequences) {
    ++rule.state.overflows;
    return;
  }
  const std::size_t width = rule.rule().assignments.size();
  const auto cells = std::span<const Datum>(batch_->cells).subspan(composite.first_cell, width);
  rule.state.pending.emplace(
      deadline, engine::PendingComposite{.terminator = place_key(batch_->records, producer),
                                         .sequence = composite.sequence,
                                         .cells = {cells.begin(), cells.end()},
                                         .events = {sequence.begin(), sequence.end()}});
}

bool Evaluation::is_absent(DeployedRule& rule, std::span<const history::EventRef> sequence) {
  const auto& negations = rule.rule().negations;
  for (std::uint32_t i = 0; i < negations.size(); ++i) {
    if (negations[i].span.kind != SpanKind::after) continue;
    if (!rule.evaluator->is_absent(i, sequence, rule.state)) return false;
  }
  return true;
}

/// Beyond `max_composites` of one root the later ones do not exist, where "later" is by stratum of
/// the producing rule, then by place: so a dropped composite has been used by nobody, and the cut
/// of batches and waves does not matter.
void Evaluation::limit_level(std::uint32_t level) {
  std::map<std::uint64_t, std::uint64_t> earlier;  // by root: composites of lower strata and cycles
  std::map<std::uint64_t, Records> of_level;       // by root
  for (std::uint32_t i = 0; i < batch_->records.size(); ++i) {
    const Record& record = batch_->records[i];
    if (!record.is_composite() || !finished(record)) continue;
    const DeployedRule& rule = rules_.rules()[record.rule];
    const bool now = rule.level == level && !rule.closes_cycle;
    if (now) of_level[record.root].push_back(i);
    if (!now && rule.level <= level) ++earlier[record.root];
  }
  for (auto& [root, records] : of_level) drop_beyond_limit(records, earlier[root]);
}

/// The same for one root of a cycle: the records from `first_new` on are the latest step.
void Evaluation::limit_root(std::uint64_t root, std::size_t first_new) {
  std::uint64_t earlier = 0;
  Records step;
  for (std::uint32_t i = 0; i < batch_->records.size(); ++i) {
    const Record& record = batch_->records[i];
    if (record.root != root || !record.is_composite() || record.dropped) continue;
    if (i < first_new) {
      ++earlier;
    } else {
      step.push_back(i);
    }
  }
  drop_beyond_limit(step, earlier);
}

void Evaluation::drop_beyond_limit(Records& records, std::uint64_t earlier) {
  const std::uint64_t room = limits_.max_composites - std::min(limits_.max_composites, earlier);
  if (records.size() <= room) return;
  std::sort(records.begin(), records.end(), PlaceOrder(batch_->records));
  for (std::size_t i = room; i < records.size(); ++i) batch_->records[records[i]].dropped = true;
  counters_.dropped_composites += records.size() - room;
}

void Evaluation::drop_finished() {
  if (cut_ == kNoCut) {
    batch_->clear();
    return;
  }
  Records moved(batch_->records.size(), kNoRecord);
  Batch rest;
  composites_ = 0;
  for (std::uint32_t i = 0; i < batch_->records.size(); ++i) {
    Record record = batch_->records[i];
    if (record.root < cut_) continue;
    moved[i] = static_cast<std::uint32_t>(rest.records.size());
    const std::size_t width =
        (record.type == kNoType ? 0 : rules_.schema().at(record.type).attributes.size()) +
        record.extra_cells;
    const auto first = batch_->cells.begin() + record.first_cell;
    record.first_cell = static_cast<std::uint32_t>(rest.cells.size());
    rest.cells.insert(rest.cells.end(), first, first + static_cast<std::ptrdiff_t>(width));
    // The producer is of the same root, so it stays, and it stands before.
    if (record.producer != kNoRecord) record.producer = moved[record.producer];
    if (record.is_composite()) ++composites_;
    rest.records.push_back(record);
  }
  for (Records& incoming : incoming_) {
    for (std::uint32_t& record : incoming) record = moved[record];
  }
  for (auto& arrivals : arrivals_) {
    for (Arrival& arrival : arrivals) {
      if (arrival.record != kNoRecord) arrival.record = moved[arrival.record];
    }
  }
  *batch_ = std::move(rest);
}

}  // namespace gorgo::dispatch
