#include "engine/cuda/state_choice.hpp"

#include <algorithm>

#include "engine/window.hpp"

namespace gorgo::engine {
namespace {

using gpu::Want;
using history::EventRef;
using history::Range;

/// There may be at most so many candidates: beyond that, depth first needs less memory.
constexpr std::size_t kMostCandidates = 1 << 26;
/// The factor by which the next search for candidates looks further than the last.
constexpr std::uint64_t kGrowth = 8;

}  // namespace

StateChoice::StateChoice(const PassInput& input, SequenceTable& table)
    : input_(input), table_(table), inside_(input) {
  open_.reserve(table.rows());
  candidates_.reserve(table.rows());
  for (std::uint32_t t = 0; t < table.rows(); ++t) {
    open_.push_back({.row = t, .rest = {}, .wanted = 1, .asked = kAll});
    candidates_.push_back({.open = t, .position = t});
  }
}

bool StateChoice::begin_next() {
  ++state_;
  open_.clear();
  candidates_.clear();
  accepted_.clear();
  for (std::uint32_t r = 0; r < table_.rows(); ++r) {
    const Interval interval = window_of(rule_state(), table_.row(r));
    const Range range = input_.window(input_.plan.states[state_ - 1], interval);
    if (range.empty()) continue;
    const std::uint64_t wanted = is_each() ? kAll : rule_state().k;
    open_.push_back({.row = r, .rest = range, .wanted = wanted, .asked = 0});
  }
  return !open_.empty();
}

void StateChoice::request(SearchQueue& queue) {
  candidates_.clear();
  inside_.clear();
  for (std::uint32_t i = 0; i < open_.size(); ++i) {
    if (!open_[i].closed) request(i, queue);
  }
}

void StateChoice::request(std::uint32_t number, SearchQueue& queue) {
  Open& open = open_[number];
  const auto negations = inside_.add(state_, table_.row(open.row), open.rest, open.asked);
  const bool is_first = open.asked == 0 || negations;
  const std::uint64_t next = is_first ? open.wanted : open.asked * kGrowth;
  const std::uint64_t limit = std::min(next, open.rest.size());
  QueuedSearch search{.owner = this,
                      .scan = &input_.plan.states[state_ - 1],
                      .range = open.rest,
                      .want = from_newest() ? Want::newest : Want::oldest,
                      .limit = static_cast<std::uint32_t>(limit),
                      .subject = number,
                      .negations = negations};
  open.asked = limit;
  if (is_each() || limit > SearchQueue::kMostSelected) {
    search.want = Want::every;
    open.asked = kAll;
  }
  queue.add(search);
}

std::span<const EventRef> StateChoice::sequence_of(const QueuedSearch& search) {
  return table_.row(open_[search.subject].row);
}

std::span<const InsideNegation> StateChoice::negations_of(const QueuedSearch& search) const {
  if (!search.negations) return {};
  return inside_.at(state_, *search.negations);
}

/// Nobody waits for the answer when the terminator has too many sequences.
bool StateChoice::is_moot(const QueuedSearch& search) const {
  return table_.overflowed(table_.terminator_of(open_[search.subject].row));
}

void StateChoice::take_offsets(const QueuedSearch& search, std::span<const std::uint32_t> offsets) {
  Open& open = open_[search.subject];
  const bool is_verified = search.negations.has_value();
  const auto add = [&](std::uint32_t offset) {
    candidates_.push_back({.open = search.subject,
                           .position = search.range.first + offset,
                           .is_verified = is_verified});
  };
  if (search.want == Want::every && from_newest()) {
    std::for_each(offsets.rbegin(), offsets.rend(), add);
  } else {
    std::for_each(offsets.begin(), offsets.end(), add);
  }
  open.closed = open.asked == kAll || offsets.size() < open.asked || is_verified;
  if (!open.closed && from_newest()) open.rest.last = search.range.first + offsets.back();
  if (!open.closed && !from_newest()) open.rest.first = search.range.first + offsets.back() + 1;

  too_large_ = too_large_ || (candidates_.size() > kMostRows && table_.terminators() > 1);
  if (candidates_.size() > kMostCandidates) {
    throw gpu::DeviceError("a terminator has too many candidates", false);
  }
}

void StateChoice::take_nothing(const QueuedSearch& search) { open_[search.subject].closed = true; }

/// Every candidate of `each` is a sequence unless a negation rejects it later.
void StateChoice::take_count(const QueuedSearch& search) {
  const bool is_verified = search.negations || input_.plan.plan->states[state_].negations.empty();
  if (!is_verified || !is_each()) return;
  if (search.count > input_.rule().options.max_sequences) {
    table_.set_overflowed(table_.terminator_of(open_[search.subject].row));
  }
}

std::span<const EventRef> StateChoice::sequence_of(const Candidate& candidate) {
  const auto before = table_.row(open_[candidate.open].row);
  sequence_.assign(before.begin(), before.end());
  sequence_.push_back(input_.event(state_, candidate.position));
  return sequence_;
}

bool StateChoice::settle() {
  for (const Candidate& candidate : candidates_) {
    Open& open = open_[candidate.open];
    if (candidate.violates || open.wanted == 0) continue;
    if (open.wanted != kAll) --open.wanted;
    accepted_.push_back({open.row, candidate.position});
  }
  bool any_open = false;
  for (Open& open : open_) {
    open.closed = open.closed || open.wanted == 0 || state_ == 0;
    any_open = any_open || !open.closed;
  }
  return any_open;
}

/// Rows come in order, and their events in order of time. What was searched from the newest stands
/// the other way round.
std::span<const SequenceTable::Extension> StateChoice::accepted() {
  if (!std::ranges::is_sorted(accepted_)) std::ranges::sort(accepted_);
  return accepted_;
}

}  // namespace gorgo::engine
