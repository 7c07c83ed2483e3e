// Rules over windows that are large enough for every way of searching.

#include <gtest/gtest.h>

#include <limits>
#include <random>
#include <sstream>

#include "gorgo/processor.hpp"

namespace gorgo {
namespace {

constexpr int kEvents = 14'000;
constexpr Timestamp kMillisecond = 1'000'000;

std::vector<Event> stream(bool late) {
  std::mt19937 random(7);
  std::vector<Event> events;
  for (int i = 0; i < kEvents; ++i) {
    const bool terminator = i > kEvents / 2 && random() % 150 == 0;
    const Timestamp behind = late && random() % 3 == 0 ? random() % 50 : 0;
    double v = static_cast<double>(random() % 100'000) / 8;
    if (random() % 50 == 0) v = std::numeric_limits<double>::quiet_NaN();
    events.push_back({.type = terminator ? "T" : "S",
                      .timestamp = std::max<Timestamp>(0, i / 2 - behind) * kMillisecond,
                      .attributes = {{"v", v},
                                     {"n", static_cast<std::int64_t>(random() % 3000)},
                                     {"k", static_cast<std::int64_t>(random() % 3)}}});
  }
  return events;
}

/// What comes out, a line for each composite.
std::vector<std::string> composites(const std::string& engine, const std::string& rule, bool late) {
  Processor processor({.engine = engine});
  const auto deployed = processor.deploy(
      "test", "event T(v: float, n: int, k: int); event S(v: float, n: int, k: int);\n" + rule, {});
  EXPECT_FALSE(deployed.failed()) << deployed.render();
  std::vector<std::string> lines;
  const auto deliver = [&](const OutputBatch& batch) {
    for (const auto& row : batch.rows) {
      if (row.rule == OutputBatch::kPrimitive) continue;
      std::ostringstream line;
      line << row.place.root << "." << row.place.ordinal;
      batch.for_each_attribute(row, [&](std::string_view, const Datum& value) {
        line << " "
             << (value.tag == Datum::Tag::floating ? value.floating
                                                   : static_cast<double>(value.integer));
      });
      lines.push_back(line.str());
    }
  };
  for (const Event& event : stream(late)) {
    EXPECT_TRUE(processor.append(event));
    if (processor.pending() == 1000) processor.process(deliver);
  }
  processor.process(deliver);
  return lines;
}

class LargeWindow : public ::testing::TestWithParam<std::string> {};

TEST_P(LargeWindow, EveryWayOfSearchingFindsTheSame) {
  for (const bool late : {false, true}) {
    const auto expected = composites("reference", GetParam(), late);
    EXPECT_GT(expected.size(), 3u) << GetParam();
    EXPECT_EQ(composites("column", GetParam(), late), expected) << GetParam();
    EXPECT_EQ(composites("column-scan", GetParam(), late), expected) << GetParam();
  }
}

std::string rule(const std::string& pattern) {
  return "define O(v: float, n: int) from T(v = $v, n = $n) and " + pattern +
         " where v = S.v, n = S.n;";
}

INSTANTIATE_TEST_SUITE_P(
    Rules, LargeWindow,
    ::testing::Values(
        rule("each S(v > $v - 4 and v < $v + 4) within 6 s from T"),
        rule("each S(v >= $v and v <= $v + 8 and n < $n) within 6 s from T"),
        rule("last S(v > $v - 1 and v < $v + 1) within 6 s from T"),
        rule("first S(v > 12490 and v > $v) within 6 s from T"),
        rule("3-last S(n > $n - 2 and n < $n + 2) within 6 s from T"),
        rule("each S(v > 12450 and v > $v) within 6 s from T"),
        rule("each S((v - $v) * (v - $v) < 9.5) within 6 s from T"),
        rule("each S((v - $v) * (v - $v) + v / 1000 < 400 and n < 2000) "
             "within 6 s from T"),
        rule("last S(-(v - $v) * (v - $v) + 2 * $v > 2 * $v - 9.5) within 6 s from T"),
        rule("each S(v * $v + n * 3.5 < 40000 and k != 1) within 6 s from T"),
        rule("each S(v * 0.5 + $n * v + n * $v < 50000 or v > 12490) within 300 ms from T"),
        rule("each S((v - $v) * (v - $v) + (n - $n) * (n - $n) < 9000) within 6 s from T"),
        rule("each S(2 * v + (n - 3.5) * (n - 3.5) < $v) within 1 s from T"),
        rule("each S(v + n * 2.0 + k * 3.0 < $v / 9 and $n > 1500) within 6 s from T"),
        // Some terminators look at few events, the others at most of the window.
        rule("each S((v - $v) * (v - $v) < $n * $n / 9) within 6 s from T"),
        rule("last S(n = $n) within 6 s from T and not S(v > $v - 2 and v < $v + 2) "
             "between S and T"),
        "define O(v: float, n: int) from T(v = $v) where "
        "v = Sum(S(v > $v - 9 and v < $v + 9).v within 6 s from T), "
        "n = Count(S(v < $v).n within 6 s from T);",
        "define O(v: float, n: int) from T(v = $v, n = $n) where "
        "v = Avg(S(v < $v).v within 6 s from T), "
        "n = Count(S(v * 2.0 + n * $v < 60000).k within 6 s from T);",
        "define O(v: float, n: int) from T(v = $v) where "
        "v = Avg(S(v < $v).n within 4 s from T), n = Sum(S(v > $v).n within 5 s from T);",
        "define O(v: float, n: int) from T(n = $n) where "
        "v = Sum(S(n < $n).v within 2 s from T), n = Count(S(n > $n) within 40 ms from T);",
        "define O(v: float, n: int) from T(v = $v) where "
        "v = Avg(S().n within 5 s from T), n = Count(S() within 5 s from T);",
        "define O(v: float, n: int) from T(v = $v) where "
        "v = Sum(S(v > 0).v within 5 s from T), n = Max(S().n within 5 s from T);",
        "define O(v: float, n: int) from T(v = $v) where "
        "v = Min(S().v within 5 s from T), n = Min(S().n within 3 s from T);",
        "define O(v: float, n: int) from T(v = $v, k = $k) where "
        "v = Avg(S(k = $k and v > 1).v within 5 s from T), "
        "n = Max(S(k = $k).n within 3 s from T);",
        "define O(v: float, n: int) from T(v = $v, k = $k) where "
        "v = Max(S(k = $k and v < 6e3).v within 2 s from T), "
        "n = Count(S(k = $k).v within 3 s from T);",
        "define O(v: float, n: int) from T(v = $v, k = $k) where "
        "v = Last(S(k = $k).v within 5 s from T), n = First(S(n > 2000).n within 3 s from T);",
        "define O(v: float, n: int) from T(v = $v, k = $k) where "
        "v = First(S().v within 2 s from T), n = Sum(S(k = $k).n within 4 s from T);",
        "define O(v: float, n: int) from T(v = $v) and last S() within 6 s from T "
        "where v = S.v, n = Sum(S(n > 1000).n within 6 s from T);"));

}  // namespace
}  // namespace gorgo
