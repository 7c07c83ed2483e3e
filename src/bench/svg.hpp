#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace gorgo::bench {

struct Point {
  double x = 0, y = 0;
};

/// An SVG picture under construction, in pixels from the upper left corner. Colours and `style` are
/// in the terms of SVG.
class Svg {
 public:
  Svg(double width, double height);

  void line(Point from, Point to, std::string_view colour, std::string_view style = "");
  void polyline(const std::vector<Point>& points, std::string_view colour,
                std::string_view style = "");
  void disc(Point centre, double radius, std::string_view colour);
  /// `anchor` is start, middle or end.
  void text(Point at, std::string_view text, std::string_view anchor = "start",
            std::string_view style = "");
  /// The finished picture, an XML document.
  std::string finish() const;

 private:
  std::string body_;
};

}  // namespace gorgo::bench
