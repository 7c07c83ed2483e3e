#include "engine/cuda/wave.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

#include "history/evaluate.hpp"

namespace gorgo::engine {
namespace {

using gpu::Want;
using history::EventRef;
using history::Range;

/// The most searches of a wave in one round.
constexpr std::size_t kMostAsked = 1 << 17;

}  // namespace

Wave::Wave(DevicePlan& plan, const Terminators& terminators, const RuleState& state)
    : plan_(plan),
      terminators_(terminators),
      rule_state_(state),
      overflowed_(terminators.slots.size()),
      is_aggregated_(plan.aggregates.size()) {
  terminator_of_.reserve(terminators.slots.size());
  open_.reserve(terminators.slots.size());
  candidates_.reserve(terminators.slots.size());
  for (std::uint32_t t = 0; t < terminators.slots.size(); ++t) {
    terminator_of_.push_back(t);
    open_.push_back({.row = t, .rest = {}, .wanted = 1, .asked = kUnknown});
    candidates_.push_back({.open = t, .position = t});
  }
  request_verification();
}

EventRef Wave::event_of(std::uint64_t position) const {
  if (state_ == 0) return {plan_.terminators, terminators_.slots[position]};
  return plan_.states[state_ - 1].event(position);
}

Range Wave::window(DeviceScan& scan, Interval interval) const {
  interval = visible(interval, rule_state_);
  return scan.near = scan.timeline->window(interval.after, interval.before, scan.near);
}

/// What the request's conditions read; valid until the next call.
std::span<const EventRef> Wave::sequence_of(const Request& request) {
  if (request.is_aggregate()) return row(groups_[request.subject].first_row);
  if (step_ == Step::choose) return row(open_[request.subject].row);
  const Candidate& candidate = candidates_[request.subject];
  const auto before = row(open_[candidate.open].row);
  sequence_.assign(before.begin(), before.end());
  sequence_.push_back(event_of(candidate.position));
  return sequence_;
}

/// Whether nobody waits for the answer, since the terminator has too many sequences.
bool Wave::is_moot(const Request& request) const {
  return step_ == Step::choose && !request.is_aggregate() &&
         overflowed_[terminator_of_[open_[request.subject].row]];
}

/// Whether the range alone says what is found, since all of it passes.
bool Wave::is_known(const Request& request) const {
  const Program& program = request.scan->program;
  const bool passes_all = terminators_.in_order && request.inside == kApart &&
                          program.tests.empty() && program.code.empty() && program.guards.empty();
  if (!passes_all || request.range.empty()) return false;
  return request.want == Want::reduction
             ? program.reduced == gpu::kNone
             : request.want == Want::oldest || request.want == Want::newest;
}

bool Wave::ask(RoundWriter& writer) {
  while (step_ != Step::done && !too_large_) {
    if (next_request_ == requests_.size()) {
      advance();
      continue;
    }
    bool any = false, full = false;
    for (asked_ = 0; next_request_ + asked_ < requests_.size() && asked_ < kMostAsked; ++asked_) {
      Request& request = requests_[next_request_ + asked_];
      request.answer.reset();
      if (is_moot(request) || is_known(request)) continue;
      if (request.want == Want::every && request.count != kUnknown) {
        full = !writer.has_room(request.count);
        if (full) break;
        writer.expect(request.count);
      }
      request.answer =
          writer.add(*request.scan, request.range, sequence_of(request), terminators_.in_order,
                     request.want, request.limit, inside_of(request));
      any = any || request.answer;
    }
    // If the round is full, the rest is asked in a later one, even if nothing was asked in this
    // one.
    if (any || full) return true;
    take(gpu::Answers{});
  }
  return false;
}

void Wave::take(const gpu::Answers& answers) {
  if (!answers.listed_all && count_lists(answers)) return;
  for (const Request& request : std::span(requests_).subspan(next_request_, asked_)) {
    take(request, answers);
  }
  next_request_ += asked_;
}

/// Takes the numbers when too much was to be listed: with them, the next round asks for a part.
/// Returns false when nothing of it was for this wave.
bool Wave::count_lists(const gpu::Answers& answers) {
  bool again = false;
  for (Request& request : std::span(requests_).subspan(next_request_, asked_)) {
    if (request.want != Want::every || !request.answer) continue;
    const std::uint32_t i = request.answer->search;
    request.count = answers.every[i + 1] - answers.every[i];
    again = true;
    const bool is_verified = request.inside != kApart || !has_negations();
    if (step_ != Step::choose || !is_verified || selection() != Selection::each) continue;
    if (request.count > rule().options.max_sequences) {
      overflowed_[terminator_of_[open_[request.subject].row]] = true;
    }
  }
  return again;
}

void Wave::take(const Request& request, const gpu::Answers& answers) {
  if (!request.answer) {
    return is_moot(request) || !is_known(request) ? take_nothing(request) : take_known(request);
  }
  const auto [i, output] = *request.answer;
  switch (request.want) {
    case Want::oldest:
      return take_offsets(request, answers.selected.subspan(output, answers.oldest[i]));
    case Want::newest:
      return take_offsets(request, answers.selected.subspan(output, answers.newest[i]));
    case Want::every:
      return take_offsets(request, answers.listed.subspan(answers.every[i],
                                                          answers.every[i + 1] - answers.every[i]));
    case Want::reduction:
      return take_reduction(request, answers.reductions[i]);
    case Want::sum:
      return take_sum(request, answers.sums[i]);
  }
}

void Wave::take_known(const Request& request) {
  const std::uint64_t size = request.range.size();
  if (request.want == Want::reduction) return take_reduction(request, {.count = size});
  std::array<std::uint32_t, kMostSelected> offsets;
  const std::size_t count = std::min<std::uint64_t>(request.limit, size);
  for (std::size_t i = 0; i < count; ++i) {
    offsets[i] = static_cast<std::uint32_t>(request.want == Want::newest ? size - 1 - i : i);
  }
  take_offsets(request, std::span(offsets).first(count));
}

void Wave::finish() {
  step_ = Step::done;
  first_row_.assign(terminators() + 1, 0);
  for (const std::uint32_t terminator : terminator_of_) ++first_row_[terminator + 1];
  std::partial_sum(first_row_.begin(), first_row_.end(), first_row_.begin());
  std::ranges::stable_sort(reliances_, {}, &Reliance::terminator);
}

void Wave::report(std::size_t r, CompositeSink& sink) const {
  const std::size_t aggregates = rule().aggregates.size();
  const auto values = std::span<const Datum>(values_).subspan(r * aggregates, aggregates);
  const history::Scope scope{.candidate = {}, .states = row(r), .aggregates = values};
  const bool passes = std::ranges::all_of(rule().filters, [&](const Filter& filter) {
    return history::holds(filter.condition, scope);
  });
  if (passes) sink.accept(row(r), values);
}

std::span<const Wave::Reliance> Wave::reliances_of(std::uint32_t terminator) const {
  const auto first_of = [&](std::uint32_t t) {
    return std::ranges::lower_bound(reliances_, t, {}, &Reliance::terminator);
  };
  return {first_of(terminator), first_of(terminator + 1)};
}

}  // namespace gorgo::engine
