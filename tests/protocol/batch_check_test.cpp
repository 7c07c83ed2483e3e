#include "protocol/batch_check.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "protocol/framing.hpp"

namespace gorgo::protocol {
namespace {

using ::testing::HasSubstr;

/// A valid batch of two tables that each test damages in one place.
wire::BatchT valid() {
  wire::BatchT batch;
  auto temp = std::make_unique<wire::EventTableT>();
  temp->type = "Temp";
  temp->rows = 2;
  temp->timestamps = {1, 2};
  auto area = std::make_unique<wire::ColumnT>();
  area->name = "area";
  area->type = wire::ValueType::String;
  area->ends = {2, 4};
  area->bytes = {'A', '1', 'A', '2'};
  temp->columns.push_back(std::move(area));
  auto rain = std::make_unique<wire::EventTableT>();
  rain->type = "Rain";
  rain->rows = 1;
  auto wet = std::make_unique<wire::ColumnT>();
  wet->name = "wet";
  wet->type = wire::ValueType::Bool;
  wet->bools = {1};
  rain->columns.push_back(std::move(wet));
  batch.tables.push_back(std::move(temp));
  batch.tables.push_back(std::move(rain));
  batch.order = {0, 1, 0};
  return batch;
}

std::string error_of(const wire::BatchT& object, std::uint32_t max_rows = 100) {
  flatbuffers::FlatBufferBuilder builder;
  builder.Finish(wire::Batch::Pack(builder, &object));
  const auto checked = check_batch(*flatbuffers::GetRoot<wire::Batch>(builder.GetBufferPointer()),
                                   builder.GetSize(), max_rows);
  return checked ? "" : checked.error().message;
}

TEST(BatchCheck, AValidBatchPasses) { EXPECT_EQ(error_of(valid()), ""); }

TEST(BatchCheck, TooManyRows) {
  EXPECT_THAT(error_of(valid(), 2), HasSubstr("3 rows is above the limit of 2"));
}

TEST(BatchCheck, ColumnsMustHaveAValuePerRow) {
  auto batch = valid();
  batch.tables[0]->columns[0]->ends.pop_back();
  EXPECT_THAT(error_of(batch), HasSubstr("table 'Temp', column 'area': 1 values for 2 rows"));
}

TEST(BatchCheck, OnlyTheVectorOfTheTypeIsFilled) {
  auto batch = valid();
  batch.tables[0]->columns[0]->ints = {1, 2};
  EXPECT_THAT(error_of(batch), HasSubstr("column 'area': values of another type"));
  batch = valid();
  batch.tables[1]->columns[0]->type = static_cast<wire::ValueType>(9);
  EXPECT_THAT(error_of(batch), HasSubstr("column 'wet': values of another type"));
}

TEST(BatchCheck, StringsStayInTheirBytes) {
  auto batch = valid();
  batch.tables[0]->columns[0]->ends = {2, 5};
  EXPECT_THAT(error_of(batch), HasSubstr("the string of row 1 ends outside"));
  batch.tables[0]->columns[0]->ends = {2, 1};
  EXPECT_THAT(error_of(batch), HasSubstr("the string of row 1 ends outside"));
}

TEST(BatchCheck, StringsAreUtf8EachForItself) {
  auto batch = valid();
  batch.tables[0]->columns[0]->bytes = {'A', 0xc3, 0xa9, 'B'};
  EXPECT_THAT(error_of(batch), HasSubstr("the string of row 0 is not UTF-8"));
}

TEST(BatchCheck, PresenceHasABitPerRow) {
  auto batch = valid();
  batch.tables[0]->columns[0]->present = {1, 0};
  EXPECT_THAT(error_of(batch), HasSubstr("presence bitmap has 2 bytes"));
}

TEST(BatchCheck, ABoolIsZeroOrOne) {
  auto batch = valid();
  batch.tables[1]->columns[0]->bools = {2};
  EXPECT_THAT(error_of(batch), HasSubstr("a bool is 0 or 1"));
}

TEST(BatchCheck, TimestampsForAllRowsOrNone) {
  auto batch = valid();
  batch.tables[0]->timestamps.pop_back();
  EXPECT_THAT(error_of(batch), HasSubstr("1 timestamps for 2 rows"));
}

TEST(BatchCheck, TheOrderNamesEachRowOnce) {
  auto batch = valid();
  batch.order = {0, 1};
  EXPECT_THAT(error_of(batch), HasSubstr("2 entries for 3 rows"));
  batch.order = {0, 1, 1};
  EXPECT_THAT(error_of(batch), HasSubstr("names table 1 more often"));
  batch.order = {0, 1, 7};
  EXPECT_THAT(error_of(batch), HasSubstr("names table 7 more often"));
}

TEST(BatchCheck, NamesAreNeitherEmptyNorEndless) {
  auto batch = valid();
  batch.tables[0]->type = "";
  EXPECT_THAT(error_of(batch), HasSubstr("without a usable type"));
  batch = valid();
  batch.tables[0]->columns[0]->name = std::string(1025, 'x');
  EXPECT_THAT(error_of(batch), HasSubstr("without a usable name"));
}

TEST(BatchCheck, ATypeIsOneOfAll) {
  auto batch = valid();
  batch.tables[0]->type = "*";
  EXPECT_THAT(error_of(batch), HasSubstr("stands for all types"));
}

TEST(BatchCheck, ATableHas4096ColumnsAtMost) {
  const auto error = [](int columns) {
    wire::BatchT batch;
    batch.tables.push_back(std::make_unique<wire::EventTableT>());
    batch.tables.back()->type = "T";
    for (int i = 0; i < columns; ++i) {
      auto column = std::make_unique<wire::ColumnT>();
      column->name = "c" + std::to_string(i);
      column->type = wire::ValueType::Int;
      batch.tables.back()->columns.push_back(std::move(column));
    }
    return error_of(batch);
  };
  EXPECT_EQ(error(4096), "");
  EXPECT_THAT(error(4097), HasSubstr("table 'T' has more than 4096 columns"));
}

TEST(BatchCheck, ABatchHas65535TablesAtMost) {
  const auto error = [](std::size_t tables) {
    flatbuffers::FlatBufferBuilder builder;
    const auto table = wire::CreateEventTable(builder, builder.CreateString("T"));
    builder.Finish(wire::CreateBatch(builder, builder.CreateVector(std::vector(tables, table))));
    const auto checked = check_batch(*flatbuffers::GetRoot<wire::Batch>(builder.GetBufferPointer()),
                                     builder.GetSize(), 100);
    return checked ? "" : checked.error().message;
  };
  EXPECT_EQ(error(65'535), "");
  EXPECT_THAT(error(65'536), HasSubstr("at most 65535 tables"));
}

TEST(BatchCheck, NamesInManyPlacesHaveFourTimesTheBytesOfTheFrame) {
  const auto error = [](int columns) {
    flatbuffers::FlatBufferBuilder builder;
    const auto name = builder.CreateString(std::string(1000, 'n'));
    std::vector<flatbuffers::Offset<wire::Column>> packed;
    for (int i = 0; i < columns; ++i) {
      packed.push_back(wire::CreateColumn(builder, name, wire::ValueType::Int));
    }
    const auto type = builder.CreateString("T");
    const auto table = wire::CreateEventTable(builder, type, 0, 0, builder.CreateVector(packed));
    builder.Finish(wire::CreateBatch(builder, builder.CreateVector(std::vector{table})));
    const auto checked = check_batch(*flatbuffers::GetRoot<wire::Batch>(builder.GetBufferPointer()),
                                     builder.GetSize(), 100);
    return checked ? "" : checked.error().message;
  };
  EXPECT_EQ(error(4), "");
  EXPECT_THAT(error(40), HasSubstr("all names together are too long"));
}

TEST(BatchCheck, ValuesAreAligned) {
  flatbuffers::FlatBufferBuilder builder;
  const auto object = valid();
  builder.Finish(wire::Batch::Pack(builder, &object));
  // Four bytes off, the timestamps lie where no int64 may.
  std::vector<std::uint64_t> memory(builder.GetSize() / 8 + 2);
  auto* moved = reinterpret_cast<std::uint8_t*>(memory.data()) + 4;
  std::copy_n(builder.GetBufferPointer(), builder.GetSize(), moved);
  const auto checked =
      check_batch(*flatbuffers::GetRoot<wire::Batch>(moved), builder.GetSize(), 100);
  ASSERT_FALSE(checked);
  EXPECT_THAT(checked.error().message, HasSubstr("multiple of 8 bytes"));
}

TEST(BatchCheck, VectorsMayNotShareBytes) {
  // Forty columns that all point at one vector of eighty values.
  flatbuffers::FlatBufferBuilder builder;
  const auto values = builder.CreateVector(std::vector<std::int64_t>(80, 5));
  std::vector<flatbuffers::Offset<wire::Column>> columns;
  for (int i = 0; i < 40; ++i) {
    const auto name = builder.CreateString("c" + std::to_string(i));
    columns.push_back(wire::CreateColumn(builder, name, wire::ValueType::Int, values));
  }
  const auto type = builder.CreateString("T");
  const auto table = wire::CreateEventTable(builder, type, 80, 0, builder.CreateVector(columns));
  const auto tables = builder.CreateVector(std::vector{table});
  builder.Finish(wire::CreateBatch(builder, tables));
  const auto checked = check_batch(*flatbuffers::GetRoot<wire::Batch>(builder.GetBufferPointer()),
                                   builder.GetSize(), 100);
  ASSERT_FALSE(checked);
  EXPECT_THAT(checked.error().message, HasSubstr("share bytes"));
}

}  // namespace
}  // namespace gorgo::protocol
