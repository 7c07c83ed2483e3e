#include "dispatch/dispatcher.hpp"

#include <algorithm>
#include <chrono>
#include <limits>

#include "base/arithmetic.hpp"

namespace gorgo::dispatch {

void Dispatcher::process(Released& released, const Deliver& deliver) {
  if (released.items.empty()) return;
  if (!evaluation_.wants_time()) return process_all(released, deliver);
  const auto start = std::chrono::steady_clock::now();
  process_all(released, deliver);
  evaluation_.add_time(
      std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - start).count());
}

void Dispatcher::process_all(Released& released, const Deliver& deliver) {
  std::size_t next = 0;
  while (next < released.items.size() && !stop_.load(std::memory_order_relaxed)) {
    form_batch(released, next);
    evaluate_batch(deliver);
  }
  released.clear();
  batch_.clear();
  forget();
}

void Dispatcher::form_batch(const Released& released, std::size_t& next) {
  if (agenda_.empty()) return add_items(released, next);
  const Timestamp upcoming = released.items[next].timestamp;
  agenda_.approach(std::max(upcoming, clock_.value_or(upcoming)));
  const auto due = agenda_.next();
  if (!due || *due > upcoming) return add_items(released, next);
  advance(*due);
  agenda_.fire(*due, batch_, roots_);
}

void Dispatcher::add_items(const Released& released, std::size_t& next) {
  const Timestamp first = released.items[next].timestamp;
  // No event of the batch may stand behind a deadline or an instant of a timer; a late event can
  // bring about a deadline that is over already, so it stands alone.
  Timestamp end = std::numeric_limits<Timestamp>::max();
  bool bounded = false;
  if (!agenda_.empty()) {
    if (const auto due = agenda_.next()) end = *due;
    if (const auto wait = agenda_.shortest_deadline()) {
      end = is_late(first) ? first : std::min(end, arithmetic::saturating_add(first, *wait));
    }
    bounded = true;
  }
  Timestamp last = first;
  std::uint32_t cells_end = 0;
  const std::size_t begin = next, most = evaluation_.batch_roots();
  for (; next < released.items.size() && batch_.records.size() < most; ++next) {
    const auto& item = released.items[next];
    const bool late = next > begin && item.timestamp < last;
    if (next > begin && bounded && (late || item.timestamp >= end)) break;
    if (late) batch_.in_order = false;
    last = std::max(last, item.timestamp);
    if (item.tick) continue;
    batch_.records.push_back({.type = item.type,
                              .timestamp = item.timestamp,
                              .root = ++roots_,
                              .first_cell = item.first_cell,
                              .extra_cells = item.extra_cells});
    cells_end = item.first_cell + item.cells;
  }
  advance(last);
  take_cells(released, cells_end);
}

/// Those of the batch's records, which stand together and end there.
void Dispatcher::take_cells(const Released& released, std::uint32_t end) {
  if (batch_.empty()) return;
  const std::uint32_t first = batch_.records.front().first_cell;
  batch_.cells.assign(released.cells.begin() + first, released.cells.begin() + end);
  for (Record& record : batch_.records) record.first_cell -= first;
}

void Dispatcher::advance(Timestamp timestamp) {
  clock_ = std::max(clock_.value_or(timestamp), timestamp);
}

void Dispatcher::evaluate_batch(const Deliver& deliver) {
  if (batch_.empty()) return;
  evaluation_.start(batch_, *clock_);
  while (!batch_.empty()) {
    evaluation_.run_wave();
    if (stop_.load(std::memory_order_relaxed)) return;
    deliver_finished(deliver);
    evaluation_.drop_finished();
  }
}

/// Finds the finished records in place order.
void Dispatcher::order_finished() {
  const auto& records = batch_.records;
  const std::uint64_t first_root = records.front().root;
  by_root_.assign(roots_ - first_root + 2, 0);
  const auto is_due = [&](const Record& record) {
    return evaluation_.finished(record) && record.type != kTimerType;
  };
  for (const Record& record : records) by_root_[record.root - first_root + 1] += is_due(record);
  for (std::size_t r = 1; r < by_root_.size(); ++r) by_root_[r] += by_root_[r - 1];
  order_.resize(by_root_.back());
  for (std::uint32_t i = 0; i < records.size(); ++i) {
    if (is_due(records[i])) order_[by_root_[records[i].root - first_root]++] = i;
  }
  if (!evaluation_.is_in_rule_order()) sort_by_place();
}

/// Brings the records of each root in order.
void Dispatcher::sort_by_place() {
  const PlaceOrder before(batch_.records);
  auto group = order_.begin();
  for (const std::uint32_t group_end : by_root_) {
    const auto end = order_.begin() + group_end;
    if (group >= end) continue;
    if (!std::is_sorted(group, end, before)) std::sort(group, end, before);
    group = end;
  }
}

void Dispatcher::deliver_finished(const Deliver& deliver) {
  order_finished();
  if (order_.empty()) return;
  output_.rows.resize(order_.size());
  auto row = output_.rows.begin();
  Place place;
  for (const std::uint32_t i : order_) {
    const Record& record = batch_.records[i];
    place.ordinal = record.root == place.root ? place.ordinal + 1 : record.is_composite() ? 1 : 0;
    place.root = record.root;
    counters_.composites += record.is_composite() ? 1 : 0;
    *row++ = {.place = place,
              .timestamp = record.timestamp,
              .type = record.type,
              .first_cell = record.first_cell,
              .extra_cells = record.extra_cells,
              .rule = record.rule};
  }
  output_.rule_names = rules_.names();
  output_.schema = &rules_.schema();
  output_.cells.swap(batch_.cells);
  deliver(output_);
  output_.cells.swap(batch_.cells);
}

void Dispatcher::forget() {
  history_.evict(arithmetic::saturating_subtract(*clock_, remember_));
  for (const std::uint32_t index : rules_.temporal_rules()) {
    DeployedRule& rule = rules_.rules()[index];
    const TypeId type = rule.rule().states[0].predicate.type;
    rule.state.forget_decided_before(history_.store(type).begin());
  }
  for (const std::uint32_t index : rules_.consuming_rules()) {
    DeployedRule& rule = rules_.rules()[index];
    for (const std::uint32_t state : rule.rule().consuming) {
      const TypeId type = rule.rule().states[state].predicate.type;
      rule.state.consumed[state].forget_before(history_.store(type).begin());
    }
  }
}

}  // namespace gorgo::dispatch
