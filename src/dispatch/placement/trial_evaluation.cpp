#include "dispatch/placement/trial_evaluation.hpp"

#include <algorithm>
#include <bit>
#include <chrono>
#include <new>

#include "base/since.hpp"
#include "codec/event_notation.hpp"
#include "dispatch/placement/tuning.hpp"

namespace gorgo::dispatch {
namespace {

bool is_same(const Datum& a, const Datum& b) {
  if (a.tag != b.tag) return false;
  if (a.tag == Datum::Tag::string) return a.text() == b.text();
  if (a.tag == Datum::Tag::floating) {
    return std::bit_cast<std::uint64_t>(a.floating) == std::bit_cast<std::uint64_t>(b.floating);
  }
  return a.tag == Datum::Tag::none ||
         (a.tag == Datum::Tag::boolean ? a.boolean == b.boolean : a.integer == b.integer);
}

/// A composite by the position of its terminator and its values.
struct Found {
  std::size_t terminator;
  std::span<const Datum> cells;

  bool operator==(const Found& other) const {
    return terminator == other.terminator &&
           std::equal(cells.begin(), cells.end(), other.cells.begin(), other.cells.end(), is_same);
  }
};

/// The composites of the first `terminators` terminators.
std::vector<Found> composites_of(const Outcome& outcome, std::size_t terminators,
                                 std::size_t width) {
  std::vector<Found> list;
  for (const Outcome::Part& part : outcome.parts) {
    for (std::size_t i = part.first_composite; i < part.end_composite; ++i) {
      const auto& composite = part.sink->composites()[i];
      if (part.first_terminator + composite.terminator >= terminators) return list;
      list.push_back({part.first_terminator + composite.terminator,
                      part.sink->cells().subspan(composite.first_cell, width)});
    }
  }
  return list;
}

std::string text_of(const Found& composite, const EventType& type, Timestamp time) {
  Event event{.type = type.name, .timestamp = time, .attributes = {}};
  for (std::size_t i = 0; i < composite.cells.size(); ++i) {
    const Datum& cell = composite.cells[i];
    if (cell.exists()) event.attributes.push_back({type.attributes[i].name, to_value(cell)});
  }
  return codec::notation_of(event);
}

}  // namespace

bool TrialEvaluation::remember(const DeployedRule& rule) {
  std::size_t copied = rule.state.timed().produced.keys();
  for (const auto& slots : rule.state.consumed) copied += slots.size();
  if (static_cast<double>(copied) * tuning::kTakeIn > tuning::kTry) return false;
  try {
    state_.emplace(rule.rule());
    state_->deployed_at = rule.state.deployed_at;
    state_->consumed = rule.state.consumed;
    if (rule.rule().at_most) state_->own_timed().produced = rule.state.timed().produced;
  } catch (const std::bad_alloc&) {
    state_.reset();
    return false;
  }
  return true;
}

void TrialEvaluation::evaluate(const DeployedRule& rule, const EngineEntry& entry,
                               const engine::Terminators& terminators, const engine::Budget& budget,
                               double most) {
  const auto start = std::chrono::steady_clock::now();
  sink_.clear();
  outcome_.parts.clear();
  done_ = 0;
  // As many as are done already come next, so that the time is exceeded by a factor at most.
  while (done_ < terminators.slots.size()) {
    const auto rest = terminators.slots.subspan(done_);
    const std::size_t some = entry.engine->is_device()
                                 ? rest.size()
                                 : std::min(rest.size(), std::max<std::size_t>(1, done_));
    engine::Request request{.evaluator = entry.evaluators.front().get(),
                            .rule = &rule.rule(),
                            .state = &*state_,
                            .terminators = {rest.first(some), terminators.ordered_before},
                            .sink = &sink_};
    entry.engine->evaluate({&request, 1}, budget);
    outcome_.parts.push_back({&sink_, request.first_composite, request.end_composite, done_});
    done_ += request.done;
    if (request.done < some || nanoseconds_since(start) >= most) return;
  }
}

std::optional<TrialEvaluation::Difference> TrialEvaluation::difference(
    const DeployedRule& rule, const Schema& schema, std::span<const history::Slot> terminators,
    const Outcome& outcome) const {
  const EventType& type = schema.at(rule.rule().type);
  const std::size_t width = rule.rule().assignments.size();
  const auto own = composites_of(outcome, terminators.size(), width);
  const auto other = composites_of(outcome_, terminators.size(), width);
  if (own == other) return std::nullopt;
  const auto [a, b] = std::mismatch(own.begin(), own.end(), other.begin(), other.end());
  const std::size_t at = std::min(a == own.end() ? ~std::size_t{0} : a->terminator,
                                  b == other.end() ? ~std::size_t{0} : b->terminator);
  const Timestamp time = rule.terminators->store().timestamp(terminators[at]);
  const std::string own_text = a == own.end() ? "nothing" : text_of(*a, type, time);
  const std::string other_text = b == other.end() ? "nothing" : text_of(*b, type, time);
  return Difference{terminators[at], "of the terminator at " + std::to_string(time) + " ns, " +
                                         own_text + " against " + other_text + ", " +
                                         std::to_string(own.size()) + " against " +
                                         std::to_string(other.size()) + " composites of " +
                                         std::to_string(terminators.size()) + " terminators"};
}

}  // namespace gorgo::dispatch
