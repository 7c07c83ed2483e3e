#include "bench/report.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace gorgo::bench {
namespace {

using testing::HasSubstr;

const Sweep kSweep = {.id = "base/window/last", .axis = "window (events)"};

Run run_of(double seconds) {
  Run run;
  run.events = 2000;
  run.seconds = seconds;
  run.after = {{10, 1}, {500, 0xabcdef}};
  run.memory = {.events = 100, .bytes = 6400, .rule_bytes = 50};
  return run;
}

Report report() {
  Report report{.machine = this_machine(), .started = "2026-01-02T03:04:05Z", .grid = "full"};
  report.cells.push_back({.sweep = &kSweep,
                          .x = 1000,
                          .engines = {{"column", {run_of(0.002), run_of(0.004), run_of(0.003)}, ""},
                                      {"reference", {}, "predicted 77 s"}},
                          .mismatch = "after 1024 events: ..."});
  report.complete = true;
  return report;
}

TEST(Json, HasWhatReadersRelyOn) {
  const auto json = nlohmann::json::parse(to_json(report()));
  EXPECT_EQ(json["format"], 1);
  EXPECT_EQ(json["grid"], "full");
  EXPECT_EQ(json["complete"], true);
  EXPECT_GT(json["machine"]["cores"], 0);
  for (const char* key : {"cpu", "compiler", "commit"}) EXPECT_TRUE(json["machine"].contains(key));
  EXPECT_EQ(json["sweeps"][0]["sweep"], "base/window/last");
  EXPECT_EQ(json["sweeps"][0]["axis"], "window (events)");
  EXPECT_EQ(json["mismatches"][0]["x"], 1000);
  const auto& result = json["results"][0];
  EXPECT_EQ(result["scenario"], "base");
  EXPECT_EQ(result["sweep"], "base/window/last");
  EXPECT_EQ(result["x"], 1000);
  EXPECT_EQ(result["engine"], "column");
  EXPECT_DOUBLE_EQ(result["ns_per_event"]["median"], 1500);
  EXPECT_DOUBLE_EQ(result["ns_per_event"]["min"], 1000);
  EXPECT_DOUBLE_EQ(result["ns_per_event"]["max"], 2000);
  EXPECT_EQ(result["events"], 2000);
  EXPECT_EQ(result["composites"], 500);
  EXPECT_EQ(result["checksum"], "0000000000abcdef");
  EXPECT_EQ(result["bytes"], 6400);
  EXPECT_EQ(result["bytes_per_event"], 64);
  EXPECT_FALSE(result.contains("skipped"));
  EXPECT_EQ(json["results"][1]["skipped"], "predicted 77 s");
  EXPECT_FALSE(json["results"][1].contains("ns_per_event"));
}

/// A report of three repetitions, of 8000 terminators each, two of which say what was declined.
Report with_declined() {
  Report declining = report();
  auto& runs = declining.cells[0].engines[0].runs;
  for (Run& run : runs) run.terminators = 8000;
  runs[1].declined = {{500, "column-scan", "no room"}};
  runs[2].declined = {{7, "column-scan", "no room"}, {3, "column-scan", "long text"}};
  return declining;
}

TEST(Json, SaysWhatWasDeclinedWhyAndWhoEvaluatedIt) {
  const auto json = nlohmann::json::parse(to_json(with_declined()));
  const auto& declined = json["results"][0]["declined"];
  ASSERT_EQ(declined.size(), 2u);
  EXPECT_EQ(declined[0]["terminators"], 507);
  EXPECT_EQ(declined[0]["of"], 24000);
  EXPECT_EQ(declined[0]["by"], "column-scan");
  EXPECT_EQ(declined[0]["because"], "no room");
  EXPECT_EQ(declined[1]["terminators"], 3);
  const auto none = nlohmann::json::parse(to_json(report()));
  EXPECT_FALSE(none["results"][0].contains("declined"));
}

TEST(Table, SaysWhatWasDeclinedWhyAndWhoEvaluatedIt) {
  const std::string table = table_of(with_declined().cells);
  EXPECT_THAT(table, HasSubstr("DECLINED 507 of 24000 terminators, evaluated by column-scan: "
                               "no room\n"));
  EXPECT_THAT(table, HasSubstr("DECLINED 3 of 24000 terminators, evaluated by column-scan: "
                               "long text\n"));
  EXPECT_THAT(table_of(report().cells), testing::Not(HasSubstr("DECLINED")));
}

TEST(Table, SaysWhatWasMeasuredSkippedAndWrong) {
  const std::string table = table_of(report().cells);
  EXPECT_THAT(table, HasSubstr("base/window/last, x: window (events)\n"));
  EXPECT_THAT(table, HasSubstr("1.50 us"));
  EXPECT_THAT(table, HasSubstr("1.00 us .. 2.00 us"));
  EXPECT_THAT(table, HasSubstr("skipped: predicted 77 s"));
  EXPECT_THAT(table, HasSubstr("MISMATCH after 1024 events"));
}

}  // namespace
}  // namespace gorgo::bench
