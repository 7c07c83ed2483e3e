#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "engine/column/search.hpp"
#include "history/history.hpp"

namespace gorgo::engine {

/// Finds where the newest so many of all events of a type begin, whatever a predicate says of them:
/// `within 20 of all events`. For one thread at a time.
class NewestEvents {
 public:
  /// `count` >= 1.
  NewestEvents(TypeId type, std::uint64_t count, history::History& history);

  /// The oldest of the newest `count` events in the interval that stand before the terminator;
  /// nothing where there are fewer. In constant time beside the search for the interval, unless the
  /// search is out of order: then it looks at `count` events.
  std::optional<history::EventRef> oldest(const Search& search);

  const std::shared_ptr<const history::Timeline>& timeline() const { return timeline_; }

 private:
  std::uint64_t count_;
  std::shared_ptr<history::Column> column_;  // keeps the timeline up to date
  std::shared_ptr<const history::Timeline> timeline_;
  history::Range window_;  // the next one is looked for near it
};

}  // namespace gorgo::engine
