#include "bench/svg.hpp"

#include <cstdio>

namespace gorgo::bench {
namespace {

std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f", value);
  return text;
}

std::string attribute(std::string_view name, std::string_view value) {
  return " " + std::string(name) + "=\"" + std::string(value) + "\"";
}

std::string escaped(std::string_view text) {
  std::string result;
  for (const char c : text) {
    switch (c) {
      case '&':
        result += "&amp;";
        break;
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      default:
        result += c;
    }
  }
  return result;
}

}  // namespace

Svg::Svg(double width, double height)
    : body_(
          "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg xmlns=\"http://www.w3.org/2000/svg\"" +
          attribute("width", number(width)) + attribute("height", number(height)) +
          attribute("font-family", "sans-serif") + attribute("font-size", "13") +
          ">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n") {}

void Svg::line(Point from, Point to, std::string_view colour, std::string_view style) {
  polyline({from, to}, colour, style);
}

void Svg::polyline(const std::vector<Point>& points, std::string_view colour,
                   std::string_view style) {
  std::string places;
  for (const Point& point : points) places += number(point.x) + "," + number(point.y) + " ";
  body_ += "<polyline fill=\"none\"" + attribute("points", places) + attribute("stroke", colour) +
           attribute("style", style) + "/>\n";
}

void Svg::disc(Point centre, double radius, std::string_view colour) {
  body_ += "<circle" + attribute("cx", number(centre.x)) + attribute("cy", number(centre.y)) +
           attribute("r", number(radius)) + attribute("fill", colour) + "/>\n";
}

void Svg::text(Point at, std::string_view text, std::string_view anchor, std::string_view style) {
  body_ += "<text" + attribute("x", number(at.x)) + attribute("y", number(at.y)) +
           attribute("text-anchor", anchor) + attribute("style", style) + ">" + escaped(text) +
           "</text>\n";
}

std::string Svg::finish() const { return body_ + "</svg>\n"; }

}  // namespace gorgo::bench
