#include "dispatch/evaluate/batch_reducer.hpp"

#include <cstddef>
#include <utility>

namespace gorgo::dispatch {

const Records& BatchReducer::reduce(const IsKept& is_kept) {
  Batch& batch = wave_.batch();
  numbers_.assign(batch.records.size(), kNoRecord);
  rest_.clear();
  rest_.ordered_before = batch.ordered_before;
  rest_.extras = batch.extras;
  rest_.columns = batch.columns;
  Wave::Contents contents;
  for (std::uint32_t i = 0; i < batch.records.size(); ++i) {
    const Record& record = batch.records[i];
    if (!is_kept(i, record)) continue;
    numbers_[i] = static_cast<std::uint32_t>(rest_.records.size());
    keep(record, width_of(record), contents);
  }
  rest_.texts.swap(batch.texts);
  std::swap(batch, rest_);
  rest_.clear();
  wave_.set_contents(contents);
  expected_.renumber(numbers_);
  queues_.renumber(numbers_);
  return numbers_;
}

/// How many cells the record has.
std::size_t BatchReducer::width_of(const Record& record) const {
  if (record.in_columns) return 0;
  const bool is_known = record.type != kNoType;
  return (is_known ? schema_.at(record.type).attributes.size() : 0) +
         wave_.batch().extra_cells(record);
}

/// Moves a record with so many cells to the rest.
void BatchReducer::keep(Record record, std::size_t width, Wave::Contents& contents) {
  const auto first = wave_.batch().cells.begin() + record.first_cell;
  record.first_cell = static_cast<std::uint32_t>(rest_.cells.size());
  rest_.cells.insert(rest_.cells.end(), first, first + static_cast<std::ptrdiff_t>(width));
  // The producer stays, too, and stands before the record.
  if (record.producer != kNoRecord) record.producer = numbers_[record.producer];
  if (record.producer == kNoRecord) {
    ++contents.roots;
  } else {
    ++contents.composites;
    contents.composite_cells += width;
  }
  rest_.records.push_back(record);
}

}  // namespace gorgo::dispatch
