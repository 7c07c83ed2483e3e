#include "dispatch/order/column_intake.hpp"

#include <algorithm>

namespace gorgo::dispatch {
namespace {

/// Whether every event of the table has a value of the attribute's type in each column. The columns
/// are the attributes.
bool fits(const EventTable& table, const EventType& type) {
  return std::ranges::equal(table.columns, type.attributes,
                            [](const EventColumn& column, const AttributeType& attribute) {
                              return column.present.empty() && column.type == attribute.type;
                            });
}

}  // namespace

void ColumnIntake::begin(std::size_t tables) {
  for (const std::size_t table : known_) forms_[table] = Form::unknown;
  known_.clear();
  if (forms_.size() < tables) forms_.resize(tables, Form::unknown);
  known_.reserve(forms_.size());
}

std::uint32_t ColumnIntake::take(BatchCursor& next, std::uint32_t most, TableHeaders& headers,
                                 Released& released) {
  most = std::min(most, kMost);
  std::uint32_t taken = 0;
  while (taken < most && !next.done()) {
    // To look at a table may find no memory, which is to concern no event that was taken.
    if (taken > 0 && forms_[next.table_number()] == Form::unknown) break;
    if (!is_unseen(next, headers)) break;
    const auto timestamps = next.table().timestamps.subspan(next.row(), next.run(most - taken));
    const auto count = static_cast<std::uint32_t>(sequencer_.in_order(timestamps));
    if (count == 0) break;
    const Timestamp last = timestamps[count - 1];
    sequencer_.pass(last);
    released.add_unseen(count, last);
    headers[next.table_number()]->count_complete(count);
    next.advance(count);
    taken += count;
  }
  return taken;
}

bool ColumnIntake::is_unseen(const BatchCursor& next, TableHeaders& headers) {
  const std::size_t number = next.table_number();
  Form& form = forms_[number];
  if (form == Form::unknown) {
    if (headers[number] == nullptr) headers[number] = headers_.of(next.table(), rules_.schema());
    known_.push_back(number);
    form = are_unseen(next.table(), *headers[number]) ? Form::unseen : Form::rows;
  }
  return form == Form::unseen;
}

/// Where rules wait for the clock, what it brings about stands among the events, so each of them
/// has a record.
bool ColumnIntake::are_unseen(const EventTable& table, Header& header) const {
  if (table.type.empty() || table.timestamps.empty() || !rules_.temporal_rules().empty()) {
    return false;
  }
  const Header::Resolution& resolution = header.resolve(rules_.schema());
  if (resolution.type == kNoType) {
    return header.is_unambiguous() && !handed_out_.has(table.type);
  }
  const EventType& type = rules_.schema().at(resolution.type);
  return resolution.exact && type.strict() && fits(table, type) &&
         !history_.keeps(resolution.type) && rules_.joints_of(resolution.type).empty() &&
         !handed_out_.has(table.type);
}

}  // namespace gorgo::dispatch
