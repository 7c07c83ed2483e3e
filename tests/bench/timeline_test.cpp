#include "bench/timeline.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>

#include "bench/report.hpp"

namespace gorgo::bench {
namespace {

using testing::HasSubstr;
using testing::Not;

const Sweep kShiftSweep = {.id = "shift/selectivity", .axis = "candidates"};

/// Slices of 0.1 s with so many thousand events a second, the shift before slice `shift`.
Timeline timeline_of(const std::string& engine, const std::vector<double>& rates,
                     std::size_t shift) {
  Timeline timeline{.engine = engine};
  for (const double rate : rates) {
    const auto i = static_cast<double>(timeline.slices.size());
    if (timeline.slices.size() == shift) timeline.shift = i * 0.1;
    timeline.slices.push_back({.start = i * 0.1,
                               .seconds = 0.1,
                               .events = static_cast<std::uint64_t>(rate * 100),
                               .engines = {engine == "auto" && i >= 6 ? "cuda" : "column"}});
  }
  return timeline;
}

/// The load shifts behind 0.5 s; `auto` needs 0.2 s to follow.
TimelineCell shifting() {
  TimelineCell cell{.sweep = &kShiftSweep, .x = 1000};
  cell.timelines.push_back(
      timeline_of("column", {800, 800, 800, 800, 800, 40, 40, 40, 40, 40, 40, 40, 40}, 5));
  cell.timelines.push_back(
      timeline_of("cuda", {500, 500, 500, 500, 500, 600, 600, 600, 600, 600, 600, 600, 600}, 5));
  cell.timelines.push_back(
      timeline_of("auto", {800, 800, 800, 800, 800, 40, 300, 580, 580, 580, 580, 580, 580}, 5));
  cell.timelines.back().moves.push_back({.seconds = 0.7,
                                         .rule = "near",
                                         .from = "column",
                                         .to = "cuda",
                                         .because = "1 us under cuda"});
  return cell;
}

TEST(Timeline, KnowsTheRateOnBothSidesOfTheShift) {
  const TimelineCell cell = shifting();
  EXPECT_NEAR(rate_before(cell.timelines[0]), 800e3, 1);
  EXPECT_NEAR(rate_after(cell.timelines[0]), 40e3, 1);
  EXPECT_NEAR(*rate_between(cell.timelines[0], 0.45, 0.55), 420e3, 1);
  EXPECT_FALSE(rate_between(cell.timelines[0], 1.31, 1.4));
  EXPECT_NEAR(best_of_others(cell, cell.timelines[1]), 580e3, 1);
}

TEST(Timeline, IsSettledWhenItStaysWithinTenPercent) {
  const TimelineCell cell = shifting();
  const Timeline& automatic = cell.timelines[2];
  EXPECT_NEAR(settled(automatic, 600e3).value_or(-1), 0.2, 1e-9);
  EXPECT_FALSE(settled(cell.timelines[0], 600e3));
  EXPECT_NEAR(settled(cell.timelines[1], 600e3).value_or(-1), 0, 1e-9);
  const Timeline relapsing =
      timeline_of("auto", {600, 600, 600, 600, 600, 600, 10, 10, 600, 600, 600, 600, 600}, 0);
  EXPECT_NEAR(settled(relapsing, 600e3).value_or(-1), 0.8, 1e-9);
}

TEST(TimelineText, ShowsBarsEnginesAndMoves) {
  const std::string text = text_of(shifting());
  EXPECT_THAT(text, HasSubstr("shift/selectivity, x = 1000: candidates\n"));
  EXPECT_THAT(text, HasSubstr("the load shifts at 0"));
  EXPECT_THAT(text, HasSubstr("  800 k |█████\n"));
  EXPECT_THAT(text, HasSubstr("\n         |colum|cuda--\n"));
  EXPECT_THAT(text, HasSubstr("auto                800 k        580 k  after 0.20 s\n"));
  EXPECT_THAT(text, HasSubstr("never for good"));
  EXPECT_THAT(text, HasSubstr("auto, +0.20 s: near goes from column to cuda: 1 us under cuda\n"));
}

TEST(TimelineText, FitsAPageHoweverLongTheRunIs) {
  TimelineCell cell{.sweep = &kShiftSweep, .x = 1};
  cell.timelines.push_back(timeline_of("column", std::vector<double>(5000, 100), 2000));
  std::istringstream lines(text_of(cell));
  for (std::string line; std::getline(lines, line);) {
    const auto columns = std::ranges::count_if(line, [](char c) { return (c & 0xc0) != 0x80; });
    EXPECT_LE(columns, 84) << line;
  }
}

TEST(TimelineJson, HasWhatReadersRelyOn) {
  Report report{.machine = this_machine()};
  report.timelines.push_back(shifting());
  const auto json = nlohmann::json::parse(to_json(report));
  EXPECT_EQ(json["sweeps"][0]["sweep"], "shift/selectivity");
  const auto& timeline = json["timelines"][2];
  EXPECT_EQ(timeline["engine"], "auto");
  EXPECT_DOUBLE_EQ(timeline["shift"], 0.5);
  EXPECT_NEAR(timeline["settled"], 0.2, 1e-9);
  EXPECT_EQ(timeline["slices"].size(), 13);
  EXPECT_EQ(timeline["slices"][5]["events"], 4000);
  EXPECT_EQ(timeline["slices"][6]["engines"][0], "cuda");
  EXPECT_EQ(timeline["moves"][0]["rule"], "near");
  EXPECT_TRUE(json["timelines"][0]["settled"].is_null());
}

const Sweep& sweep_named(const std::string& id) {
  return *std::ranges::find(sweeps(), id, &Sweep::id);
}

TEST(Shift, MakesFiftyTimesAsManyMatches) {
  const TimelineLimits limits{.seconds = 0.05, .slice = 0.01, .shift_after = 30'000};
  const auto cell = measure_timelines(
      sweep_named("shift/selectivity"), 500, {"column", "auto"}, limits_of("quick"), limits,
      [](const auto&, int) {}, [] { return true; });
  ASSERT_TRUE(cell) << cell.error().to_string();
  EXPECT_EQ(cell->mismatch, "");
  ASSERT_EQ(cell->timelines.size(), 2u);
  for (const Timeline& timeline : cell->timelines) {
    ASSERT_TRUE(timeline.shift);
    EXPECT_TRUE(timeline.run.complete);
    EXPECT_GE(timeline.end() - *timeline.shift, limits.seconds - limits.slice);
    EXPECT_EQ(timeline.slices.front().engines.size(), 1u);
    std::uint64_t before = 0;
    for (const Slice& slice : timeline.slices)
      before += slice.start < *timeline.shift ? slice.events : 0;
    EXPECT_EQ(before, 30u * 1024);
    // One T in three has 0.02 matches, then one.
    const auto& after = timeline.run.after;
    EXPECT_NEAR(static_cast<double>(after[29].composites), 30 * 1024 * 0.02 / 3, 60);
    const auto behind = static_cast<double>(after.back().composites - after[29].composites);
    EXPECT_NEAR(behind / static_cast<double>(after.size() - 30), 1024.0 / 3, 100);
  }
}

}  // namespace
}  // namespace gorgo::bench
