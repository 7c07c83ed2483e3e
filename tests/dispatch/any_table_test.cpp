#include <algorithm>
#include <array>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "batch_fixture.hpp"

// Tables whose columns are not just the attributes of a declared type. Whatever can be taken
// together is to come to what single events come to.
namespace gorgo {
namespace {

class AnyTable : public BatchTest {};

/// Tables of a declared, an inferred and an unknown type, each with the attributes a to d, or some
/// of them, or e in the place of c. Mostly they are of the same types, and no event lacks one.
BatchBuilder events_of_any_shape(std::minstd_rand& random, Timestamp first) {
  BatchBuilder collected;
  std::array<std::vector<std::string>, 3> shapes;
  for (auto& shape : shapes) {
    shape = {"a", "b", random() % 4 == 0 ? "e" : "c", "d"};
    if (random() % 2 == 0) std::reverse(shape.begin(), shape.end());
    if (random() % 4 == 0) shape.resize(1 + random() % 3);
  }
  const bool is_odd = random() % 3 == 0, lacks_some = random() % 4 == 0;
  for (Timestamp i = 0; i < 24; ++i) {
    const std::size_t type = random() % 3;
    Event event{std::array{"Declared", "Inferred", "Unknown"}[type], first + i, {}};
    const std::string text(random() % 4, 'x');
    for (const std::string& name : shapes[type]) {
      const auto number = static_cast<std::int64_t>(random() % 5);
      if (name == "a") event.attributes.push_back({name, number});
      if (name == "b") event.attributes.push_back({name, text});
      if (name == "e") event.attributes.push_back({name, 0.25});
      const Value value = number > 2 ? Value(0.5) : Value(number);
      if (name == "c") event.attributes.push_back({name, is_odd ? Value(text) : value});
      if (name == "d" && (!lacks_some || i > 5)) event.attributes.push_back({name, number > 2});
    }
    collected.add(event);
  }
  return collected;
}

TEST_F(AnyTable, WhateverAttributesEventsHaveTheyAreTakenLikeSingleEvents) {
  std::size_t in_columns = 0;
  const auto take = [&](const Intake& intake, std::uint32_t at_once, bool wants_unknown) {
    std::minstd_rand random(11);
    processor = Processor(
        {.hands_out = [=](std::string_view type) { return wants_unknown || type != "Unknown"; }});
    deploy(
        "event Declared(a: int, b: string, c: float, d: bool);\n"
        "define Found(a: int, n: int) from Inferred(a = $a) and last Declared(a = $a) within 1 s "
        "from "
        "Inferred and $n = Count(Inferred(b = \"x\") within 1 s from Declared)\n"
        "where a = $a, n = $n;");
    Outcome outcome;
    const auto hand_out = [&] {
      processor.process([&](const OutputBatch& out) {
        for (const auto& row : out.rows) {
          outcome.out.push_back(line(out, row));
          if (row.event != OutputBatch::kInCells) ++in_columns;
        }
      });
    };
    for (Timestamp i = 0; i < 200; ++i) {
      BatchBuilder collected = events_of_any_shape(random, i * kMillisecond);
      IncomingBatch batch(collected.batch());
      while (append(batch, intake), !batch.done()) hand_out();
      for (const auto& [position, why] : refusals) outcome.refused.push_back(why);
      refusals.clear();
      if (i % at_once == at_once - 1) hand_out();
    }
    hand_out();
    for (const TypeInfo& type : processor.types()) {
      outcome.counts.push_back(type.accepted);
      outcome.counts.push_back(type.no_value);
    }
    return outcome;
  };
  for (const bool wants_unknown : {true, false}) {
    in_columns = 0;
    const Outcome expected = take({.check = kByItself}, 1, wants_unknown);
    EXPECT_EQ(in_columns, 0u);
    EXPECT_GT(expected.refused.size(), 100u);
    EXPECT_GT(expected.out.size(), 1000u);
    EXPECT_EQ(take({}, 1, wants_unknown), expected);
    EXPECT_GT(in_columns, 300u);
    EXPECT_EQ(take({}, 7, wants_unknown), expected);
    EXPECT_EQ(take({.pending_bytes = 2000}, 1, wants_unknown), expected);
  }
}

/// A table with one to three columns of the name v, of any types, in which events mostly have one
/// value each.
class ColumnsOfOneName {
 public:
  ColumnsOfOneName(std::minstd_rand& random, std::string_view type, Timestamp first) {
    const std::uint32_t events = 5 + random() % 20;
    const std::size_t columns = 1 + random() % 3, odd = random() % 4;
    for (std::uint32_t i = 0; i < events; ++i) timestamps_.push_back(first + i);
    std::vector<std::uint32_t> own(events);  // the number of the column with the event's value
    for (std::uint32_t& column : own) column = random() % (columns + (odd == 0 ? 1 : 0));
    for (std::uint32_t c = 0; c < columns; ++c) {
      const auto value_type = random() % 5 == 0   ? ValueType::boolean
                              : random() % 2 == 0 ? ValueType::integer
                                                  : ValueType::floating;
      ColumnBuilder& column = columns_.emplace_back(value_type);
      for (std::uint32_t i = 0; i < events; ++i) {
        const bool twice = odd == 1 && random() % 20 == 0;
        const bool has = own[i] == c || twice || (columns == 1 && odd > 1);
        column.push(has ? value(value_type, i) : Datum::none());
      }
    }
    table_ = {.type = type, .events = events, .timestamps = timestamps_, .columns = {}};
    for (const ColumnBuilder& column : columns_) table_.columns.push_back(column.view("v"));
  }
  EventBatch batch() const { return {.tables = {table_}, .order = {}}; }

 private:
  std::vector<Timestamp> timestamps_;
  std::vector<ColumnBuilder> columns_;
  EventTable table_;

  static Datum value(ValueType type, std::uint32_t i) {
    if (type == ValueType::integer) return Datum::of(std::int64_t{i});
    return type == ValueType::floating ? Datum::of(0.5 * i) : Datum::of(i % 2 == 0);
  }
};

TEST_F(AnyTable, ColumnsOfOneNameAreTakenLikeSingleEvents) {
  std::size_t in_columns = 0;
  const auto take = [&](const Intake& intake) {
    std::minstd_rand random(3);
    processor = Processor();
    deploy(
        "event Bare();\nevent Declared(v: float);\nevent Whole(v: int);\ndefine Sum(v: float) from "
        "Inferred(v > "
        "0.5) "
        "and $v = Sum(Declared().v within 1 s from Inferred) where v = $v;");
    Outcome outcome;
    for (int i = 0; i < 2000; ++i) {
      const auto* const type =
          std::array{"Bare", "Declared", "Inferred", "Unknown", "Whole"}[random() % 5];
      const ColumnsOfOneName table(random, type, i * kMillisecond);
      IncomingBatch batch(table.batch());
      append(batch, intake);
      for (const auto& [position, why] : refusals) {
        outcome.refused.push_back(std::to_string(i) + " " + std::to_string(position) + " " + why);
      }
      refusals.clear();
      processor.process([&](const OutputBatch& out) {
        for (const auto& row : out.rows) {
          outcome.out.push_back(line(out, row));
          if (row.event != OutputBatch::kInCells) ++in_columns;
        }
      });
    }
    return outcome;
  };
  const Outcome expected = take({.check = kByItself});
  EXPECT_EQ(in_columns, 0u);
  EXPECT_GT(expected.refused.size(), 1000u);
  EXPECT_EQ(take({}), expected);
  EXPECT_GT(in_columns, 5000u);
}

}  // namespace
}  // namespace gorgo
