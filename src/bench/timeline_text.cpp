#include <algorithm>
#include <array>
#include <cmath>

#include "bench/print.hpp"
#include "bench/timeline.hpp"

namespace gorgo::bench {
namespace {

/// A plot is at most so many columns wide, and so many lines high.
constexpr std::size_t kColumns = 72;
constexpr int kLines = 6;
constexpr std::size_t kMargin = 9;

/// Three digits: 950, 12.3 k, 1.25 M.
std::string rate_text(double rate) {
  const char* unit = "";
  for (const char* larger : {" k", " M", " G"}) {
    if (rate < 999.5) break;
    rate /= 1000;
    unit = larger;
  }
  return print("%.*f%s", *unit == 0 || rate >= 99.95 ? 0 : rate >= 9.995 ? 1 : 2, rate, unit);
}

/// The time that all plots of a cell show, each column a part of it; 0 is the shift.
struct TimeAxis {
  double from = 0, column = 0;
  std::size_t columns = 0;

  double start(std::size_t i) const { return from + static_cast<double>(i) * column; }
};

/// The axis shows at most as much time before the shift as behind it.
TimeAxis axis_of(const TimelineCell& cell) {
  double before = 0, behind = 0;
  for (const Timeline& timeline : cell.timelines) {
    before = std::max(before, timeline.origin());
    behind = std::max(behind, timeline.end() - timeline.origin());
  }
  const double slice = cell.limits.slice;
  before = std::min(before, behind);
  TimeAxis axis;
  axis.column = slice * std::max(1.0, std::ceil((before + behind) / (slice * (kColumns - 2))));
  const auto columns = [&](double time) { return std::ceil(time / axis.column - 1e-6); };
  const double left = columns(before);
  axis.from = -left * axis.column;
  axis.columns = static_cast<std::size_t>(left + columns(behind));
  return axis;
}

std::vector<std::optional<double>> rates_of(const Timeline& timeline, const TimeAxis& axis) {
  std::vector<std::optional<double>> rates;
  for (std::size_t i = 0; i < axis.columns; ++i) {
    const double start = axis.start(i) + timeline.origin();
    rates.push_back(rate_between(timeline, start, start + axis.column));
  }
  return rates;
}

double highest(const std::vector<std::optional<double>>& rates) {
  double rate = 0;
  for (const auto& one : rates) rate = std::max(rate, one.value_or(0));
  return rate;
}

std::string bars(const std::vector<std::optional<double>>& rates, double top) {
  constexpr std::array<const char*, 9> kEighths = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  std::string text;
  for (int line = kLines - 1; line >= 0; --line) {
    text += print("%*s |", static_cast<int>(kMargin) - 2,
                  line == kLines - 1 ? rate_text(top).c_str() : "");
    std::string row;
    for (const auto& rate : rates) {
      // What is measured is seen, however little it is.
      const double height = rate ? std::max(*rate / top * kLines * 8, 1.0) : 0;
      row += kEighths[static_cast<std::size_t>(std::clamp(std::lround(height) - line * 8, 0L, 8L))];
    }
    row.erase(row.find_last_not_of(' ') + 1);
    text += row + "\n";
  }
  return text;
}

/// The engine of all rules at that time; empty: it was not measured.
std::string engine_at(const Timeline& timeline, double time) {
  for (const Slice& slice : timeline.slices) {
    if (time < slice.start || time >= slice.start + slice.seconds || slice.engines.empty())
      continue;
    const bool one =
        std::ranges::count(slice.engines, slice.engines.front()) == std::ssize(slice.engines);
    return one ? slice.engines.front() : "several";
  }
  return "";
}

/// The names of the engines below the bars, each where it begins: "|column---|cuda-----".
std::string engines_line(const Timeline& timeline, const TimeAxis& axis) {
  std::string text(axis.columns, ' '), last;
  std::size_t begin = 0;
  for (std::size_t i = 0; i < axis.columns; ++i) {
    const std::string name =
        engine_at(timeline, axis.start(i) + axis.column / 2 + timeline.origin());
    if (name != last) begin = i;
    last = name;
    const std::string label = "|" + name;
    if (!name.empty()) text[i] = i - begin < label.size() ? label[i - begin] : '-';
  }
  text.erase(text.find_last_not_of(' ') + 1);
  return text.empty() ? "" : std::string(kMargin, ' ') + text + "\n";
}

/// The line of seconds: each number stands where its second begins.
std::string time_line(const TimeAxis& axis) {
  constexpr std::size_t kApart = 10;  // columns, at least
  std::string text(kMargin, ' ');
  const double step = std::max(1.0, std::ceil(static_cast<double>(kApart) * axis.column));
  for (std::size_t i = 0; i < axis.columns; ++i) {
    const double time = std::ceil(axis.start(i) / step - 1e-6) * step;
    if (time >= axis.start(i + 1) - 1e-6 || text.size() > kMargin + i) continue;
    text.resize(kMargin + i, ' ');
    text += print("%g", time == 0 ? 0 : time);
  }
  return text + " s\n";
}

std::string table_of(const TimelineCell& cell) {
  std::string text = print("%-12s %12s %12s  %s\n", "engine", "before", "behind",
                           "within 10 % of the best of the others");
  for (const Timeline& timeline : cell.timelines) {
    const double best = best_of_others(cell, timeline);
    const auto since = settled(timeline, best);
    const std::string before = timeline.shift ? rate_text(rate_before(timeline)) : "-";
    text += print("%-12s %12s %12s  %s\n", timeline.engine.c_str(), before.c_str(),
                  rate_text(rate_after(timeline)).c_str(),
                  best == 0 ? "-"
                  : since   ? print("after %.2f s", *since).c_str()
                            : "never for good");
  }
  return text;
}

std::string moves_of(const TimelineCell& cell) {
  std::string text;
  for (const Timeline& timeline : cell.timelines) {
    for (const Move& move : timeline.moves) {
      text += timeline.engine + print(", %+.2f s: ", move.seconds - timeline.origin()) + move.rule +
              " goes from " + move.from + " to " + move.to + ": " + move.because + "\n";
    }
  }
  return text.empty() ? "no rule went to another engine\n" : text;
}

}  // namespace

std::string text_of(const TimelineCell& cell) {
  std::string text =
      cell.sweep->id + print(", x = %.12g: ", cell.x) + cell.sweep->axis +
      "\nevents/s; time in seconds" +
      (cell.timelines.empty() || !cell.timelines.front().shift ? "" : ", the load shifts at 0") +
      "\n";
  const TimeAxis axis = axis_of(cell);
  double top = 1;
  for (const Timeline& timeline : cell.timelines) {
    top = std::max(top, highest(rates_of(timeline, axis)));
  }
  for (const Timeline& timeline : cell.timelines) {
    text += "\n" + timeline.engine + "\n" + bars(rates_of(timeline, axis), top) + time_line(axis) +
            engines_line(timeline, axis);
  }
  text += "\n" + table_of(cell) + moves_of(cell);
  if (!cell.mismatch.empty()) text += "MISMATCH " + cell.mismatch + "\n";
  return text;
}

}  // namespace gorgo::bench
