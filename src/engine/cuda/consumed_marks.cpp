#include "engine/cuda/consumed_marks.hpp"

#include <utility>

#include "base/arithmetic.hpp"

namespace gorgo::engine {

ConsumedMarks::ConsumedMarks(std::shared_ptr<DeviceContext> context, std::shared_ptr<Mirror> mirror,
                             const history::EventStore& store,
                             std::shared_ptr<const history::Timeline> timeline)
    : context_(std::move(context)),
      mirror_(std::move(mirror)),
      store_(store),
      timeline_(std::move(timeline)),
      marks_(mirror_->add_marks()) {}

ConsumedMarks::~ConsumedMarks() {
  const std::lock_guard lock(context_->mutex());
  mirror_->remove(marks_);
}

std::uint64_t ConsumedMarks::word(history::Slot slot) const {
  if (expected_->contains(slot)) return expected_->consumer(slot);
  return consumed_->contains(slot) ? consumed_->consumer(slot) : MirroredMarks::kUnmarked;
}

/// Searches by slot, since events of one time stand in the order of their slots.
std::optional<std::uint64_t> ConsumedMarks::position(history::Slot slot) const {
  if (slot < store_.begin()) return std::nullopt;
  const Timestamp time = store_.timestamp(slot);
  const history::Range range = timeline_->window(arithmetic::saturating_subtract(time, 1),
                                                 arithmetic::saturating_add(time, 1));
  std::uint64_t first = range.first, last = range.last;
  while (first < last) {
    const std::uint64_t middle = first + (last - first) / 2;
    if (timeline_->slot(middle) < slot) {
      first = middle + 1;
    } else {
      last = middle;
    }
  }
  if (first == range.last || timeline_->slot(first) != slot) return std::nullopt;
  return first;
}

void ConsumedMarks::sync() {
  const std::uint64_t first =
      std::exchange(all_changed_, false) ? timeline_->begin() : marks_.fresh_from();
  for (std::uint64_t p = first; p < mirror_->end(); ++p) {
    marks_.mark(p, word(timeline_->slot(p)));
  }
  for (const history::Slot slot : changed_) {
    if (const auto p = position(slot)) marks_.mark(*p, word(slot));
  }
  // What is only expected may turn out otherwise, so those marks are looked at again.
  std::erase_if(changed_, [&](history::Slot slot) { return !expected_->contains(slot); });
  marks_.upload();
}

}  // namespace gorgo::engine
