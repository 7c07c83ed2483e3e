#include "engine/cuda/search_queue.hpp"

#include <algorithm>
#include <array>

namespace gorgo::engine {
namespace {

using gpu::Want;

/// The most searches of a queue in one round.
constexpr std::size_t kMostAsked = 1 << 17;

}  // namespace

/// Whether the range alone says what is found, since all of it passes.
bool SearchQueue::is_known(const QueuedSearch& search) const {
  const Program& program = search.scan->program;
  const bool passes_all = in_order_ && !search.negations && program.tests.empty() &&
                          program.code.empty() && program.guards.empty();
  if (!passes_all || search.range.empty()) return false;
  return search.want == Want::reduction
             ? program.reduced == gpu::kNone
             : search.want == Want::oldest || search.want == Want::newest;
}

bool SearchQueue::ask(RoundWriter& writer) {
  bool any = false, full = false;
  for (asked_ = 0; next_ + asked_ < searches_.size() && asked_ < kMostAsked; ++asked_) {
    QueuedSearch& search = searches_[next_ + asked_];
    search.answer.reset();
    if (search.owner->is_moot(search) || is_known(search)) continue;
    if (search.want == Want::every && search.count != QueuedSearch::kUncounted) {
      full = !writer.has_room(search.count);
      if (full) break;
      writer.expect(search.count);
    }
    search.answer =
        writer.add(*search.scan, search.range, search.owner->sequence_of(search), in_order_,
                   search.want, search.limit, search.owner->negations_of(search));
    any = any || search.answer;
  }
  // If the round is full, the rest is asked in a later one, even if nothing was asked in this one.
  if (any || full) return true;
  take(gpu::Answers{});
  return false;
}

void SearchQueue::take(const gpu::Answers& answers) {
  if (!answers.listed_all && count_lists(answers)) return;
  for (const QueuedSearch& search : asked()) take(search, answers);
  next_ += asked_;
}

/// Takes the numbers when too much was to be listed: with them, the next round asks for a part.
/// Returns false when nothing of it was for this queue.
bool SearchQueue::count_lists(const gpu::Answers& answers) {
  bool again = false;
  for (QueuedSearch& search : asked()) {
    if (search.want != Want::every || !search.answer) continue;
    const std::uint32_t i = search.answer->search;
    search.count = answers.every[i + 1] - answers.every[i];
    search.owner->take_count(search);
    again = true;
  }
  return again;
}

void SearchQueue::take(const QueuedSearch& search, const gpu::Answers& answers) const {
  SearchOwner& owner = *search.owner;
  if (!search.answer) {
    const bool is_nothing = owner.is_moot(search) || !is_known(search);
    return is_nothing ? owner.take_nothing(search) : take_known(search);
  }
  const auto [i, output] = *search.answer;
  switch (search.want) {
    case Want::oldest:
      return owner.take_offsets(search, answers.selected.subspan(output, answers.oldest[i]));
    case Want::newest:
      return owner.take_offsets(search, answers.selected.subspan(output, answers.newest[i]));
    case Want::every: {
      const std::uint64_t first = answers.every[i];
      return owner.take_offsets(search,
                                answers.listed.subspan(first, answers.every[i + 1] - first));
    }
    case Want::reduction:
      return owner.take_reduction(search, answers.reductions[i]);
    case Want::sum:
      return owner.take_sum(search, answers.sums[i]);
  }
}

void SearchQueue::take_known(const QueuedSearch& search) {
  const std::uint64_t size = search.range.size();
  if (search.want == Want::reduction) {
    return search.owner->take_reduction(search, {.count = size});
  }
  std::array<std::uint32_t, kMostSelected> offsets;
  const std::size_t count = std::min<std::uint64_t>(search.limit, size);
  for (std::size_t i = 0; i < count; ++i) {
    offsets[i] = static_cast<std::uint32_t>(search.want == Want::newest ? size - 1 - i : i);
  }
  search.owner->take_offsets(search, std::span(offsets).first(count));
}

}  // namespace gorgo::engine
