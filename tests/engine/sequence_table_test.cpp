#include "engine/cuda/sequence_table.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace gorgo::engine {
namespace {

using Extension = SequenceTable::Extension;

history::EventRef event_at(std::uint64_t position) { return {nullptr, position}; }

std::vector<std::vector<history::Slot>> slots_of(const SequenceTable& table) {
  std::vector<std::vector<history::Slot>> rows;
  for (std::size_t i = 0; i < table.rows(); ++i) {
    auto& row = rows.emplace_back();
    for (const history::EventRef& event : table.row(i)) row.push_back(event.slot);
  }
  return rows;
}

/// A table of so many terminators, whose events are 10, 11, ...
SequenceTable begun(std::size_t terminators, std::size_t aggregates) {
  SequenceTable table(terminators, aggregates);
  std::vector<Extension> extensions;
  for (std::uint32_t t = 0; t < terminators; ++t) extensions.push_back({t, 10 + t});
  table.extend(extensions, event_at);
  return table;
}

TEST(SequenceTable, HasARowForEachEventThatIsChosen) {
  SequenceTable table = begun(3, 0);
  table.extend(std::vector<Extension>{{0, 5}, {0, 6}, {2, 7}}, event_at);
  table.index_terminators();
  using Rows = std::vector<std::vector<history::Slot>>;
  EXPECT_EQ(slots_of(table), (Rows{{10, 5}, {10, 6}, {12, 7}}));
  EXPECT_EQ(table.rows_of(0).size(), 2u);
  EXPECT_TRUE(table.rows_of(1).empty());
  EXPECT_EQ(table.rows_of(2).first, 2u);
}

TEST(SequenceTable, LeavesOutATerminatorWithTooManySequences) {
  SequenceTable table = begun(2, 0);
  const std::vector<Extension> extensions = {{0, 5}, {0, 6}, {0, 7}, {1, 5}, {1, 6}};
  table.limit(extensions, 2);
  table.extend(extensions, event_at);
  EXPECT_TRUE(table.overflowed(0));
  EXPECT_FALSE(table.overflowed(1));
  ASSERT_EQ(table.rows(), 2u);
  EXPECT_EQ(table.terminator_of(0), 1u);
}

TEST(SequenceTable, KeepsValuesWithTheSequencesThatAreExtended) {
  SequenceTable table = begun(2, 2);
  table.add_values();
  table.set_value(0, {0, 2}, Datum::of(std::int64_t{3}));
  table.set_value(1, {1, 2}, Datum::of(std::int64_t{4}));
  table.extend(std::vector<Extension>{{0, 5}, {1, 5}, {1, 6}}, event_at);
  for (std::size_t row = 0; row < 3; ++row) {
    EXPECT_EQ(table.values(row)[0].integer, 3);
    EXPECT_EQ(table.values(row)[1].exists(), row > 0) << row;
  }
}

}  // namespace
}  // namespace gorgo::engine
