#include "gorgo/event_batch.hpp"
#include "processor_fixture.hpp"

// What tables keep, and what they let go of.
namespace gorgo {
namespace {

constexpr const char* kTable = "table T(id: int key, n: int); event A(n: int);\n";
constexpr const char* kLookUp =
    "rule look: define C(n: int) from A(n = $n) where n = T(id = $n).n;";
constexpr const char* kRow =
    "rule row: define C(n: int) from A(n = $n) and table T(id = $n) as R where n = R.n;";

Event row(Timestamp ms, std::int64_t id, std::int64_t n) {
  return {.type = "T", .timestamp = ms * kMillisecond, .attributes = {{"id", id}, {"n", n}}};
}

class TablesTest : public ProcessorTest {
 protected:
  /// Nothing is late for long, and a table is tidied when it has a few rows too many.
  void start(ProcessorOptions options = {}) {
    options.max_late = 10 * kMillisecond;
    options.replaced_rows = 4;
    options.hands_out = [](std::string_view type) { return type == "Nothing"; };
    processor = Processor(options);
    deploy(kTable);
  }
  TypeInfo table() {
    for (const TypeInfo& info : processor.types()) {
      if (info.name == "table T") return info;
    }
    return {};
  }
  std::vector<std::string> ask(Timestamp ms, std::int64_t id) {
    append(counted("A", ms, id));
    return process();
  }
};

TEST_F(TablesTest, RowsThatNobodyReadsYetAreKeptThoughNobodyWantsThem) {
  start();
  BatchBuilder collected;
  for (int i = 1; i <= 3; ++i) collected.add(row(i, i, i * 10));
  IncomingBatch batch(collected.batch());
  processor.append(batch, [](const BatchCursor&, const Error& why) { FAIL() << why.to_string(); });
  EXPECT_THAT(process(), IsEmpty());
  EXPECT_EQ(table().events, 3u);
  deploy(std::string(kLookUp) + kRow + "event A(n: int);");
  EXPECT_THAT(ask(1'000'000, 2), ElementsAre("4.1 C n=20", "4.2 C n=20"));
}

TEST_F(TablesTest, WhatWasReplacedGoes) {
  for (const char* rule : {kLookUp, kRow}) {
    start();
    deploy(rule);
    for (int i = 0; i < 1000; ++i) {
      append(row(i, i % 5, i));
      process();
      EXPECT_LT(table().events, 50u);
    }
    EXPECT_EQ(table().seen, 1000u);
    EXPECT_EQ(processor.rules().front().events, 1000u);
    append(counted("A", 3000, 3));
    EXPECT_THAT(process(), ElementsAre("1001.1 C n=998"));
  }
}

TEST_F(TablesTest, ALateEventFindsTheRowOfItsTimeAsLongAsItMayCome) {
  start();
  deploy(kLookUp);
  append(row(1, 1, 1));
  append(row(90, 1, 2));
  for (int i = 91; i <= 100; ++i) {
    append(row(i, 2, i));  // has the table be tidied
    process();
  }
  EXPECT_THAT(ask(90, 1), ElementsAre("13.1 C n=1")) << "the row of its own time is not there yet";
  EXPECT_THAT(ask(91, 1), ElementsAre("14.1 C n=2"));
  append(row(95, 1, 3));
  EXPECT_THAT(ask(94, 1), ElementsAre("16.1 C n=2"));
  EXPECT_THAT(ask(96, 1), ElementsAre("17.1 C n=3"));
}

TEST_F(TablesTest, ACompositeThatWaitsKeepsItsRow) {
  start();
  deploy(
      "event B(n: int); rule r: define C(n: int) from A(n = $n) and table T(id = $n) as R "
      "and not B(n = R.n) within 50 ms after A where n = $n;");
  append(row(1, 1, 10));
  append(row(1, 2, 20));
  append(counted("A", 2, 1));
  append(counted("A", 2, 2));
  process();
  for (int i = 3; i < 40; ++i) {
    append(row(i, i % 3, i));  // replaces the rows, and has the table be tidied
    process();
  }
  append(counted("B", 41, 20));
  ASSERT_TRUE(processor.tick(100 * kMillisecond));
  EXPECT_THAT(process(), ElementsAre(HasSubstr("C n=1")));
}

TEST_F(TablesTest, RowsStayWithoutRulesThatReadThem) {
  start();
  deploy(kLookUp);
  append(row(1, 1, 10));
  process();
  ASSERT_TRUE(processor.remove("look"));
  append(row(2, 2, 20));
  process();
  deploy(kRow);
  EXPECT_THAT(ask(3, 1), ElementsAre("3.1 C n=10"));
  EXPECT_THAT(ask(4, 2), ElementsAre("4.1 C n=20"));
}

TEST_F(TablesTest, CountInMemory) {
  start();
  const std::size_t before = table().bytes;
  for (int i = 0; i < 10'000; ++i) append(row(1 + i, i, i));
  process();
  EXPECT_EQ(table().events, 10'000u);
  EXPECT_GT(table().bytes, before + 10'000 * 2 * sizeof(std::int64_t));
}

// The engine of a rule, and those on which it is tried, find rows where they are.
TEST_F(TablesTest, MoveUnderAllEngines) {
  for (const std::string& engine : engine_names()) {
    for (const char* rule : {kLookUp, kRow}) {
      start({.engine = engine, .shuffle_engines = engine == kAutomatic ? 1u : 0u});
      deploy(rule);
      for (int i = 0; i < 300; ++i) {
        append(row(2 * i, i % 7, i));
        append(counted("A", 2 * i + 1, i % 7));
        EXPECT_THAT(process(), ElementsAre(HasSubstr(" C n=" + std::to_string(i)))) << engine;
      }
    }
  }
}

}  // namespace
}  // namespace gorgo
