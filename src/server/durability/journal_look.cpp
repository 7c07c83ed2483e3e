#include "server/durability/journal_look.hpp"

#include <algorithm>
#include <limits>

#include "base/arithmetic.hpp"
#include "journal/reader.hpp"
#include "journal/survey.hpp"
#include "server/durability/taken_rows.hpp"

namespace gorgo::server {
namespace {

/// The segment that has what is looked for, if any has it: the last one that was begun before it.
/// An event cannot have come much before its timestamp, but long after it.
journal::Place first_place(const journal::Survey& survey, const JournalLook& look) {
  journal::Place first = survey.low;
  for (const journal::Segment& segment : survey.segments) {
    const bool is_before =
        look.place > 0 ? segment.first <= look.place : look.at && segment.made <= *look.at;
    if (is_before) first = std::max(first, segment.first);
  }
  return first;
}

}  // namespace

Result<JournalSight> look_into_journal(
    const std::string& folder, const JournalLook& look, const std::stop_token& stop,
    const std::function<void(journal::Place, Timestamp, const BatchCursor&)>& take) {
  const auto disk = journal::make_posix_disk();
  const auto found = journal::survey_beside_writer(*disk, folder, journal::Depth::tail);
  if (!found) return found.error();
  journal::Reader reader(*disk, folder, found->segments, first_place(*found, look), found->end);
  JournalSight sight{.low = found->low, .end = found->end, .next = found->end};
  TakenRows rows;
  Timestamp largest = std::numeric_limits<Timestamp>::min();
  for (std::size_t taken = 0; taken < look.most && !stop.stop_requested();) {
    const auto record = reader.next();
    if (!record) return record.error();
    if (!*record) return sight;
    const journal::Place place = (*record)->place;
    const auto done = rows.take(**record, [&](const BatchCursor& row, Timestamp clock) {
      const Timestamp stamp =
          look.in_order ? std::max(clock, arithmetic::saturating_add(largest, 1)) : clock;
      const Timestamp timestamp = row.timestamp().value_or(stamp);
      largest = std::max(largest, timestamp);
      const bool is_wanted = place >= look.place && (!look.at || timestamp >= *look.at) &&
                             (look.type.empty() || row.table().type == look.type);
      if (!is_wanted) return;
      ++taken;
      take(place, timestamp, row);
    });
    if (!done) return done.error();
    sight.next = place + 1;
  }
  return sight;
}

}  // namespace gorgo::server
