#include "bench/plot.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "bench/measure.hpp"
#include "bench/svg.hpp"

namespace gorgo::bench {
namespace {

constexpr double kWidth = 760, kHeight = 440;
constexpr double kLeft = 80, kRight = 600, kTop = 50, kBottom = 380;
constexpr double kLegend = 620;
constexpr std::string_view kGrid = "#dddddd", kInk = "#333333";
/// Distinguishable with any colour vision (Okabe and Ito).
constexpr std::array<std::string_view, 6> kColours = {"#0072B2", "#D55E00", "#009E73",
                                                      "#CC79A7", "#E69F00", "#56B4E9"};

/// Where a value stands between two pixels.
class Axis {
 public:
  Axis(bool log, double low, double high, double from, double to)
      : log_(log), low_(scaled(low)), high_(scaled(high)), from_(from), to_(to) {
    if (low_ < high_) return;
    low_ -= 0.5;
    high_ += 0.5;
  }
  double operator()(double value) const {
    return from_ + (scaled(value) - low_) / (high_ - low_) * (to_ - from_);
  }

 private:
  double scaled(double value) const { return log_ ? std::log10(value) : value; }

  bool log_;
  double low_, high_, from_, to_;
};

struct Measured {
  double x, median, min, max;
};

struct Lines {
  std::map<std::string, std::vector<Measured>> by_engine;
  std::set<double> xs;
  double min = 0, max = 0;
};

Lines lines_of(const nlohmann::json& report, const std::string& sweep) {
  Lines lines;
  for (const nlohmann::json& result : report.at("results")) {
    if (result.at("sweep") != sweep || !result.contains("ns_per_event")) continue;
    const nlohmann::json& time = result["ns_per_event"];
    const Measured measured = {result.at("x"), time.at("median"), time.at("min"), time.at("max")};
    lines.min = lines.xs.empty() ? measured.min : std::min(lines.min, measured.min);
    lines.max = std::max(lines.max, measured.max);
    lines.xs.insert(measured.x);
    lines.by_engine[result.at("engine")].push_back(measured);
  }
  return lines;
}

std::string short_number(double value) {
  const char* unit = "";
  for (const char* larger : {"k", "M"}) {
    if (value < 1000) break;
    value /= 1000;
    unit = larger;
  }
  char text[32];
  std::snprintf(text, sizeof text, "%g%s", value, unit);
  return text;
}

std::string time_label(double ns) {
  const char* unit = " ns";
  for (const char* larger : {" µs", " ms", " s"}) {
    if (ns < 999) break;
    ns /= 1000;
    unit = larger;
  }
  char text[32];
  std::snprintf(text, sizeof text, "%g%s", ns, unit);
  return text;
}

/// Decades with a label, their multiples as thin lines; with few decades 2 and 5 have labels, too.
void draw_times(Svg& svg, const Axis& y, double low, double high) {
  const bool few = high / low < 150;
  for (double decade = low; decade < high * 1.01; decade *= 10) {
    for (int multiple = 1; multiple < 10; ++multiple) {
      const double value = decade * multiple;
      if (value > high * 1.01) break;
      const bool labelled = multiple == 1 || (few && (multiple == 2 || multiple == 5));
      svg.line({kLeft, y(value)}, {kRight, y(value)}, kGrid,
               multiple == 1 ? "stroke-width:1.5" : "stroke-width:0.5");
      if (labelled) svg.text({kLeft - 8, y(value) + 4}, time_label(value), "end");
    }
  }
}

/// The measured values are the ticks; a label that has no room is left out.
void draw_values(Svg& svg, const Axis& x, const std::set<double>& values) {
  double last = 0;
  for (const double value : values) {
    svg.line({x(value), kTop}, {x(value), kBottom}, kGrid, "stroke-width:0.5");
    svg.line({x(value), kBottom}, {x(value), kBottom + 5}, kInk);
    if (x(value) - last < 32) continue;
    svg.text({x(value), kBottom + 20}, short_number(value), "middle");
    last = x(value);
  }
}

void draw_line(Svg& svg, const Axis& x, const Axis& y, const std::vector<Measured>& line,
               std::string_view colour, std::string_view style) {
  std::vector<Point> points;
  for (const Measured& m : line) {
    points.push_back({x(m.x), y(m.median)});
    svg.line({x(m.x), y(m.min)}, {x(m.x), y(m.max)}, colour, "stroke-width:1");
    svg.disc(points.back(), 3.5, colour);
  }
  svg.polyline(points, colour, style);
}

using Colours = std::map<std::string, std::string_view>;

/// An engine has the same colour in all figures of a report.
Colours colours_of(const nlohmann::json& report) {
  Colours colours;
  for (const nlohmann::json& result : report.at("results")) colours[result.at("engine")];
  std::size_t next = 0;
  for (auto& [engine, colour] : colours) {
    colour = engine == kHandwritten ? kInk : kColours[next++ % kColours.size()];
  }
  return colours;
}

void draw_engines(Svg& svg, const Axis& x, const Axis& y, const Lines& lines,
                  const Colours& colours) {
  double legend = kTop + 12;
  for (const auto& [engine, line] : lines.by_engine) {
    const std::string_view colour = colours.at(engine);
    const std::string_view style =
        engine == kHandwritten ? "stroke-width:2;stroke-dasharray:6,4" : "stroke-width:2";
    draw_line(svg, x, y, line, colour, style);
    svg.line({kLegend, legend}, {kLegend + 28, legend}, colour, style);
    svg.disc({kLegend + 14, legend}, 3.5, colour);
    svg.text({kLegend + 36, legend + 4}, engine);
    legend += 22;
  }
}

std::string draw(const nlohmann::json& report, const nlohmann::json& sweep, const Lines& lines) {
  Svg svg(kWidth, kHeight);
  const double low = std::pow(10, std::floor(std::log10(lines.min)));
  const double high = std::pow(10, std::ceil(std::log10(lines.max)));
  const double first = *lines.xs.begin(), last = *lines.xs.rbegin();
  const Axis x(sweep.at("log_x").get<bool>() && first > 0, first, last, kLeft + 15, kRight - 15);
  const Axis y(true, low, high, kBottom, kTop);
  draw_times(svg, y, low, high);
  draw_values(svg, x, lines.xs);
  svg.polyline({{kLeft, kTop}, {kLeft, kBottom}, {kRight, kBottom}}, kInk);
  svg.text({kLeft, 24}, sweep.at("sweep").get<std::string>(), "start",
           "font-size:16px;font-weight:bold");
  svg.text({kLeft, 42}, "time per event", "start");
  svg.text({(kLeft + kRight) / 2, kBottom + 44}, sweep.at("axis").get<std::string>(), "middle");
  const nlohmann::json& machine = report.at("machine");
  svg.text({kWidth - 10, 24},
           machine.at("cpu").get<std::string>() + ", " + machine.at("commit").get<std::string>(),
           "end", "font-size:11px;fill:#777777");
  draw_engines(svg, x, y, lines, colours_of(report));
  return svg.finish();
}

}  // namespace

Result<std::vector<Figure>> plot(const std::string& report) {
  const nlohmann::json json = nlohmann::json::parse(report, nullptr, false);
  if (json.is_discarded() || !json.is_object()) return Error{"it is no JSON object", ""};
  if (json.value("format", 0) != 1)
    return Error{"it is no report of this version of gorgo bench", ""};
  std::vector<Figure> figures;
  try {
    for (const nlohmann::json& sweep : json.at("sweeps")) {
      const auto id = sweep.at("sweep").get<std::string>();
      const Lines lines = lines_of(json, id);
      if (lines.xs.empty()) continue;
      std::string name = id;
      std::ranges::replace(name, '/', '-');
      figures.push_back({.name = name, .svg = draw(json, sweep, lines)});
    }
  } catch (const nlohmann::json::exception& error) {
    return Error{error.what(), ""};
  }
  return figures;
}

}  // namespace gorgo::bench
