#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gorgo/event_batch.hpp"
#include "protocol/gorgo_generated.h"

namespace gorgo::server {

/// Adds an event that tells of what a door could make no event of (docs/doors.md). `place`: where
/// it came from. A long payload is cut, and bytes that are no UTF-8 become `?`.
void add_dead_letter(BatchBuilder& batch, std::optional<Timestamp> stamp, std::string_view door,
                     std::string_view place, std::string_view reason, std::string_view payload);
/// Adds an event for each dead letter that a publication has.
void add_dead_letters(BatchBuilder& batch, std::optional<Timestamp> stamp,
                      const wire::Publish& publish);
/// A row that came through a door and was refused.
struct RefusedRow {
  std::string line;  ///< the event line
  std::string reason;
};
RefusedRow refused_row(const BatchCursor& event, std::string_view reason);
/// Adds an event for each of them.
void add_dead_letters(BatchBuilder& batch, std::optional<Timestamp> stamp, std::string_view door,
                      const std::vector<RefusedRow>& rows);

}  // namespace gorgo::server
