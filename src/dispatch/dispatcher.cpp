#include "dispatch/dispatcher.hpp"

#include <algorithm>
#include <map>

namespace gorgo::dispatch {
namespace {

constexpr std::uint64_t kNoCut = ~std::uint64_t{0};

}  // namespace

void Dispatcher::process(Batch& batch, const std::function<void(const OutputBatch&)>& deliver) {
  if (batch.empty()) return;
  const Timestamp clock = batch.records.back().timestamp;
  start(batch);
  while (!batch.empty() && !stop_.load(std::memory_order_relaxed)) {
    run_wave(batch);
    deliver_wave(batch, deliver);
    drop_delivered(batch);
  }
  batch.clear();
  forget_before(clock);
}

void Dispatcher::forget_before(Timestamp clock) {
  history_.evict(clock);
  for (DeployedRule& rule : rules_.rules()) {
    for (const std::uint32_t state : rule.rule().consuming) {
      const TypeId type = rule.rule().states[state].predicate.type;
      rule.state.consumed[state].forget_before(history_.store(type).begin());
    }
  }
}

void Dispatcher::start(Batch& batch) {
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

void Dispatcher::run_wave(Batch& batch) {
  cut_ = kNoCut;
  for (std::uint32_t level = 0; level < rules_.levels(); ++level) {
    for (TypeId type = 0; type < incoming_.size(); ++type) {
      if (!incoming_[type].empty() && rules_.level_of(type) == level) store_type(type, batch);
    }
    for (std::uint32_t rule = 0; rule < rules_.rules().size(); ++rule) {
      if (rules_.rules()[rule].level == level) run_rule(rule, batch);
    }
    if (composites_ > limits_.max_composites) enforce_composite_limit(level, batch);
  }
}

void Dispatcher::store_type(TypeId type, Batch& batch) {
  Records& incoming = incoming_[type];
  if (rules_.is_produced(type)) {
    std::sort(incoming.begin(), incoming.end(), PlaceOrder(batch.records));
  }
  const std::size_t width = rules_.schema().at(type).attributes.size();
  std::size_t done = 0;
  for (; done < incoming.size() && batch.records[incoming[done]].root < cut_; ++done) {
    const Record& record = batch.records[incoming[done]];
    if (record.dropped) continue;
    const auto cells = std::span<const Datum>(batch.cells).subspan(record.first_cell, width);
    const auto slot = history_.append(type, record.timestamp, record.root, cells);
    arrivals_[type].push_back({slot, incoming[done]});
    if (record.depth >= limits_.max_depth) ++counters_.dropped_depth;
  }
  incoming.erase(incoming.begin(), incoming.begin() + static_cast<std::ptrdiff_t>(done));
}

void Dispatcher::collect_terminators(std::uint32_t index, const Batch& batch) {
  const DeployedRule& rule = rules_.rules()[index];
  slots_.clear();
  terminators_.clear();
  const auto& arrivals = arrivals_[rule.rule().states[0].predicate.type];
  std::size_t& next = next_arrival_[index];
  for (; next < arrivals.size(); ++next) {
    const Record& record = batch.records[arrivals[next].record];
    if (record.root >= cut_) break;
    if (record.depth >= limits_.max_depth) continue;
    const auto& deployed_at = rule.state.deployed_at;
    if (deployed_at && record.timestamp <= *deployed_at) continue;
    slots_.push_back(arrivals[next].slot);
    terminators_.push_back(next);
  }
}

void Dispatcher::run_rule(std::uint32_t index, Batch& batch) {
  collect_terminators(index, batch);
  if (slots_.empty()) return;
  DeployedRule& rule = rules_.rules()[index];
  const auto& arrivals = arrivals_[rule.rule().states[0].predicate.type];
  const std::size_t room =
      limits_.max_held_composites - std::min(limits_.max_held_composites, composites_);
  const engine::Budget budget{.composites = room, .stop = &stop_};
  engine::CompositeSink sink(rule.rule(), rule.state, batch.cells);
  const std::size_t done = rule.evaluator->evaluate(slots_, rule.state, budget, sink);
  if (done < slots_.size()) {
    next_arrival_[index] = terminators_[done];
    cut_ = batch.records[arrivals[terminators_[done]].record].root;
  }
  add_composites(index, sink, batch);
}

void Dispatcher::add_composites(std::uint32_t index, const engine::CompositeSink& sink,
                                Batch& batch) {
  const Rule& rule = rules_.rules()[index].rule();
  const auto& arrivals = arrivals_[rule.states[0].predicate.type];
  const bool kept = history_.keeps(rule.type);
  for (const auto& composite : sink.composites()) {
    const std::uint32_t producer = arrivals[terminators_[composite.terminator]].record;
    const Record terminator = batch.records[producer];
    const auto record = static_cast<std::uint32_t>(batch.records.size());
    batch.records.push_back({.type = rule.type,
                             .timestamp = terminator.timestamp,
                             .root = terminator.root,
                             .depth = terminator.depth + 1,
                             .producer = producer,
                             .rule = index,
                             .sequence = composite.sequence,
                             .first_cell = composite.first_cell});
    if (kept) incoming_[rule.type].push_back(record);
  }
  composites_ += sink.size();
}

/// Beyond `max_composites` of one root the later ones do not exist, where "later" is by stratum of
/// the producing rule, then by place: so a dropped composite has been used by nobody, and the cut
/// of batches and waves does not matter.
void Dispatcher::enforce_composite_limit(std::uint32_t level, Batch& batch) {
  std::map<std::uint64_t, std::uint64_t> earlier;  // by root: composites of lower strata
  std::map<std::uint64_t, Records> of_level;       // by root
  for (std::uint32_t i = 0; i < batch.records.size(); ++i) {
    const Record& record = batch.records[i];
    if (record.depth == 0 || !in_wave(record)) continue;
    const std::uint32_t produced_at = rules_.rules()[record.rule].level;
    if (produced_at < level) ++earlier[record.root];
    if (produced_at == level) of_level[record.root].push_back(i);
  }
  for (auto& [root, records] : of_level) {
    const std::uint64_t before = earlier[root];
    const std::uint64_t room = limits_.max_composites - std::min(limits_.max_composites, before);
    if (records.size() <= room) continue;
    std::sort(records.begin(), records.end(), PlaceOrder(batch.records));
    for (std::size_t i = room; i < records.size(); ++i) batch.records[records[i]].dropped = true;
    counters_.dropped_composites += records.size() - room;
  }
}

void Dispatcher::deliver_wave(Batch& batch,
                              const std::function<void(const OutputBatch&)>& deliver) {
  Records order;
  for (std::uint32_t i = 0; i < batch.records.size(); ++i) {
    if (in_wave(batch.records[i])) order.push_back(i);
  }
  if (order.empty() || stop_.load(std::memory_order_relaxed)) return;
  if (composites_ > 0) std::sort(order.begin(), order.end(), PlaceOrder(batch.records));

  output_.rows.clear();
  Place place;
  for (const std::uint32_t i : order) {
    const Record& record = batch.records[i];
    place.ordinal = record.root == place.root ? place.ordinal + 1 : 0;
    place.root = record.root;
    counters_.composites += record.depth > 0 ? 1 : 0;
    output_.rows.push_back({.place = place,
                            .timestamp = record.timestamp,
                            .type = record.type,
                            .first_cell = record.first_cell,
                            .extra_cells = record.extra_cells,
                            .rule = record.rule});
  }
  output_.rule_names = rules_.names();
  output_.schema = &rules_.schema();
  output_.cells.swap(batch.cells);
  deliver(output_);
  output_.cells.swap(batch.cells);
}

/// Keeps the records from the cut on, with what refers to them.
void Dispatcher::drop_delivered(Batch& batch) {
  if (cut_ == kNoCut) {
    batch.records.clear();
    return;
  }
  Records moved(batch.records.size(), kNoRecord);
  std::vector<Record> records;
  std::vector<Datum> cells;
  composites_ = 0;
  for (std::uint32_t i = 0; i < batch.records.size(); ++i) {
    Record record = batch.records[i];
    if (record.root < cut_) continue;
    moved[i] = static_cast<std::uint32_t>(records.size());
    const std::size_t width =
        (record.type == kNoType ? 0 : rules_.schema().at(record.type).attributes.size()) +
        record.extra_cells;
    const auto first = batch.cells.begin() + record.first_cell;
    record.first_cell = static_cast<std::uint32_t>(cells.size());
    cells.insert(cells.end(), first, first + static_cast<std::ptrdiff_t>(width));
    if (record.depth > 0) {
      record.producer = moved[record.producer];  // of the same root, so it stays, and stands before
      ++composites_;
    }
    records.push_back(record);
  }
  for (Records& incoming : incoming_) {
    for (std::uint32_t& record : incoming) record = moved[record];
  }
  for (auto& arrivals : arrivals_) {
    for (Arrival& arrival : arrivals) {
      if (arrival.record != kNoRecord) arrival.record = moved[arrival.record];
    }
  }
  batch.records = std::move(records);
  batch.cells = std::move(cells);
}

}  // namespace gorgo::dispatch
