#include "engine/column/newest_events.hpp"

#include "plan/plan.hpp"

namespace gorgo::engine {

NewestEvents::NewestEvents(TypeId type, std::uint64_t count, history::History& history)
    : count_(count),
      column_(history.column(plan::column_of_all(type))),
      timeline_(column_->timeline({})) {}

std::optional<history::EventRef> NewestEvents::oldest(const Search& search) {
  window_ = timeline_->window(search.interval.after, search.interval.before, window_);
  const auto event = [&](std::uint64_t position) {
    return history::EventRef{&column_->store(), timeline_->slot(position)};
  };
  if (window_.size() < count_) return std::nullopt;
  if (search.in_order()) return event(window_.last - count_);
  std::uint64_t missing = count_;
  for (std::uint64_t next = window_.last; next > window_.first; --next) {
    const history::EventRef candidate = event(next - 1);
    if (search.sees(candidate, timeline_->timestamp(next - 1)) && --missing == 0) return candidate;
  }
  return std::nullopt;
}

}  // namespace gorgo::engine
