#include "server/drop_watch.hpp"

namespace gorgo::server {

void DropWatch::look(const ProcessorCounters& counters, const DroppedComposite& last, Time now) {
  const std::uint64_t too_many = counters.dropped_composites - told_too_many_;
  const std::uint64_t too_deep = counters.dropped_depth - told_too_deep_;
  if (too_many + too_deep == 0 || now < silent_until_) return;
  log_.warning(
      "composites dropped: an event brought about more than engine.max_composites, or "
      "deeper ones than engine.max_depth",
      {{"too_many", too_many},
       {"too_deep", too_deep},
       {"last_rule", last.rule},
       {"last_event", last.event}});
  told_too_many_ += too_many;
  told_too_deep_ += too_deep;
  silent_until_ = now + kPause;
}

}  // namespace gorgo::server
