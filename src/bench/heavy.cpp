#include "bench/heavy.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <numbers>

#include "bench/handwritten.hpp"
#include "bench/random.hpp"

namespace gorgo::bench {
namespace {

constexpr std::uint64_t kHeavySeed = 2;

std::string within(std::int64_t window, const std::string& state) {
  return " within " + std::to_string(window) + " from " + state;
}

std::string declaration(const std::string& type, const std::vector<std::string>& attributes) {
  std::string text = "event " + type + "(";
  for (const auto& attribute : attributes) {
    text += (text.ends_with("(") ? "" : ", ") + attribute + ": float";
  }
  return text + ");\n";
}

/// One T (type 0) for two S (type 1); attributes uniform in [0, 1).
EventSource pair_source(std::size_t attributes) {
  return [=, random = Random(kHeavySeed), now = Timestamp{0}](GeneratedEvents& batch) mutable {
    now += kTick;
    batch.add(random.below(3) == 0 ? 0 : 1, now);
    for (std::size_t i = 0; i < attributes; ++i) batch.cell(Datum::of(random.unit()));
  };
}

/// A window in ticks that holds so many S.
std::int64_t pair_window(double candidates) { return std::llround(candidates * 1.5); }

/// `from T(a = $a, ...) and each S(CONDITION) within W from T`
Workload pair_workload(double candidates, const std::vector<std::string>& attributes,
                       const std::string& condition) {
  const std::int64_t window = pair_window(candidates);
  std::string bound;
  for (const auto& name : attributes) bound += (bound.empty() ? "" : ", ") + name + " = $" + name;
  const std::string& first = attributes.front();
  Workload workload;
  workload.rules = declaration("T", attributes) + declaration("S", attributes) +
                   "define Match(a: float, b: float)\nfrom T(" + bound + ")\n  and each S(" +
                   condition + ")" + within(window, "T") + "\nwhere a = T." + first + ", b = S." +
                   first + ";\n";
  workload.types = {"T", "S"};
  workload.passive = {0};
  workload.fill = static_cast<std::uint64_t>(window);
  workload.make_source = [count = attributes.size()] { return pair_source(count); };
  return workload;
}

Workload band(double candidates) {
  const double width = 0.5 / candidates;
  Workload workload = pair_workload(
      candidates, {"v"}, "v > $v - " + literal(width) + " and v < $v + " + literal(width));
  workload.handwritten = [=] { return handwritten_band(width, pair_window(candidates) * kTick); };
  return workload;
}

/// Sum of (x - $x)^2 over the attributes.
std::string squared_distance(const std::vector<std::string>& attributes) {
  std::string sum;
  for (const auto& x : attributes) {
    const std::string difference = "(" + x + " - $" + x + ")";
    sum += (sum.empty() ? "" : " + ") + difference + " * " + difference;
  }
  return sum;
}

Workload distance(double candidates) {
  const double limit = 1 / (std::numbers::pi * candidates);
  const std::vector<std::string> attributes = {"x", "y"};
  Workload workload =
      pair_workload(candidates, attributes, squared_distance(attributes) + " < " + literal(limit));
  workload.handwritten = [=] {
    return handwritten_distance(limit, pair_window(candidates) * kTick);
  };
  return workload;
}

Workload distance8(double candidates) {
  // Volume of the ball: pi^4 r^8 / 24.
  const double limit = std::sqrt(std::sqrt(24 / candidates)) / std::numbers::pi;
  const std::vector<std::string> attributes = {"a", "b", "c", "d", "e", "f", "g", "h"};
  Workload workload =
      pair_workload(candidates, attributes, squared_distance(attributes) + " < " + literal(limit));
  workload.handwritten = [=] {
    return handwritten_distance8(limit, pair_window(candidates) * kTick);
  };
  return workload;
}

Workload halfspace(double candidates) {
  const double limit = halfspace_limit(1 / candidates);
  Workload workload =
      pair_workload(candidates, {"a", "b", "c"}, "a * $a + b * $b + c * $c < " + literal(limit));
  workload.handwritten = [=] {
    return handwritten_halfspace(limit, pair_window(candidates) * kTick);
  };
  return workload;
}

/// C has p in [1, 2). In a window 4 / p of the B are above p, and 2 * p of the A are below p / 2.
/// With fewer there would often be none at all.
Workload inequality(double candidates) {
  const auto window = static_cast<std::int64_t>(candidates * 3);
  Workload workload;
  workload.rules = declaration("C", {"p"}) + declaration("B", {"p"}) + declaration("A", {"p"}) +
                   "define Match(a: float, b: float)\nfrom C(p = $p)\n  and each B(p > $p)" +
                   within(window, "C") + "\n  and each A(p < $p / 2)" + within(window, "B") +
                   "\nwhere a = B.p, b = A.p;\n";
  workload.types = {"C", "B", "A"};
  workload.passive = {0};
  workload.fill = static_cast<std::uint64_t>(2 * window);
  workload.make_source = [candidates] {
    return [=, random = Random(kHeavySeed), now = Timestamp{0}](GeneratedEvents& batch) mutable {
      const auto type = static_cast<std::uint32_t>(random.below(3));
      const double u = random.unit();
      const std::array p = {1 + u, 4 / (candidates * (1 - u)), candidates * u / 4};
      batch.add(type, now += kTick, {Datum::of(p[type])});
    };
  };
  workload.handwritten = [window] { return handwritten_inequality(window * kTick); };
  return workload;
}

/// Volumes have a heavy tail (Pareto, exponent 2), so that few are far above the average of all
/// smaller ones.
Workload filtered_average(double candidates) {
  const auto window = static_cast<std::int64_t>(candidates);
  const std::string type = declaration("Trade", {"volume"});
  Workload workload;
  workload.rules = type +
                   "define Large(volume: float, usual: float)\nfrom Trade(volume = $v)\n  and "
                   "$usual = Avg(Trade(volume < $v).volume" +
                   within(window, "Trade") +
                   ")\n  and $v > 3 * $usual\nwhere volume = $v, usual = $usual;\n";
  workload.keeper = type + "event Never();\ndefine Kept() from Never() and last Trade()" +
                    within(window, "Never") + ";\n";
  workload.types = {"Trade"};
  workload.fill = static_cast<std::uint64_t>(window);
  workload.make_source = [] {
    return [random = Random(kHeavySeed), now = Timestamp{0}](GeneratedEvents& batch) mutable {
      batch.add(0, now += kTick, {Datum::of(1 / std::sqrt(1 - random.unit()))});
    };
  };
  return workload;
}

/// A word of fixed length, so that none contains another.
std::string word(std::uint64_t number) {
  std::string text = std::to_string(number);
  return "w" + std::string(9 - std::min<std::size_t>(9, text.size()), '0') + text;
}

Workload text(double candidates) {
  constexpr int kWords = 8;
  const std::int64_t window = pair_window(candidates);
  Workload workload;
  workload.rules =
      "event Q(word: string);\nevent Log(line: string);\n"
      "define Match(word: string, line: string)\nfrom Q(word = $w)\n  and each Log(line contains "
      "$w)" +
      within(window, "Q") + "\nwhere word = $w, line = Log.line;\n";
  workload.types = {"Q", "Log"};
  workload.passive = {0};
  workload.fill = static_cast<std::uint64_t>(window);
  workload.make_source = [vocabulary = static_cast<std::uint64_t>(candidates * kWords)] {
    return [=, random = Random(kHeavySeed), now = Timestamp{0}](GeneratedEvents& batch) mutable {
      const bool query = random.below(3) == 0;
      std::string line = word(random.below(vocabulary));
      for (int i = 1; i < kWords && !query; ++i) line += " " + word(random.below(vocabulary));
      batch.add(query ? 0 : 1, now += kTick, {batch.text(std::move(line))});
    };
  };
  return workload;
}

/// Each Q asks for a range of words that holds about one of those in the window.
Workload words(double candidates) {
  const std::int64_t window = pair_window(candidates);
  const auto width = static_cast<std::uint64_t>(1e9 / candidates);
  Workload workload;
  workload.rules =
      "event Q(low: string, high: string);\nevent Word(word: string);\n"
      "define Match(low: string, word: string)\nfrom Q(low = $low, high = $high)\n"
      "  and each Word(word >= $low and word < $high)" +
      within(window, "Q") + "\nwhere low = $low, word = Word.word;\n";
  workload.types = {"Q", "Word"};
  workload.passive = {0};
  workload.fill = static_cast<std::uint64_t>(window);
  workload.make_source = [width] {
    return
        [width, random = Random(kHeavySeed), now = Timestamp{0}](GeneratedEvents& batch) mutable {
          const bool query = random.below(3) == 0;
          const std::uint64_t number = random.below(1'000'000'000 - width);
          batch.add(query ? 0 : 1, now += kTick, {batch.text(word(number))});
          if (query) batch.cell(batch.text(word(number + width)));
        };
  };
  return workload;
}

/// Rules that each have a column of their own to search, of four attributes, in rounds as large as
/// the batch. The memory of a device that they need is x, in MiB. A hundredth of the terminators
/// have a match, so that batches may grow.
Workload columns(double mebibytes) {
  constexpr std::uint64_t kRules = 200;
  const std::vector<std::string> attributes = {"a", "b", "c", "d"};
  const double candidates = mebibytes * (1 << 20) / (kRules * sizeof(double) * 4);
  const auto window = static_cast<std::int64_t>(candidates * kRules * 2);
  // Volume of the ball: pi^2 r^4 / 2.
  const double limit = std::sqrt(0.02 / candidates) / std::numbers::pi;
  const std::string bound = "a = $a, b = $b, c = $c, d = $d";
  Workload workload;
  for (std::uint64_t i = 0; i < kRules; ++i) {
    const std::string number = std::to_string(i), t = "T" + number, s = "S" + number;
    workload.rules += declaration(t, attributes) + declaration(s, attributes) + "define Match" +
                      number + "(t: float, s: float)\nfrom " + t + "(" + bound + ")\n  and each " +
                      s + "(" + squared_distance(attributes) + " < " + literal(limit) + ")" +
                      within(window, t) + "\nwhere t = " + t + ".a, s = " + s + ".a;\n";
    workload.passive.push_back(static_cast<std::uint32_t>(workload.types.size()));
    workload.types.insert(workload.types.end(), {t, s});
  }
  workload.fill = static_cast<std::uint64_t>(window);
  workload.make_source = [] {
    return [random = Random(kHeavySeed), now = Timestamp{0}](GeneratedEvents& batch) mutable {
      batch.add(static_cast<std::uint32_t>(random.below(2 * kRules)), now += kTick);
      for (int i = 0; i < 4; ++i) batch.cell(Datum::of(random.unit()));
    };
  };
  return workload;
}

/// Twenty rules ask for half spaces, for one event in thirty, beside rules for one value each of a
/// key that the other events have: what suits one kind does not suit the other.
Workload mixed(double cheap, double candidates) {
  constexpr int kHeavy = 20;
  constexpr std::uint64_t kEvery = 10;  // event that is T or S, one to two
  const auto keys = static_cast<std::uint64_t>(cheap);
  const std::vector<std::string> attributes = {"a", "b", "c"};
  const auto window = static_cast<std::int64_t>(1.5 * kEvery * candidates);
  Workload workload;
  workload.rules = declaration("T", attributes) + declaration("S", attributes) +
                   "event Low(key: int);\nevent High(key: int);\n";
  for (int i = 0; i < kHeavy; ++i) {
    // No two limits are equal, so that nothing is shared but the column.
    const std::string limit = literal(halfspace_limit((1 + 0.1 * i) / candidates));
    workload.rules += "define Near" + std::to_string(i) +
                      "(a: float)\nfrom T(a = $a, b = $b, c = $c)\n  and last S(a * $a + b * $b + "
                      "c * $c < " +
                      limit + ")" + within(window, "T") + "\nwhere a = S.a;\n";
  }
  for (std::uint64_t i = 0; i < keys; ++i) {
    const std::string key = std::to_string(i);
    workload.rules += "define Pair" + key + "(key: int)\nfrom High(key = " + key +
                      ")\n  and last Low(key = " + key + ")" + within(window, "High") +
                      "\nwhere key = Low.key;\n";
  }
  workload.types = {"T", "S", "Low", "High"};
  workload.passive = {0, 3};
  workload.fill = static_cast<std::uint64_t>(window);
  workload.make_source = [keys] {
    return [=, random = Random(kHeavySeed), now = Timestamp{0}](GeneratedEvents& batch) mutable {
      const bool heavy = random.below(kEvery) == 0;
      const bool first = random.below(heavy ? 3 : 2) == 0;
      if (!heavy) {
        const auto key = static_cast<std::int64_t>(random.below(keys));
        return batch.add(first ? 2 : 3, now += kTick, {Datum::of(key)});
      }
      batch.add(first ? 0 : 1, now += kTick);
      for (int i = 0; i < 3; ++i) batch.cell(Datum::of(random.unit()));
    };
  };
  return workload;
}

}  // namespace

std::string literal(double value) {
  char text[40];
  const auto end =
      std::to_chars(text, text + sizeof text, value, std::chars_format::scientific).ptr;
  return {text, end};
}

// The three products must all be below t. With s_i = t u_i and L = -ln t the probability is
// t^3 / 6 * E[prod(L - ln u_i)], u uniform in the simplex, where -ln u_i have the mean psi(4) -
// psi(1) = 11/6, pairwise covariance -psi'(4) and third cumulant psi''(4).
double halfspace_limit(double probability) {
  constexpr double kMean = 11.0 / 6;
  constexpr double kPair = kMean * kMean - 0.283822955737;
  constexpr double kTriple = kMean * kMean * kMean - 3 * kMean * 0.283822955737 - 0.080039732245;
  const auto below = [](double t) {
    const double l = -std::log(t);
    return t * t * t / 6 * (l * l * l + 3 * l * l * kMean + 3 * l * kPair + kTriple);
  };
  double low = 0, high = 1;
  for (int i = 0; i < 200; ++i) {
    const double middle = (low + high) / 2;
    (below(middle) < probability ? low : high) = middle;
  }
  return high;
}

void add_heavy_sweeps(std::vector<Sweep>& sweeps) {
  const auto add = [&sweeps](const std::string& name, Workload (*workload)(double),
                             double few = 500) {
    sweeps.push_back({.id = "heavy/" + name,
                      .axis = "candidates in the window",
                      .quick = {few},
                      .full = {100e3, 250e3, 1e6},
                      .gpu = {100e3, 250e3, 1e6, 4e6},
                      .at = [workload](double x, bool) { return workload(x); }});
  };
  add("band", band);
  add("distance", distance);
  add("distance8", distance8);
  add("halfspace", halfspace);
  add("inequality", inequality, 60);  // the automaton forms every pair of the window
  add("filtered-average", filtered_average);
  add("text", text);
  add("words", words);
  sweeps.push_back({.id = "heavy/mixed",
                    .axis = "cheap rules beside 20 that search 100 000 candidates",
                    .quick = {20},
                    .full = {100, 10e3},
                    .gpu = {},
                    .at = [](double x, bool small) { return mixed(x, small ? 100 : 100e3); }});
  sweeps.push_back({.id = "heavy/columns",
                    .axis = "MiB that 200 rules search, each a column of its own",
                    .quick = {0.25},
                    .full = {64, 256},
                    .gpu = {64, 256, 1024},
                    .at = [](double x, bool small) {
                      Workload workload = columns(x);
                      if (!small) workload.batches = 4;
                      return workload;
                    }});
}

}  // namespace gorgo::bench
