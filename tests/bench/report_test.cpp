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
