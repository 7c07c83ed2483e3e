#include "engine/cuda/sequence_table.hpp"

#include <numeric>

namespace gorgo::engine {

SequenceTable::SequenceTable(std::size_t terminators, std::size_t aggregates)
    : aggregates_(aggregates), terminator_of_(terminators), overflowed_(terminators) {
  std::iota(terminator_of_.begin(), terminator_of_.end(), 0);
}

void SequenceTable::limit(std::span<const Extension> extensions, std::uint64_t most) {
  counts_.assign(terminators(), 0);
  for (const Extension& extension : extensions) {
    const std::uint32_t terminator = terminator_of_[extension.row];
    if (++counts_[terminator] > most) overflowed_[terminator] = true;
  }
}

void SequenceTable::set_value(std::size_t aggregate, const history::Range& rows,
                              const Datum& value) {
  for (std::uint64_t r = rows.first; r < rows.last; ++r) {
    values_[r * aggregates_ + aggregate] = value;
  }
}

void SequenceTable::index_terminators() {
  first_row_.assign(terminators() + 1, 0);
  for (const std::uint32_t terminator : terminator_of_) ++first_row_[terminator + 1];
  std::partial_sum(first_row_.begin(), first_row_.end(), first_row_.begin());
}

}  // namespace gorgo::engine
