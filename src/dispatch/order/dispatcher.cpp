#include "dispatch/order/dispatcher.hpp"

#include <algorithm>
#include <chrono>
#include <limits>
#include <utility>

#include "base/arithmetic.hpp"
#include "base/scratch.hpp"

namespace gorgo::dispatch {

void Dispatcher::process(Released& released, const Deliver& deliver) {
  if (released.size() == 0) return;
  const double weight = timed_.weight(released.records.size());
  auto start =
      weight > 0 ? std::chrono::steady_clock::now() : std::chrono::steady_clock::time_point();
  const auto report = [&] {
    if (weight == 0) return;
    const auto now = std::chrono::steady_clock::now();
    const std::chrono::duration<double, std::nano> took = now - std::exchange(start, now);
    placer_.add_time(weight * took.count());
  };
  handed_out_.begin();
  released.view_columns(output_);
  first_root_ = roots_;
  for (std::size_t next = 0;
       next < released.records.size() && !stop_.load(std::memory_order_relaxed);) {
    if (next > 0) report();
    form_batch(released, next);
    evaluate_batch(deliver);
  }
  pass_unseen(released);
  unforgotten_ += released.events;
  released.clear();
  batch_.clear();
  if (is_worth_forgetting()) forget();
  report();
}

void Dispatcher::form_batch(Released& released, std::size_t& next) {
  batch_.extras = &released.extras;
  batch_.columns = &released.columns;
  if (agenda_.empty()) return add_released(released, next);
  const Timestamp upcoming = released.records[next].timestamp;
  agenda_.approach(std::max(upcoming, clock_.value_or(upcoming)));
  const auto due = agenda_.next();
  if (!due || *due > upcoming) return add_released(released, next);
  advance(*due);
  const std::uint64_t before = roots_;
  agenda_.fire(*due, batch_, roots_);
  first_root_ += roots_ - before;
}

/// No event of a batch that begins with this record may stand behind an instant of a timer, or a
/// deadline that an event of the batch can bring about. Where that event is late, the deadline may
/// be over already, so such an event stands alone.
Dispatcher::EndOfBatch Dispatcher::end_of_batch(const Record& first) {
  if (agenda_.empty()) return {};
  const auto due = agenda_.next();
  const auto wait = agenda_.shortest_deadline();
  if (!wait) return {.before = due};
  const Timestamp now = std::max(first.timestamp, clock_.value_or(first.timestamp));
  const Timestamp over = arithmetic::saturating_add(now, *wait);
  return {.before = std::min(due.value_or(over), over),
          .before_late = true,
          .is_alone = is_late(first.timestamp) && agenda_.may_bring_deadline(first.type)};
}

/// Whether the batch ends before a record that comes when `last` is its latest timestamp.
bool Dispatcher::is_behind(const EndOfBatch& end, const Record& record, Timestamp last) {
  if (end.is_alone) return true;
  const bool late = record.timestamp < last || is_late(record.timestamp);
  if (late) return end.before_late && agenda_.may_bring_deadline(record.type);
  return end.before && record.timestamp >= *end.before;
}

void Dispatcher::add_released(Released& released, std::size_t& next) {
  const std::span<Record> records = released.records;
  const std::size_t begin = next;
  Timestamp last = records[begin].timestamp;
  const EndOfBatch end = end_of_batch(records[begin]);
  std::size_t room = evaluation_.batch_roots();
  bool has_ticks = false;
  for (; next < records.size() && room > 0; ++next) {
    Record& record = records[next];
    if (next > begin && is_behind(end, record, last)) break;
    const bool late = record.timestamp < last;
    if (late) batch_.ordered_before = std::min(batch_.ordered_before, record.timestamp);
    last = std::max(last, record.timestamp);
    has_ticks = has_ticks || record.tick;
    if (record.tick) continue;
    --room;
    roots_ = record.root += first_root_;
  }
  advance(last);
  take(released, begin, next);
  if (has_ticks) std::erase_if(batch_.records, [](const Record& record) { return record.tick; });
}

/// Moves the released records [begin, end) and their cells to the batch.
void Dispatcher::take(Released& released, std::size_t begin, std::size_t end) {
  if (begin == 0 && end == released.records.size()) {
    batch_.records.swap(released.records);
    return batch_.cells.swap(released.cells);
  }
  const std::uint32_t first = released.cells_before(begin);
  batch_.cells.assign(released.cells.begin() + first,
                      released.cells.begin() + released.cells_before(end));
  const auto records = std::span(released.records).subspan(begin, end - begin);
  batch_.records.assign(records.begin(), records.end());
  for (Record& record : batch_.records) record.first_cell -= first;
}

/// Those behind the last event that has a record.
void Dispatcher::pass_unseen(const Released& released) {
  roots_ = std::max(roots_, first_root_ + released.events);
  if (released.last_unseen) advance(*released.last_unseen);
}

void Dispatcher::advance(Timestamp timestamp) {
  clock_ = std::max(clock_.value_or(timestamp), timestamp);
}

void Dispatcher::evaluate_batch(const Deliver& deliver) {
  if (batch_.empty()) return;
  evaluation_.start(batch_, *clock_);
  while (!batch_.empty()) {
    evaluation_.run_wave();
    if (!agenda_.empty()) agenda_.look_at(evaluation_.evaluated());
    if (stop_.load(std::memory_order_relaxed)) return;
    if (!evaluation_.has_finished()) continue;
    deliver_finished(deliver);
    evaluation_.drop_finished();
  }
}

/// Whether the record is to be delivered after this wave.
bool Dispatcher::is_due(const Record& record) const {
  return evaluation_.finished(record) && record.type != kTimerType;
}

/// Whether an event that no other brought about is to be handed out.
bool Dispatcher::is_wanted(const Record& own) {
  if (own.is_composite()) return true;
  if (own.type == kNoType) return handed_out_.has(own.extras, (*batch_.extras)[own.extras]->type);
  return handed_out_.has(own.type, rules_.schema());
}

/// Brings the due composites in place order. Composites stand from record `first` on.
void Dispatcher::order_composites(std::size_t first) {
  const auto& records = batch_.records;
  order_.clear();
  bool by_root = true;
  std::uint64_t root = 0;
  for (std::size_t i = first; i < records.size(); ++i) {
    if (!is_due(records[i])) continue;
    by_root = by_root && records[i].root >= root;
    root = records[i].root;
    order_.push_back(static_cast<std::uint32_t>(i));
  }
  if (!by_root) sort_by_root();
  if (!evaluation_.is_in_rule_order()) sort_by_place();
}

/// Sorts by counting the composites of each root; those of one root keep their order.
void Dispatcher::sort_by_root() {
  const auto& records = batch_.records;
  const std::uint64_t first_root = records.front().root;
  const auto slot = [&](std::uint32_t i) { return records[i].root - first_root + 1; };
  by_root_.assign(roots_ - first_root + 2, 0);
  for (const std::uint32_t i : order_) ++by_root_[slot(i)];
  for (std::size_t r = 1; r < by_root_.size(); ++r) by_root_[r] += by_root_[r - 1];
  unordered_.swap(order_);
  order_.resize(unordered_.size());
  for (const std::uint32_t i : unordered_) order_[by_root_[slot(i) - 1]++] = i;
}

/// Brings the composites of each root in order.
void Dispatcher::sort_by_place() {
  const PlaceOrder before(batch_.records);
  const auto& records = batch_.records;
  for (auto group = order_.begin(); group != order_.end();) {
    const std::uint64_t root = records[*group].root;
    const auto end =
        std::find_if(group, order_.end(), [&](std::uint32_t i) { return records[i].root != root; });
    if (!std::is_sorted(group, end, before)) std::sort(group, end, before);
    group = end;
  }
}

OutputBatch::Row Dispatcher::row_of(const Record& record, const Place& place) {
  return {.place = place,
          .timestamp = record.timestamp,
          .type = record.type,
          .first_cell = record.first_cell,
          .extras = record.extras,
          .rule = record.rule,
          .event = record.in_columns ? record.row : OutputBatch::kInCells};
}

/// Hands out the due records in place order, some at a time.
void Dispatcher::deliver_finished(const Deliver& deliver) {
  const auto& records = batch_.records;
  const auto composites =
      std::partition_point(records.begin(), records.end(),
                           [](const Record& record) { return record.producer == kNoRecord; });
  if (composites != records.end()) {
    order_composites(static_cast<std::size_t>(composites - records.begin()));
  }
  auto next = order_.begin();
  for (const Record& own : std::span(records.begin(), composites)) {
    Place place{.root = own.root};
    if (is_due(own)) {
      if (own.is_composite()) {
        place.ordinal = 1;
        ++counters_.composites;
      }
      if (is_wanted(own)) add_row(own, place, deliver);
    }
    for (; next != order_.end() && records[*next].root == own.root; ++next) {
      ++place.ordinal;
      add_row(records[*next], place, deliver);
    }
  }
  counters_.composites += order_.size();
  hand_out(deliver);
  if (order_.empty()) return;
  clear_scratch(order_);
  clear_scratch(unordered_);
  clear_scratch(by_root_);
}

void Dispatcher::add_row(const Record& record, const Place& place, const Deliver& deliver) {
  constexpr std::size_t kAtATime = 1 << 16;
  if (output_.rows.size() == kAtATime) hand_out(deliver);
  output_.rows.push_back(row_of(record, place));
}

void Dispatcher::hand_out(const Deliver& deliver) {
  output_.rule_names = rules_.names();
  output_.rule_actions = rules_.actions();
  output_.schema = &rules_.schema();
  output_.extras = *batch_.extras;
  output_.cells.swap(batch_.cells);
  if (!stop_.load(std::memory_order_relaxed)) deliver(output_);
  output_.cells.swap(batch_.cells);
  output_.rows.clear();
}

/// A few events leave little to forget, and looking for it takes longer than they do. Where time
/// has gone on, there may be much.
bool Dispatcher::is_worth_forgetting() const {
  constexpr std::uint64_t kEvents = 16;
  constexpr Duration kTime = 1'000'000'000;
  return unforgotten_ >= kEvents || *clock_ >= arithmetic::saturating_add(forgot_at_, kTime);
}

void Dispatcher::forget() {
  unforgotten_of_rules_ += std::exchange(unforgotten_, 0);
  forgot_at_ = *clock_;
  history_.evict(arithmetic::saturating_subtract(*clock_, remember_));
  rules_.tidy_tables(arithmetic::saturating_subtract(*clock_, remember_), history_);
  const std::size_t rules = rules_.temporal_rules().size() + rules_.limited_rules().size() +
                            rules_.consuming_rules().size();
  if (unforgotten_of_rules_ >= rules) forget_of_rules();
}

/// What rules remember grows with events, so it may wait for as many of these as there are rules to
/// look at.
void Dispatcher::forget_of_rules() {
  unforgotten_of_rules_ = 0;
  rules_.forget_panes(*clock_);
  for (const std::uint32_t index : rules_.temporal_rules()) forget_decided(index);
  const Timestamp oldest = arithmetic::saturating_subtract(*clock_, rules_.max_late());
  for (const std::uint32_t index : rules_.limited_rules()) {
    const OutputLimit& limit = *rules_.rule(index).rule().at_most;
    if (rules_.rule(index).state.timed().produced.keys() > 0) {
      rules_.state(index).own_timed().produced.forget_until(
          arithmetic::saturating_subtract(oldest, limit.per));
    }
    forget_decided(index);
  }
  for (const std::uint32_t index : rules_.consuming_rules()) {
    const Rule& rule = rules_.rule(index).rule();
    for (const std::uint32_t state : rule.consuming) {
      const TypeId type = rule.states[state].predicate.type;
      rules_.state(index).consumed[state].forget_before(history_.store(type).begin());
    }
  }
}

void Dispatcher::forget_decided(std::uint32_t rule) {
  const TypeId type = rules_.rule(rule).rule().states[0].predicate.type;
  rules_.state(rule).forget_decided_before(history_.store(type).begin());
}

}  // namespace gorgo::dispatch
