#pragma once

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "doors/door.hpp"

namespace gorgo::cluster {

/// Random rules over the types A, B and C, most of which a key divides, and streams of their
/// events. C is a table.
class KeyedRules {
 public:
  explicit KeyedRules(std::uint64_t seed) : random_(seed) {}

  std::string rules() {
    std::string text = "table C(k: string key, g: int key, v: int, x: float);\n";
    for (const char* const type : {"A", "B"}) {
      text += "event " + std::string(type) + "(k: string, g: int, v: int, x: float);\n";
    }
    std::vector<std::string> types = {"A", "B", "C"};
    const int count = number(1, 4);
    for (int i = 0; i < count; ++i) {
      const std::string made = "D" + std::to_string(one_in(5) && i > 0 ? i - 1 : i);
      text += rule("R" + std::to_string(i), made, types);
      // A type that is made later than it is read closes a cycle, which is not the point here.
      if (std::find(types.begin(), types.end(), made) == types.end()) types.push_back(made);
    }
    return text;
  }

  /// Events in the order of their places; some are late.
  doors::Departing stream() {
    doors::Departing all;
    Timestamp now = 0;
    const int count = number(50, 250);
    for (int i = 1; i <= count; ++i) {
      now += number(0, 3) * 1'000'000;
      const Timestamp behind = one_in(6) ? number(0, 12) * 1'000'000 : 0;
      Event event{.type = std::string(1, static_cast<char>('A' + number(0, 2))),
                  .timestamp = now - behind,
                  .attributes = {}};
      event.attributes.push_back({"k", "key " + std::to_string(number(0, 5))});
      event.attributes.push_back({"g", std::int64_t{number(-1, 2)}});
      event.attributes.push_back({"v", std::int64_t{number(0, 9)}});
      event.attributes.push_back({"x", number(0, 40) / 8.0});
      all.rows.push_back({{static_cast<std::uint64_t>(i), 0}, std::move(event)});
    }
    return all;
  }

  int number(int low, int high) { return std::uniform_int_distribution<int>(low, high)(random_); }
  bool one_in(int n) { return number(1, n) == n; }

 private:
  std::mt19937_64 random_;
  std::string key_;  // of the rule in the making
  std::vector<std::string> types_;

  std::string any(const std::vector<std::string>& items) {
    return items[static_cast<std::size_t>(number(0, static_cast<int>(items.size()) - 1))];
  }
  std::string width() { return std::to_string(number(1, 15)) + " ms"; }

  /// What ties a predicate to the terminator; now and then it does not.
  std::string tie() {
    if (one_in(25)) return "v > 3";
    const std::string other = one_in(3) ? "S0." + key_ : "$key";
    return one_in(4) ? other + " = " + key_ : key_ + " = " + other;
  }
  std::string tied(const std::string& type) {
    return type + "(" + tie() + (one_in(2) ? ", v > " + std::to_string(number(0, 7)) : "") + ")";
  }

  std::string rule(const std::string& name, const std::string& made,
                   const std::vector<std::string>& types) {
    types_ = types;
    key_ = one_in(4) ? "g" : "k";
    std::string text = one_in(6) ? "@at_most(2, per = " + width() + ", by = " + key_ + ") " : "";
    const bool counts = one_in(5);
    text += "rule " + name + ":\ndefine " + made + "(k: string, g: int, v: int, x: float)\nfrom " +
            (counts ? "every " + std::to_string(number(1, 4)) + " " : "") + any(types_) + "(" +
            key_ + " = $key) as S0" + (counts ? " per " + key_ : "");
    const int states = number(0, 2);
    for (int i = 1; i <= states; ++i) {
      text += "\n  and " + any({"each", "last", "first", "2-last", "2-first"}) + " " +
              tied(any(types_)) + " as S" + std::to_string(i) + " within " + width() + " from S" +
              std::to_string(number(0, i - 1));
    }
    if (one_in(4)) text += "\n  and table C(" + tie() + ") as Row and Row.v >= S0.v";
    if (one_in(3)) text += "\n  and not " + tied(any(types_)) + " within " + width() + " from S0";
    if (states > 0 && one_in(3)) text += "\n  and not " + tied(any(types_)) + " between S0 and S1";
    if (one_in(3)) text += "\n  and not " + tied(any(types_)) + " within " + width() + " after S0";
    const std::string aggregate = any({"Sum", "Avg", "Max", "Count", "Median", "Last"}) + "(" +
                                  tied(any(types_)) + ".v within " + width() + " from S0)";
    text += "\nwhere k = S0.k, g = S" + std::to_string(key_ == "g" ? number(0, states) : 0) +
            ".g, v = S0.v, x = " +
            any({aggregate, aggregate, "S0.x", "coalesce(C(k = S0.k, g = S0.g).x, S0.x)"});
    if (states > 0 && one_in(3)) text += "\nconsuming S1";
    return text + ";\n";
  }
};

}  // namespace gorgo::cluster
