#include "engine/cuda/rule_search.hpp"

#include <algorithm>
#include <utility>

#include "engine/cuda/paging.hpp"

namespace gorgo::engine {
namespace {

/// At most so many passes are worth it: each costs a round trip for each state, whatever it
/// settles.
constexpr std::size_t kMostPasses = 16;

}  // namespace

RuleSearch::RuleSearch(DevicePlan& plan, const Terminators& terminators, const RuleState& state)
    : plan_(plan),
      terminators_(terminators),
      rule_state_(state),
      settled_(terminators.slots.size()) {
  if (rule().consuming.empty()) return;
  expected_ = std::make_unique<RuleState>(rule());
  for (std::uint32_t t = 0; t < settled_; ++t) locations_.push_back({0, t});
}

void RuleSearch::take_part() {
  for (const FieldPages& need : reachable_pages(plan_, terminators_)) {
    need.field->need(need.pages);
  }
}

void RuleSearch::add_pass(std::vector<history::Slot> slots, const Terminators& terminators) {
  auto search = std::make_unique<SearchPass>(plan_, terminators, rule_state_);
  passes_.push_back(
      {.slots = std::move(slots), .search = std::move(search), .produces = {}, .consumes = {}});
}

bool RuleSearch::ask(RoundWriter& writer) {
  if (passes_.empty()) add_pass({}, terminators_);
  for (const std::uint32_t state : rule().consuming) {
    marks(state).follow(rule_state_.consumed[state], expected_->consumed[state]);
  }
  while (!passes_.back().search->ask(writer)) {
    if (is_too_large() || !begin_pass()) return false;
  }
  return true;
}

/// Begins a pass for the terminators that need another one. Returns false when there are none or it
/// would not pay.
bool RuleSearch::begin_pass() {
  if (!expected_) return false;
  find_products(passes_.back());
  settle();
  settled_ = unsettled_.empty() ? terminators() : unsettled_.front();
  if (unsettled_.empty() || passes_.size() == kMostPasses) return false;
  const auto pass = static_cast<std::uint32_t>(passes_.size());
  std::vector<history::Slot> slots;
  for (const std::uint32_t t : unsettled_) {
    locations_[t] = {pass, static_cast<std::uint32_t>(slots.size())};
    slots.push_back(terminators_.slots[t]);
  }
  const Terminators terminators{slots, terminators_.ordered_before};
  add_pass(std::move(slots), terminators);
  return true;
}

void RuleSearch::find_products(Pass& pass) {
  CompositeSink sink;
  sink.begin_rule(rule(), *expected_, false);
  const auto count = static_cast<std::uint32_t>(pass.search->terminators());
  const std::size_t rows = pass.search->rows_of(count - 1).last;
  pass.consumes.resize(rows);
  for (std::size_t r = 0; r < rows; ++r) {
    sink.clear();
    sink.begin(0);
    pass.search->report(r, sink);
    pass.produces.push_back(sink.size() > 0);
  }
}

void RuleSearch::settle() {
  for (const std::uint32_t state : rule().consuming) expected_->consumed[state] = {};
  unsettled_.clear();
  expects_any_ = revoked_ = false;
  for (std::uint32_t t = 0; t < locations_.size(); ++t) {
    if (stands(locations_[t])) {
      expect(locations_[t]);
    } else {
      forget(locations_[t]);
      unsettled_.push_back(t);
    }
  }
}

/// Whether the terminator finds the same after all that those before it are expected to consume.
bool RuleSearch::stands(const Location& location) const {
  const SearchPass& search = *passes_[location.pass].search;
  if (revoked_ && location.pass > 0) return false;
  const bool knew_all = location.pass + 1 == passes_.size() && location.number == 0;
  if (search.overflowed(location.number)) return !expects_any_ || knew_all;
  const auto dependencies = search.dependencies_of(location.number);
  return std::ranges::none_of(dependencies, [&](const SearchPass::Dependency& dependency) {
    return expected_->consumed[dependency.state].contains(dependency.slot);
  });
}

/// Expects the terminator to consume. Its sequences do not see each other's consumption.
void RuleSearch::expect(const Location& location) {
  Pass& pass = passes_[location.pass];
  const auto [first, last] = pass.search->rows_of(location.number);
  for (std::size_t r = first; r < last; ++r) {
    const bool consumes = pass.produces[r] && !lost(pass.search->row(r), *expected_);
    if (pass.consumes[r] && !consumes) revoked_ = true;
    if (consumes && !pass.consumes[r]) {
      for (const std::uint32_t state : rule().consuming) {
        marks(state).changed(pass.search->row(r)[state].slot);
      }
    }
    pass.consumes[r] = consumes;
  }
  for (std::size_t r = first; r < last; ++r) {
    if (!pass.consumes[r]) continue;
    expects_any_ = true;
    const auto row = pass.search->row(r);
    for (const std::uint32_t state : rule().consuming) {
      expected_->consumed[state].insert(row[state].slot, row[0].slot);
    }
  }
}

void RuleSearch::forget(const Location& location) {
  Pass& pass = passes_[location.pass];
  const auto [first, last] = pass.search->rows_of(location.number);
  for (std::size_t r = first; r < last; ++r) {
    revoked_ = revoked_ || pass.consumes[r];
    pass.consumes[r] = false;
  }
}

bool RuleSearch::lost(std::span<const history::EventRef> row, const RuleState& state) const {
  return std::ranges::any_of(
      rule().consuming, [&](std::uint32_t i) { return state.consumed[i].contains(row[i].slot); });
}

/// Returns false when the sink is full; then nothing of the terminator was reported.
bool RuleSearch::report(std::uint32_t t, CompositeSink& sink) const {
  const Location location = expected_ ? locations_[t] : Location{0, t};
  const SearchPass& search = *passes_[location.pass].search;
  if (search.overflowed(location.number)) {
    sink.overflow();
    return true;
  }
  const auto [first, last] = search.rows_of(location.number);
  for (std::size_t r = first; r < last && !sink.is_full(); ++r) {
    // The sink consumes what it accepts, terminator by terminator.
    if (!lost(search.row(r), rule_state_)) search.report(r, sink);
  }
  sink.is_full() ? sink.discard() : sink.commit();
  return !sink.is_full();
}

void RuleSearch::prepare_report() {
  constexpr std::size_t kMostPrepared = 1 << 18;  // composites, which are in memory twice then
  if (expected_) return;
  RuleState nothing(rule());
  prepared_.begin_rule(rule(), nothing, plan_.plan->deadline.has_value());
  for (std::uint32_t t = 0; t < settled_ && prepared_.size() < kMostPrepared; ++t) {
    prepared_.begin(t);
    report(t, prepared_);
    ends_.push_back(prepared_.size());
  }
}

std::size_t RuleSearch::report_prepared(std::uint32_t first_terminator, const Budget& budget,
                                        CompositeSink& sink) const {
  std::size_t t = 0, end = 0;
  for (; t < ends_.size(); ++t) {
    const std::size_t number = first_terminator + t;
    if (budget.stopped() || !sink.has_room(static_cast<std::uint32_t>(number), end)) break;
    if (passes_[0].search->overflowed(static_cast<std::uint32_t>(t))) {
      sink.begin(static_cast<std::uint32_t>(number));
      sink.overflow();
    }
    end = ends_[t];
  }
  sink.append(prepared_, 0, end, first_terminator);
  return t;
}

std::size_t RuleSearch::report(std::uint32_t first_terminator, const Budget& budget,
                               CompositeSink& sink) {
  const auto prepared = static_cast<std::uint32_t>(report_prepared(first_terminator, budget, sink));
  if (prepared < ends_.size()) return prepared;
  for (std::uint32_t t = prepared; t < settled_; ++t) {
    const std::uint32_t number = first_terminator + t;
    if (budget.stopped() || !sink.has_room(number)) return t;
    sink.begin(number);
    if (!report(t, sink)) return t;
  }
  return settled_;
}

}  // namespace gorgo::engine
