#include "engine/cuda/work.hpp"

#include <algorithm>
#include <utility>

#include "engine/cuda/paging.hpp"

namespace gorgo::engine {
namespace {

/// At most so many waves are worth it: each costs a round trip for each state, whatever it settles.
constexpr std::size_t kMostWaves = 16;

}  // namespace

Work::Work(DevicePlan& plan, const Terminators& terminators, const RuleState& state)
    : plan_(plan),
      terminators_(terminators),
      rule_state_(state),
      settled_(terminators.slots.size()) {
  if (rule().consuming.empty()) return;
  expected_ = std::make_unique<RuleState>(rule());
  for (std::uint32_t t = 0; t < settled_; ++t) fates_.push_back({0, t});
}

void Work::take_part() {
  for (const Need& need : needs_of(plan_, terminators_)) {
    need.field->need(need.pages);
  }
}

void Work::add_run(std::vector<history::Slot> slots, const Terminators& terminators) {
  auto wave = std::make_unique<Wave>(plan_, terminators, rule_state_);
  runs_.push_back(
      {.slots = std::move(slots), .wave = std::move(wave), .produces = {}, .consumes = {}});
}

bool Work::ask(RoundWriter& writer) {
  if (runs_.empty()) add_run({}, terminators_);
  for (const std::uint32_t state : rule().consuming) {
    marks(state).follow(rule_state_.consumed[state], expected_->consumed[state]);
  }
  while (!runs_.back().wave->ask(writer)) {
    if (is_too_large() || !begin_wave()) return false;
  }
  return true;
}

/// Begins a wave for the terminators that need another one. Returns false when there are none or it
/// would not pay.
bool Work::begin_wave() {
  if (!expected_) return false;
  find_products(runs_.back());
  settle();
  settled_ = again_.empty() ? terminators() : again_.front();
  if (again_.empty() || runs_.size() == kMostWaves) return false;
  const auto run = static_cast<std::uint32_t>(runs_.size());
  std::vector<history::Slot> slots;
  for (const std::uint32_t t : again_) {
    fates_[t] = {run, static_cast<std::uint32_t>(slots.size())};
    slots.push_back(terminators_.slots[t]);
  }
  const Terminators terminators{slots, terminators_.in_order};
  add_run(std::move(slots), terminators);
  return true;
}

void Work::find_products(Run& run) {
  CompositeSink sink;
  sink.begin_rule(rule(), *expected_, false);
  const auto count = static_cast<std::uint32_t>(run.wave->terminators());
  const std::size_t rows = run.wave->rows_of(count - 1).last;
  run.consumes.resize(rows);
  for (std::size_t r = 0; r < rows; ++r) {
    sink.clear();
    sink.begin(0);
    run.wave->report(r, sink);
    run.produces.push_back(sink.size() > 0);
  }
}

void Work::settle() {
  for (const std::uint32_t state : rule().consuming) expected_->consumed[state] = {};
  again_.clear();
  expects_any_ = revoked_ = false;
  for (std::uint32_t t = 0; t < fates_.size(); ++t) {
    if (stands(fates_[t])) {
      expect(fates_[t]);
    } else {
      forget(fates_[t]);
      again_.push_back(t);
    }
  }
}

/// Whether the terminator finds the same after all that those before it are expected to consume.
bool Work::stands(const Fate& fate) const {
  const Wave& wave = *runs_[fate.run].wave;
  if (revoked_ && fate.run > 0) return false;
  const bool knew_all = fate.run + 1 == runs_.size() && fate.number == 0;
  if (wave.overflowed(fate.number)) return !expects_any_ || knew_all;
  const auto reliances = wave.reliances_of(fate.number);
  return std::ranges::none_of(reliances, [&](const Wave::Reliance& reliance) {
    return expected_->consumed[reliance.state].contains(reliance.slot);
  });
}

/// Expects the terminator to consume. Its sequences do not see each other's consumption.
void Work::expect(const Fate& fate) {
  Run& run = runs_[fate.run];
  const auto [first, last] = run.wave->rows_of(fate.number);
  for (std::size_t r = first; r < last; ++r) {
    const bool consumes = run.produces[r] && !lost(run.wave->row(r), *expected_);
    if (run.consumes[r] && !consumes) revoked_ = true;
    if (consumes && !run.consumes[r]) {
      for (const std::uint32_t state : rule().consuming) {
        marks(state).changed(run.wave->row(r)[state].slot);
      }
    }
    run.consumes[r] = consumes;
  }
  for (std::size_t r = first; r < last; ++r) {
    if (!run.consumes[r]) continue;
    expects_any_ = true;
    const auto row = run.wave->row(r);
    for (const std::uint32_t state : rule().consuming) {
      expected_->consumed[state].insert(row[state].slot, row[0].slot);
    }
  }
}

void Work::forget(const Fate& fate) {
  Run& run = runs_[fate.run];
  const auto [first, last] = run.wave->rows_of(fate.number);
  for (std::size_t r = first; r < last; ++r) {
    revoked_ = revoked_ || run.consumes[r];
    run.consumes[r] = false;
  }
}

bool Work::lost(std::span<const history::EventRef> row, const RuleState& state) const {
  return std::ranges::any_of(
      rule().consuming, [&](std::uint32_t i) { return state.consumed[i].contains(row[i].slot); });
}

/// Returns false when the sink is full; then nothing of the terminator was reported.
bool Work::report(std::uint32_t t, CompositeSink& sink) const {
  const Fate fate = expected_ ? fates_[t] : Fate{0, t};
  const Wave& wave = *runs_[fate.run].wave;
  if (wave.overflowed(fate.number)) {
    sink.overflow();
    return true;
  }
  const auto [first, last] = wave.rows_of(fate.number);
  for (std::size_t r = first; r < last && !sink.is_full(); ++r) {
    // The sink consumes what it accepts, terminator by terminator.
    if (!lost(wave.row(r), rule_state_)) wave.report(r, sink);
  }
  sink.is_full() ? sink.discard() : sink.commit();
  return !sink.is_full();
}

void Work::prepare_report() {
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

std::size_t Work::report_prepared(std::uint32_t first_terminator, const Budget& budget,
                                  CompositeSink& sink) const {
  std::size_t t = 0, end = 0;
  for (; t < ends_.size(); ++t) {
    const std::size_t number = first_terminator + t;
    if (budget.stopped() || !sink.has_room(static_cast<std::uint32_t>(number), end)) break;
    if (runs_[0].wave->overflowed(static_cast<std::uint32_t>(t))) {
      sink.begin(static_cast<std::uint32_t>(number));
      sink.overflow();
    }
    end = ends_[t];
  }
  sink.append(prepared_, 0, end, first_terminator);
  return t;
}

std::size_t Work::report(std::uint32_t first_terminator, const Budget& budget,
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
