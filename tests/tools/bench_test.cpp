#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "command_line.hpp"

namespace gorgo::tools {
namespace {

using testing::HasSubstr;
using testing::Not;

class BenchCommand : public CommandLine {};

TEST_F(BenchCommand, MeasuresTheChosenSweepUnderTheChosenEngines) {
  const Outcome outcome =
      run("bench base/window --engine column-scan,handwritten --json report.json");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("base/window/last, x: window (events)\n"));
  EXPECT_THAT(outcome.out, HasSubstr("base/window/each"));
  const auto json = nlohmann::json::parse(read("report.json"));
  EXPECT_EQ(json["complete"], true);
  EXPECT_EQ(json["sweeps"].size(), 2);
  EXPECT_EQ(json["results"].size(), 8);  // two sweeps of two values, two engines
}

TEST_F(BenchCommand, MeasuresAtTheValuesAskedFor) {
  const Outcome outcome =
      run("bench base/window/last --at 300 --engine column-scan --json report.json");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  const auto json = nlohmann::json::parse(read("report.json"));
  ASSERT_EQ(json["results"].size(), 1);
  EXPECT_EQ(json["results"][0]["x"], 300);
}

TEST_F(BenchCommand, ShowsHowLongBatchesWithTerminatorsTake) {
  const Outcome outcome =
      run("bench base/window/last --at 300 --batch 1 --latency --engine column-scan,handwritten "
          "--json report.json");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("batch p50"));
  const auto json = nlohmann::json::parse(read("report.json"));
  const auto& latency = json["results"][0]["batch_ns"];
  EXPECT_GT(latency["p50"], 0);
  EXPECT_LE(latency["p50"], latency["p99"]);
  // A third of the events are terminators.
  EXPECT_NEAR(latency["batches"].get<double>() / json["results"][0]["events"].get<double>(), 0.33,
              0.05);
  EXPECT_FALSE(json["results"][1].contains("batch_ns"));
}

TEST_F(BenchCommand, NamesTheClosestScenario) {
  const Outcome outcome = run("bench base/widow");
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("unknown scenario 'base/widow', did you mean 'base/window'?"));
}

TEST_F(BenchCommand, RefusesUnknownEngines) { EXPECT_EQ(run("bench --engine colum").exit_code, 2); }

TEST_F(BenchCommand, ListsSweeps) {
  const Outcome outcome = run("bench --list");
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_THAT(outcome.out, HasSubstr("base/window/each"));
}

TEST_F(BenchCommand, ShowsThroughputOverTime) {
  const Outcome outcome = run(
      "bench shift --timeline --seconds 0.1 --slice 0.02 --shift-after 20000 --engine column,auto "
      "--json report.json");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("shift/selectivity, x = 500: candidates in the window"));
  EXPECT_THAT(outcome.out, HasSubstr("within 10 % of the best of the others"));
  const auto json = nlohmann::json::parse(read("report.json"));
  ASSERT_EQ(json["timelines"].size(), 2);
  EXPECT_EQ(json["timelines"][1]["engine"], "auto");
  EXPECT_EQ(json["timelines"][1]["slices"][0]["engines"][0], "column");
}

TEST_F(BenchCommand, ShowsALoadThatDoesNotShiftOverTime) {
  const Outcome outcome =
      run("bench base/window/last --at 300 --timeline --seconds 0.05 --slice 0.01 --engine column");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, Not(HasSubstr("shifts")));
}

TEST_F(BenchCommand, RefusesLimitsOfATimelineWithoutOne) {
  EXPECT_EQ(run("bench shift --seconds 1").exit_code, 2);
}

TEST_F(BenchCommand, PlotsAReport) {
  ASSERT_EQ(run("bench base/window --engine column-scan --json report.json").exit_code, 0);
  const Outcome outcome = run("bench plot report.json -o figures");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(outcome.out, "2 figures in figures\n");
  EXPECT_THAT(read("figures/base-window-last.svg"), HasSubstr(">column-scan</text>"));
}

TEST_F(BenchCommand, SaysWhatIsNoReport) {
  write("other.json", "{}");
  const Outcome outcome = run("bench plot other.json");
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.err, HasSubstr("other.json: it is no report"));
  EXPECT_EQ(run("bench plot").exit_code, 2);
}

TEST_F(BenchCommand, SaysThatAReportCannotBeWritten) {
  const Outcome outcome = run("bench base/values --json no/such/folder.json");
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.err, HasSubstr("no/such/folder.json"));
}

}  // namespace
}  // namespace gorgo::tools
