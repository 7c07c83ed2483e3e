#include "bench/plot.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/property_tree/ptree.hpp>
#include <boost/property_tree/xml_parser.hpp>
#include <sstream>

namespace gorgo::bench {
namespace {

using testing::HasSubstr;

constexpr const char* kReport = R"json({
  "format": 1,
  "machine": {"cpu": "C & P <U>", "cores": 2, "compiler": "g++", "commit": "abc"},
  "sweeps": [{"sweep": "base/window/last", "axis": "window (events)",
                     "log_x" : true
},
             {"sweep": "base/states/last", "axis": "states", "log_x": false}],
  "results": [
    {"sweep": "base/window/last", "x": 1000, "engine": "column",
     "ns_per_event": {"median": 200, "min": 150, "max": 250}},
    {"sweep": "base/window/last", "x": 100000, "engine": "column",
     "ns_per_event": {"median": 20000, "min": 15000, "max": 25000}},
    {"sweep": "base/window/last", "x": 100000, "engine": "reference", "skipped": "predicted 77 s"},
    {"sweep": "base/states/last", "x": 3, "engine": "column", "skipped": "predicted 77 s"}]
})json";

boost::property_tree::ptree parsed(const std::string& xml) {
  std::istringstream stream(xml);
  boost::property_tree::ptree tree;
  boost::property_tree::read_xml(stream, tree);  // throws at what is not well-formed
  return tree;
}

std::vector<std::string> texts(const boost::property_tree::ptree& tree) {
  std::vector<std::string> texts;
  for (const auto& [name, child] : tree.get_child("svg")) {
    if (name == "text") texts.push_back(child.data());
  }
  return texts;
}

TEST(Plot, DrawsASweepWithLabels) {
  const auto figures = plot(kReport);
  ASSERT_TRUE(figures) << figures.error().to_string();
  ASSERT_EQ(figures->size(), 1u);  // of the other sweep nothing was measured
  EXPECT_EQ(figures->front().name, "base-window-last");
  const auto drawn = texts(parsed(figures->front().svg));
  for (const char* text : {"base/window/last", "window (events)", "column", "1k", "100k", "100 ns",
                           "1 µs", "100 µs", "C & P <U>, abc"}) {
    EXPECT_THAT(drawn, testing::Contains(text));
  }
}

TEST(Plot, PutsValuesOnALogarithmicScale) {
  const auto figures = plot(kReport);
  ASSERT_TRUE(figures);
  std::vector<double> x, y;
  const auto tree = parsed(figures->front().svg);
  for (const auto& [name, child] : tree.get_child("svg")) {
    if (name != "circle") continue;
    x.push_back(child.get<double>("<xmlattr>.cx"));
    y.push_back(child.get<double>("<xmlattr>.cy"));
  }
  ASSERT_EQ(x.size(), 3u);  // the last is the legend's
  EXPECT_LT(x[0], x[1]);
  // 200 ns to 20 us are two of the three decades from 100 ns to 100 us, which are 330 pixels.
  EXPECT_NEAR(y[0] - y[1], 220, 0.2);
}

TEST(Plot, RefusesWhatIsNoReport) {
  EXPECT_FALSE(plot("no JSON"));
  EXPECT_FALSE(plot("[]"));
  EXPECT_FALSE(plot("{}"));
  EXPECT_FALSE(plot(R"({"format": 2})"));
  EXPECT_FALSE(plot(R"({"format": 1, "sweeps": [{}]})"));
  EXPECT_FALSE(plot(R"({"format": 1, "sweeps": 1})"));
}

}  // namespace
}  // namespace gorgo::bench
