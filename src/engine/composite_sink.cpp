#include "engine/composite_sink.hpp"

#include <algorithm>
#include <cmath>
#include <new>
#include <numeric>
#include <utility>

#include "base/arithmetic.hpp"
#include "base/scratch.hpp"
#include "functions/computed_texts.hpp"
#include "plan/plan.hpp"

namespace gorgo::engine {
namespace {

bool is_nan(const Datum& value) {
  return value.tag == Datum::Tag::floating && std::isnan(value.floating);
}

/// Precondition: both have one type and are no NaN.
bool comes_before(const Datum& a, const Datum& b) {
  if (a.tag == Datum::Tag::boolean) return !a.boolean && b.boolean;
  return arithmetic::compare(Op::less, a, b);
}

/// Behind `first`, `all` has a row of `width` elements for each composite: leaves the rows that are
/// named, in their order.
template <class T>
void take_in_order(std::span<const std::size_t> rows, std::size_t width, std::size_t first,
                   std::vector<T>& all) {
  std::vector<T> taken;
  taken.reserve(rows.size() * width);
  for (const std::size_t row : rows) {
    const auto begin = all.begin() + static_cast<std::ptrdiff_t>(first + row * width);
    taken.insert(taken.end(), begin, begin + static_cast<std::ptrdiff_t>(width));
  }
  all.resize(first);
  all.insert(all.end(), taken.begin(), taken.end());
}

}  // namespace

void CompositeSink::clear() {
  clear_scratch(composites_);
  clear_scratch(cells_);
  clear_scratch(events_);
  clear_scratch(consumption_);
  texts_.clear();
  if (held_ != nullptr) held_->add(unknown_);  // for its peak
  unknown_ = 0;
}

void CompositeSink::begin_rule(const Rule& rule, RuleState& state, bool keep_sequences,
                               std::uint32_t certain) {
  rule_ = &rule;
  state_ = &state;
  keep_sequences_ = keep_sequences;
  certain_ = certain;
  overflows_ = 0;
  done_ = 0;
  open_ = settling_ = false;
  // Its cells are there twice while the sinks of several threads are put together.
  each_ = sizeof(Composite) + 2 * rule.assignments.size() * sizeof(Datum) +
          (keep_sequences ? rule.states.size() * sizeof(history::EventRef) : 0) +
          rule.consuming.size() * sizeof(Consumption) + (held_ == nullptr ? 0 : held_->beside());
}

void CompositeSink::begin(std::uint32_t terminator) {
  terminator_ = terminator;
  full_ = false;
  open_ = true;
  first_composite_ = composites_.size();
  first_cell_ = cells_.size();
  first_event_ = events_.size();
  first_text_ = texts_.size();
  consumption_.clear();
}

void CompositeSink::accept(std::span<const history::EventRef> sequence,
                           std::span<const Datum> aggregates) {
  const auto is_missing = [&](std::uint32_t i) { return !aggregates[i].exists(); };
  if (std::any_of(rule_->required.begin(), rule_->required.end(), is_missing)) return;

  const std::size_t first_cell = cells_.size();
  const history::Scope scope{.candidate = {}, .states = sequence, .aggregates = aggregates};
  cells_.resize(first_cell + rule_->assignments.size());
  Datum* cell = cells_.data() + first_cell;
  for (const Expr& assignment : rule_->assignments) {
    *cell = value_of(assignment, scope);
    if (!cell->exists()) return cells_.resize(first_cell);
    ++cell;
  }
  event_ = sequence[0];
  const std::size_t first_event = events_.size();
  if (keep_sequences_) events_.insert(events_.end(), sequence.begin(), sequence.end());
  for (const std::uint32_t state : rule_->consuming) {
    consumption_.push_back({state, sequence[state].slot, sequence[0].slot});
  }
  // The composite comes last, so that `discard` finds only such as are held.
  composites_.push_back({.terminator = terminator_,
                         .sequence = static_cast<std::uint32_t>(size() - first_composite_),
                         .first_cell = static_cast<std::uint32_t>(first_cell),
                         .first_event = static_cast<std::uint32_t>(first_event)});
  if (held_ != nullptr) hold(each_);
  constexpr std::size_t kWorthwhile = 64;
  const std::size_t count = size() - first_composite_;
  if (rule_->limit && count >= kWorthwhile && count / 2 >= *rule_->limit) rank();
}

Datum CompositeSink::value_of(const Expr& assignment, const history::Scope& scope) {
  if (!plan::computes_text(assignment)) {
    return arithmetic::canonical(history::evaluate(assignment, scope));
  }
  const functions::ComputedTexts computed;
  return keep(history::evaluate(assignment, scope));
}

Datum CompositeSink::keep(const Datum& text) {
  if (!text.exists()) return text;
  return Datum::of(std::string_view(texts_.emplace_back(text.text())));
}

/// Looks only now and then at what all sinks hold, since other threads change it.
void CompositeSink::hold(std::size_t bytes) {
  unknown_ += bytes;
  if (unknown_ < held_->grain()) return;
  held_->add(std::exchange(unknown_, 0));
  full_ = !has_room(terminator_);
}

/// Puts the composites of the terminator in hand into the order of the rule and drops those beyond
/// its limit. Composites that the order does not tell apart stay in that of their sequences.
void CompositeSink::rank() {
  const std::size_t count = size() - first_composite_;
  const std::size_t kept = rule_->limit ? std::min<std::size_t>(count, *rule_->limit) : count;
  std::vector<std::size_t> ranks(count);
  std::iota(ranks.begin(), ranks.end(), std::size_t{0});
  const Composite* const of_terminator = composites_.data() + first_composite_;
  std::ranges::stable_sort(ranks, [&](std::size_t a, std::size_t b) {
    return is_before(of_terminator[a], of_terminator[b]);
  });
  ranks.resize(kept);
  keep_composites(ranks);
}

/// Drops the composites of the terminator in hand that come too soon after others. Those that wait
/// for a deadline come when it is over.
void CompositeSink::cut() {
  std::vector<std::size_t> ranks;
  const std::size_t width = rule_->assignments.size();
  for (std::size_t i = first_composite_; i < size(); ++i) {
    const auto cells = std::span<const Datum>(cells_).subspan(composites_[i].first_cell, width);
    if (state_->admit(*rule_, cells, event_.timestamp(), event_.slot)) {
      ranks.push_back(i - first_composite_);
    }
  }
  if (first_composite_ + ranks.size() < size()) keep_composites(ranks);
}

/// Leaves the composites of the terminator in hand that are named, in their order.
void CompositeSink::keep_composites(std::span<const std::size_t> ranks) {
  const std::size_t count = size() - first_composite_;
  const std::size_t kept = ranks.size();
  const std::size_t width = rule_->assignments.size();
  const std::size_t length = keep_sequences_ ? rule_->states.size() : 0;
  take_in_order(ranks, width, first_cell_, cells_);
  take_in_order(ranks, length, first_event_, events_);
  take_in_order(ranks, rule_->consuming.size(), 0, consumption_);
  for (std::size_t i = 0; i < kept; ++i) {
    composites_[first_composite_ + i] = {
        .terminator = terminator_,
        .sequence = static_cast<std::uint32_t>(i),
        .first_cell = static_cast<std::uint32_t>(first_cell_ + i * width),
        .first_event = static_cast<std::uint32_t>(first_event_ + i * length)};
  }
  composites_.resize(first_composite_ + kept);
  if (held_ == nullptr) return;
  held_->add(std::exchange(unknown_, 0));
  held_->remove((count - kept) * each_);
}

bool CompositeSink::is_before(const Composite& a, const Composite& b) const {
  for (const OrderKey& key : rule_->order) {
    const Datum& x = cells_[a.first_cell + key.attribute];
    const Datum& y = cells_[b.first_cell + key.attribute];
    if (is_nan(x) || is_nan(y)) {
      if (is_nan(x) != is_nan(y)) return is_nan(y);
      continue;
    }
    if (comes_before(x, y)) return !key.descending;
    if (comes_before(y, x)) return key.descending;
  }
  return false;
}

void CompositeSink::commit() {
  if (!rule_->order.empty() || rule_->limit) rank();
  if (rule_->at_most && !keep_sequences_) {
    settling_ = true;
    cut();
  }
  consume();
  settling_ = open_ = false;
  done_ = terminator_ + 1;
}

/// Consumption waits until the commit: the sequences of one terminator do not see each other's.
/// When it throws, nothing was consumed.
void CompositeSink::consume() {
  try {
    for (const Consumption& c : consumption_) state_->consumed[c.state].insert(c.slot, c.by);
  } catch (const std::bad_alloc&) {
    for (const Consumption& c : consumption_) state_->consumed[c.state].take_back(c.slot, c.by);
    throw;
  }
}

void CompositeSink::discard() {
  if (held_ != nullptr) {
    held_->add(std::exchange(unknown_, 0));
    held_->remove((size() - first_composite_) * each_);
  }
  composites_.resize(first_composite_);
  cells_.resize(first_cell_);
  events_.resize(first_event_);
  texts_.resize(first_text_);
  open_ = false;
}

void CompositeSink::overflow() {
  discard();
  ++overflows_;
  done_ = terminator_ + 1;
}

std::size_t CompositeSink::abandon() {
  if (open_) discard();
  return done_;
}

void CompositeSink::append(const CompositeSink& from, std::size_t first, std::size_t last,
                           std::uint32_t first_terminator) {
  if (first == last) return;
  const std::size_t width = rule_->assignments.size(), length = rule_->states.size();
  done_ = std::min<std::size_t>(done_, first_terminator);
  begin(first_terminator);
  const auto copy = [](const auto& all, std::size_t begin, std::size_t count, auto& to) {
    const auto at = all.begin() + static_cast<std::ptrdiff_t>(begin);
    to.insert(to.end(), at, at + static_cast<std::ptrdiff_t>(count));
  };
  const std::size_t first_cell = cells_.size(), first_event = events_.size();
  copy(from.cells_, from.composites_[first].first_cell, (last - first) * width, cells_);
  for (std::size_t column = 0; column < width; ++column) {
    if (!plan::computes_text(rule_->assignments[column])) continue;
    for (std::size_t i = first_cell + column; i < cells_.size(); i += width) {
      cells_[i] = keep(cells_[i]);
    }
  }
  if (keep_sequences_) {
    copy(from.events_, from.composites_[first].first_event, (last - first) * length, events_);
  }
  copy(from.composites_, first, last - first, composites_);
  for (std::size_t i = 0; i < last - first; ++i) {
    Composite& composite = composites_[first_composite_ + i];
    composite.terminator += first_terminator;
    composite.first_cell = static_cast<std::uint32_t>(first_cell + i * width);
    composite.first_event =
        static_cast<std::uint32_t>(first_event + (keep_sequences_ ? i * length : 0));
  }
  if (held_ != nullptr) hold((last - first) * each_);
  open_ = false;
}

}  // namespace gorgo::engine
