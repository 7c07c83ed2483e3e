#include "codec/csv.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "codec/event_line.hpp"
#include "codec/event_text.hpp"

namespace gorgo::codec {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// What a reader makes of some lines: event lines, or "! " and the error. A batch has at most so
/// many events.
std::vector<std::string> read_all(std::vector<std::string> lines, std::string type = "",
                                  const Schema* schema = nullptr, std::size_t most = 1000) {
  const auto reader = make_csv_reader({.type = std::move(type)}, schema);
  std::vector<std::string> out;
  BatchBuilder batch;
  const auto take = [&] {
    for (BatchCursor at(batch.batch()); !at.done(); at.advance()) {
      append_event_line(out.emplace_back(), at.to_event());
      out.back().pop_back();
    }
    batch = {};
  };
  for (const auto& line : lines) {
    const auto read = reader->next(line, batch);
    if (batch.events() >= most || !read) take();
    if (read) continue;
    out.push_back("! " + read.error().message);
    if (reader->broken()) out.push_back("broken");
  }
  take();
  if (const auto end = reader->finish(); !end) out.push_back("! " + end.error().message);
  return out;
}

std::vector<std::string> cells_of(std::string_view record) {
  CsvSplitter splitter;
  const auto split = splitter.split(record);
  if (!split) return {"! " + split.error().message};
  if (!*split) return {"open"};
  std::vector<std::string> texts;
  for (const auto& cell : splitter.cells()) {
    texts.push_back((cell.quoted ? "q:" : "") + std::string(cell.text));
  }
  return texts;
}

Schema temp_schema() {
  Schema schema;
  schema.add({.name = "Temp",
              .attributes = {{"area", ValueType::string},
                             {"value", ValueType::floating},
                             {"n", ValueType::integer},
                             {"on", ValueType::boolean}}});
  return schema;
}

TEST(Csv, SplitsAsRfc4180) {
  EXPECT_THAT(cells_of("a,b,c"), ElementsAre("a", "b", "c"));
  EXPECT_THAT(cells_of(",,"), ElementsAre("", "", ""));
  EXPECT_THAT(cells_of(""), ElementsAre(""));
  EXPECT_THAT(cells_of("\"a,\"\"b\"\"\",\"\", c "), ElementsAre("q:a,\"b\"", "q:", " c "));
  EXPECT_THAT(cells_of("\"\"\"a\"\"\",\"b\"\"\",\"\"\"\""),
              ElementsAre("q:\"a\"", "q:b\"", "q:\""));
  EXPECT_THAT(cells_of("\"a\"\""), ElementsAre("open"));
  EXPECT_THAT(cells_of("a,\"b"), ElementsAre("open"));
  EXPECT_THAT(cells_of("\"a\"b"), ElementsAre(HasSubstr("cell 1: text behind")));
  EXPECT_THAT(cells_of("x,a\"b"), ElementsAre(HasSubstr("cell 2: a quote inside")));
}

TEST(Csv, ReadsRowsOfOneType) {
  EXPECT_THAT(read_all({"ts,area,value", "1000,A1,46.5", "", "1000.5,A2,\r", ",A3,1"}, "Temp"),
              ElementsAre(R"({"type":"Temp","ts":1000,"attrs":{"area":"A1","value":46.5}})",
                          R"({"type":"Temp","ts":1000.5,"attrs":{"area":"A2"}})",
                          R"({"type":"Temp","attrs":{"area":"A3","value":1}})"));
}

TEST(Csv, ReadsMixedRows) {
  EXPECT_THAT(read_all({"\xEF\xBB\xBFtype,ts,area,value", "Smoke,1,A1,", "Temp,2,A1,50.0"}),
              ElementsAre(R"({"type":"Smoke","ts":1,"attrs":{"area":"A1"}})",
                          R"({"type":"Temp","ts":2,"attrs":{"area":"A1","value":50.0}})"));
}

TEST(Csv, AByteOrderMarkIsNoPartOfTheFirstCell) {
  EXPECT_THAT(read_all({"\xEF\xBB\xBF\"city\",\"v\"\r", "\"Rome\",1\r"}, "T"),
              ElementsAre(R"({"type":"T","attrs":{"city":"Rome","v":1}})"));
  EXPECT_THAT(read_all({"v",
                        "\xEF\xBB\xBF"
                        "1"},
                       "T"),
              ElementsAre("{\"type\":\"T\",\"attrs\":{\"v\":\"\xEF\xBB\xBF"
                          "1\"}}"));
}

TEST(Csv, SpellingDecidesWhatTheSchemaDoesNotKnow) {
  EXPECT_THAT(read_all({"a,b,c,d,e,f,g", "1,1.0,true,x,007,\"1\",\"\""}, "T"),
              ElementsAre(R"({"type":"T","attrs":{"a":1,"b":1.0,"c":true,"d":"x","e":"007",)"
                          R"("f":"1","g":""}})"));
  EXPECT_THAT(read_all({"a", "99999999999999999999"}, "T"),
              ElementsAre(HasSubstr("line 2: column 'a': '99999999999999999999' is not of type")));
}

TEST(Csv, NamesOfFloatsAreFloatsWhereTheSpellingDecides) {
  const auto reader = make_csv_reader({.type = "T"}, nullptr);
  BatchBuilder batch;
  for (const auto* line : {"a,b,c,d,e", "NaN,Infinity,-Infinity,\"NaN\",nan"}) {
    ASSERT_TRUE(reader->next(line, batch));
  }
  const Event event = BatchCursor(batch.batch()).to_event();
  ASSERT_EQ(event.attributes.size(), 5u);
  EXPECT_TRUE(std::isnan(std::get<double>(event.attributes[0].value)));
  EXPECT_EQ(event.attributes[1].value, Value(HUGE_VAL));
  EXPECT_EQ(event.attributes[2].value, Value(-HUGE_VAL));
  EXPECT_EQ(event.attributes[3].value, Value(std::string("NaN")));
  EXPECT_EQ(event.attributes[4].value, Value(std::string("nan")));
}

TEST(Csv, TheSchemaDecidesWhereItKnows) {
  const Schema schema = temp_schema();
  EXPECT_THAT(read_all({"area,value,n,on", "1,1,\"7\",false", "x,NaN,1,true"}, "Temp", &schema),
              ElementsAre(R"({"type":"Temp","attrs":{"area":"1","value":1.0,"n":7,"on":false}})",
                          R"({"type":"Temp","attrs":{"area":"x","value":"NaN","n":1,"on":true}})"));
  EXPECT_THAT(
      read_all({"area,value,n,on", "a,x,1,true", "a,1,1.0,true", "a,1,1,yes"}, "Temp", &schema),
      ElementsAre("! line 2: column 'value': 'x' is not of type float",
                  "! line 3: column 'n': '1.0' is not of type int",
                  "! line 4: column 'on': 'yes' is not of type bool"));
}

TEST(Csv, TooSmallForAFloatIsZeroAndTooLargeIsRefused) {
  const Schema schema = temp_schema();
  EXPECT_THAT(read_all({"value", "1e-400", "-1e-400", "2.4703282292062327e-324", "1e-310"}, "Temp",
                       &schema),
              ElementsAre(R"({"type":"Temp","attrs":{"value":0.0}})",
                          R"({"type":"Temp","attrs":{"value":-0.0}})",
                          R"({"type":"Temp","attrs":{"value":0.0}})",
                          R"({"type":"Temp","attrs":{"value":1e-310}})"));
  // The sign of the exponent does not tell.
  EXPECT_THAT(read_all({"value", "0." + std::string(400, '0') + "1", "1e400",
                        "1" + std::string(400, '0') + "e-5"},
                       "Temp", &schema),
              ElementsAre(R"({"type":"Temp","attrs":{"value":0.0}})",
                          HasSubstr("line 3: column 'value': '1e400' is not of type float"),
                          HasSubstr("line 4: column 'value': ")));
}

TEST(Csv, NumbersAndBoolsHaveOneSpelling) {
  const Schema schema = temp_schema();
  for (const std::string refused : {".5", "5.", "+9", "00012", "0x10", " 1", "inf", "nan"}) {
    EXPECT_THAT(read_all({"value", refused}, "Temp", &schema),
                ElementsAre(HasSubstr("is not of type float")))
        << refused;
  }
  for (const std::string refused : {"+9", "1.0", "1e3"}) {
    EXPECT_THAT(read_all({"n", refused}, "Temp", &schema),
                ElementsAre(HasSubstr("is not of type int")))
        << refused;
  }
  for (const std::string refused : {"TRUE", "True", "1"}) {
    EXPECT_THAT(read_all({"on", refused}, "Temp", &schema),
                ElementsAre(HasSubstr("is not of type bool")))
        << refused;
  }
  EXPECT_THAT(read_all({"n", "00012"}, "Temp", &schema),
              ElementsAre(R"({"type":"Temp","attrs":{"n":12}})"));
}

TEST(Csv, QuotedCellsMaySpanLines) {
  EXPECT_THAT(read_all({"a,b", "\"x", "", "\"\"y\"\"", "z\",1", "w,3"}, "T"),
              ElementsAre(R"({"type":"T","attrs":{"a":"x\n\n\"y\"\nz","b":1}})",
                          R"({"type":"T","attrs":{"a":"w","b":3}})"));
  EXPECT_THAT(read_all({"a", "1", "\"x", "y"}, "T"),
              ElementsAre(R"({"type":"T","attrs":{"a":1}})",
                          HasSubstr("line 3: the quoted cell that begins here has no end")));
}

TEST(Csv, ARecordIsCountedByItsFirstLine) {
  using Kind = LineContent::Kind;
  const auto reader = make_csv_reader({.type = "T"}, nullptr);
  BatchBuilder batch;
  for (const auto* line : {"a", "\"x"}) EXPECT_EQ(reader->next(line, batch)->kind, Kind::nothing);
  EXPECT_EQ(reader->next("y\"", batch)->kind, Kind::event);
  EXPECT_EQ(reader->line(), 2u);
  EXPECT_EQ(reader->next("z", batch)->kind, Kind::event);
  EXPECT_EQ(reader->line(), 4u);
}

TEST(Csv, ARowMayBeginABatchAnywhere) {
  const Schema schema = temp_schema();
  const std::vector<std::string> lines = {
      "type,ts,value,area,extra", "Temp,1,2,A1,", "Smoke,,1,A1,x", "Temp,,3,A2,1",
      "Smoke,2,1.5,A1,",          "Temp,4,,,true"};
  const auto whole = read_all(lines, "", &schema);
  ASSERT_EQ(whole.size(), 5u);
  EXPECT_EQ(whole[0], R"({"type":"Temp","ts":1,"attrs":{"area":"A1","value":2.0}})");
  EXPECT_EQ(whole[2], R"({"type":"Temp","attrs":{"area":"A2","value":3.0,"extra":1}})");
  for (const std::size_t most : {1, 2, 3}) EXPECT_EQ(read_all(lines, "", &schema, most), whole);
}

TEST(Csv, TheColumnsOfAKnownTypeStandInItsOrder) {
  const Schema schema = temp_schema();
  const auto reader = make_csv_reader({.type = "Temp"}, &schema);
  BatchBuilder batch;
  for (const auto* line : {"other,on,n,value,area", ",,,,A1", "1,true,1,1,A2"}) {
    ASSERT_TRUE(reader->next(line, batch));
  }
  const EventBatch view = batch.batch();
  std::vector<std::string> names;
  for (const auto& column : view.tables.at(0).columns) names.emplace_back(column.name);
  EXPECT_THAT(names, ElementsAre("area", "value", "n", "on", "other"));
}

TEST(Csv, AQuoteThatNeverClosesDoesNotSwallowTheStream) {
  std::vector<std::string> lines = {"a", "\"x"};
  for (int i = 0; i < 20; ++i) lines.push_back(std::string(100'000, 'y'));
  const auto out = read_all(lines, "T");
  ASSERT_GE(out.size(), 2u);
  EXPECT_THAT(out[0], HasSubstr("line 2: the quoted cell that begins here has no end"));
  EXPECT_EQ(out[1], "broken");
}

TEST(Csv, ABadHeaderBreaksTheStream) {
  EXPECT_THAT(
      read_all({"ts,area"}),
      ElementsAre(HasSubstr("line 1: the header has no column 'type'; it has ts, area"), "broken"));
  EXPECT_THAT(read_all({"a,a"}, "T"), ElementsAre(HasSubstr("column 'a' stands twice"), "broken"));
  EXPECT_THAT(read_all({"a,"}, "T"), ElementsAre(HasSubstr("column 2 has no name"), "broken"));
  EXPECT_THAT(read_all({"a,b\"c"}, "T"),
              ElementsAre(HasSubstr("line 1: cell 2: a quote inside"), "broken"));
  EXPECT_THAT(read_all({"a\xFF"}, "T"), ElementsAre(HasSubstr("not UTF-8"), "broken"));
  EXPECT_THAT(read_all({"a," + std::string(1025, 'b')}, "T"),
              ElementsAre(HasSubstr("column 2 has no usable name"), "broken"));
  std::string wide = "a";
  for (int i = 1; i <= 4096; ++i) wide += ",a" + std::to_string(i);
  EXPECT_THAT(read_all({wide}, "T"), ElementsAre(HasSubstr("more than 4096 columns"), "broken"));
}

TEST(Csv, LinesThatEndWithReturnsAloneAreNoHeader) {
  for (const std::string file : {"ts,a,v\r1,x,2\r2,y,3\r", "\"ts\",\"a\"\r\"1\",\"x\"", "a\r1\r"}) {
    EXPECT_THAT(read_all({file}, "T"),
                ElementsAre(HasSubstr("line 1: a carriage return"), "broken"));
  }
  EXPECT_THAT(read_all({"a,\"b\r", "c\"\r", "1,2\r"}, "T"),
              ElementsAre(R"({"type":"T","attrs":{"a":1,"b\r\nc":2}})"));
}

TEST(Csv, ABadRowIsRefusedAlone) {
  EXPECT_THAT(read_all({"type,ts,a", "T,1", ",1,2", "T,x,2", "T,1,\xFF", "T,1,a\"",
                        std::string(1025, 'T') + ",1,2", "T,1,2"}),
              ElementsAre(HasSubstr("line 2: 2 cells where the header has 3"),
                          HasSubstr("line 3: column 'type' is empty"),
                          HasSubstr("line 4: column 'ts': timestamp 'x'"),
                          HasSubstr("line 5: column 'a': invalid UTF-8"),
                          HasSubstr("line 6: cell 3: a quote inside"),
                          HasSubstr("line 7: the type is too long"),
                          R"({"type":"T","ts":1,"attrs":{"a":2}})"));
}

TEST(Csv, WritesTheHeaderOnceAndCellsByColumn) {
  const auto writer = make_csv_writer({"area", "value"});
  std::string out;
  writer->write(out, {.type = "Fire", .timestamp = 1'500'000, .attributes = {{"value", 46.0}}});
  writer->write(out, {.type = "Cold",
                      .attributes = {{"area", "a,\"b\""}, {"value", std::nan("")}, {"x", true}}});
  writer->write(out, {.type = "Cold", .attributes = {{"area", ""}}});
  EXPECT_EQ(out,
            "type,ts,area,value\n"
            "Fire,1.5,,46.0\n"
            "Cold,,\"a,\"\"b\"\"\",NaN\n"
            "Cold,,\"\",\n");
}

}  // namespace
}  // namespace gorgo::codec
