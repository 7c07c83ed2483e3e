#include "generator.hpp"

#include <rapidcheck.h>

#include <cctype>
#include <cmath>
#include <functional>
#include <set>

namespace gorgo::testing {
namespace {

int number(int low, int high) { return *rc::gen::inRange(low, high + 1); }
bool one_in(int n) { return number(0, n - 1) == n - 1; }

template <class T>
T any_of(const std::vector<T>& items) {
  return items[static_cast<std::size_t>(number(0, static_cast<int>(items.size()) - 1))];
}

const std::vector<std::string> kComparisons = {"=", "!=", "<", "<=", ">", ">="};

/// What functions make of an event; # stands for its state. Those of one argument that are alike
/// are drawn together, so that none crowds out the others.
const std::vector<std::vector<std::string>> kComputed = {
    {"abs(#.v)", "sign(#.x)", "mod(#.v, 3)", "mod(#.x, 0.7)"},
    {"floor(#.x)", "ceil(#.x)", "round(#.x)", "length(#.s)"},
    {"min(#.v, #.x)", "max(#.v, #.x)", "coalesce(#.x, #.v, 1)", "if(#.v > 0, #.k, 2)"},
    {"sqrt(#.x)", "exp(#.x)", "ln(#.x)", "log10(#.v)", "pow(#.x, #.v)"},
    {"sin(#.x)", "cos(#.v)", "atan2(#.x, #.v)", "geo_distance(#.x, #.v, #.k, 1)"},
    {"second(#.timestamp)", "minute(#.timestamp)", "hour(#.timestamp, \"Asia/Kolkata\")",
     "day(#.timestamp, \"America/New_York\")", "weekday(#.timestamp)", "month(#.timestamp)",
     "year(#.timestamp)", "#.timestamp - time(\"1970-01-01T00:00:00.005Z\")",
     "truncate(#.timestamp, 7 ms, \"Europe/Rome\")"}};
const std::vector<std::string> kComputedTexts = {"upper(#)", "lower(#)", "concat(#, \"b\")",
                                                 "substring(#, 2)", "coalesce(#, \"a\")"};

std::string filled_in(std::string text, const std::string& state) {
  for (std::size_t at = 0; (at = text.find('#', at)) != std::string::npos; at += state.size()) {
    text.replace(at, 1, state);
  }
  return text;
}

std::string random_width() { return std::to_string(number(1, 20)) + " ms"; }

/// Whether B is a table, and how often rules read it as such.
enum class Tables { none, some, many };

/// Writes one rule. Its sequences are limited, because hierarchies of `each` multiply them beyond
/// what a test can wait for. States are named S0, S1, ...; parameters $p0, $p1, ... are bound to
/// `k` of some states.
class RuleWriter {
 public:
  /// The rule may read events of `types`. Its times and its limit may be the constants whose names
  /// begin so.
  RuleWriter(std::string name, std::string type, std::vector<std::string> types,
             std::string constants, bool joins = true, Tables tables = Tables::some)
      : joins_(joins),
        tables_(tables),
        name_(std::move(name)),
        type_(std::move(type)),
        types_(std::move(types)),
        constants_(std::move(constants)) {}

  /// A condition on an event alone.
  std::string own_condition() { return condition(); }

  std::string write() {
    std::string text = at_most() + "@limit(max_sequences = 30) rule " + name_ + ":\ndefine " +
                       type_ + "(k: int, v: int, x: float, s: string)\nfrom ";
    const bool counts = one_in(5);
    if (counts) text += "every " + (one_in(4) ? constants_ + "Best" : small_number()) + " ";
    text += state(0);
    if (counts && one_in(2)) text += any_keys();
    const int states = number(1, 4);
    for (int i = 1; i < states; ++i) text += "\n  and " + selected_state(i);
    for (int i = one_in(2) ? number(1, 2) : 0; i > 0; --i) text += "\n  and " + negation();
    if (one_in(5)) text += "\n  and " + absence();
    for (int i = one_in(3) ? 1 : 0; i > 0; --i) text += "\n  and " + filter();
    return text + where() + order() + consuming() + ";\n";
  }

 private:
  std::string at_most() {
    if (!one_in(4)) return "";
    return "@at_most(" + small_number() + ", per = " + window() +
           any_of<std::string>({"", ", by = k", ", by = k", ", by = x", ", by = s, v"}) + ") ";
  }

  /// One type, or several.
  std::string type() {
    const std::string one = any_of(types_);
    if (!joins_ || !one_in(5)) return one;
    const std::string other = any_of(types_);
    return other == one ? one : one + " or " + other;
  }

  std::string state(int index) {
    const std::string type = this->type();
    std::vector<std::string> conditions;
    if (index == 0 || one_in(3)) {
      const std::string parameter = "$p" + std::to_string(parameters_++);
      conditions.push_back("k " + any_of<std::string>({"=", "=>"}) + " " + parameter);
      bound_at_.push_back(index);
    }
    states_ = index;  // conditions may name the earlier states only
    for (int i = number(0, index == 0 ? 1 : 2); i > 0; --i) conditions.push_back(condition());
    states_ = index + 1;
    return type + "(" + joined(conditions) + ") as S" + std::to_string(index);
  }

  std::string selected_state(int index) {
    if (reads_table()) return row(index);
    const std::string selection =
        any_of<std::string>({"each", "last", "first", "2-first", "3-last"});
    const std::string reference = earlier_state();
    const bool newest = selection != "first" && selection != "2-first";
    return selection + " " + state(index) + (selection == "each" ? "" : keys()) + " within " +
           (newest ? events() : of_all()) + window() + end() + " from " + reference;
  }

  /// Small numbers are drawn more often than others.
  bool reads_table() const {
    if (tables_ == Tables::none) return false;
    return tables_ == Tables::many ? !one_in(2) : one_in(4);
  }
  /// A state of the table B, marked so that it can be written in two ways: its name, a condition on
  /// its key, and one on another attribute, either of which may be missing.
  std::string row(int index) {
    states_ = index;
    const std::string condition =
        one_in(3) ? "" : "k " + any_of(kComparisons) + " " + sequence_number();
    const std::string test = one_in(2) ? ""
                                       : any_of<std::string>({"v ", "x "}) + any_of(kComparisons) +
                                             " " + sequence_number();
    states_ = index + 1;
    rows_.insert(index);
    return "TABLE[S" + std::to_string(index) + ";" + condition + ";" + test + "]";
  }
  /// A value that is looked up in the table B, marked in the same way.
  std::string look_up() {
    return "LOOK[B(k = " + any_of<std::string>({"1", sequence_number()}) + ")" +
           any_of<std::string>({".v", ".x"}) + "]";
  }

  static std::string keys() { return one_in(3) ? any_keys() : ""; }
  static std::string any_keys() {
    return any_of<std::string>({" per k", " per k", " per x", " per s", " per k, v", " per s, k"});
  }

  /// Marked where a row completes it, so that it can be written in two ways.
  std::string negation() {
    const std::string none = type() + "(" + joined(conditions(2)) + ") " + span();
    return rows_.contains(latest_state(none)) ? "ABSENT[" + none + "]" : "not " + none;
  }
  /// The latest state that a text mentions, by its name or by what it binds.
  int latest_state(const std::string& text) const {
    int latest = 0;
    for (std::size_t i = 0; i + 1 < text.size(); ++i) {
      const bool is_number = std::isdigit(static_cast<unsigned char>(text[i + 1])) != 0;
      if (!is_number || (text[i] != 'S' && text[i] != 'p')) continue;
      const int number = text[i + 1] - '0';
      latest = std::max(latest, text[i] == 'S' ? number : bound_at_[number]);
    }
    return latest;
  }

  std::string absence() {
    return "not " + type() + "(" + joined(conditions(2)) + ") within " + window() + " after S0";
  }

  std::string span(const std::string& events = "") {
    const int first = earlier_event(), second = earlier_event();
    if (first != second && one_in(2)) {
      return "between S" + std::to_string(first) + " and S" + std::to_string(second);
    }
    return "within " + events + window() + end() + " from S" + std::to_string(first);
  }

  std::string filter() {
    if (reads_table()) {
      return sequence_number() + " " + any_of(kComparisons) + " coalesce(" + look_up() + ", 1)";
    }
    switch (number(0, 2)) {
      case 0:
        return "S" + std::to_string(number(0, states_ - 1)) + ".v < " + aggregate();
      case 1:
        return sequence_number() + " " + any_of(kComparisons) + " " + sequence_number();
      default:
        return "(" + sequence_number() + " > 0 or not (" + sequence_number() + " <= 1))";
    }
  }

  std::string where() {
    const std::string x = reads_table() ? look_up() : one_in(2) ? aggregate() : sequence_number();
    return "\nwhere k = S" + std::to_string(number(0, states_ - 1)) +
           ".k, v = " + (one_in(3) ? aggregate() : "S0.v") + ", x = " + x +
           ", s = " + sequence_string();
  }

  std::string order() {
    if (!one_in(3)) return "";
    const std::string by = any_of<std::string>({"", "\norder by x desc", "\norder by s, k desc",
                                                "\norder by v asc", "\norder by x, v desc"});
    return by + (by.empty() || one_in(2) ? "\nlimit " + small_number() : "");
  }

  std::string small_number() {
    return one_in(4) ? constants_ + "Best" : std::to_string(number(1, 3));
  }

  std::string consuming() {
    if (states_ < 2 || !one_in(2)) return "";
    std::string text;
    for (int i = 1; i < states_; ++i) {
      if (rows_.contains(i) || one_in(2)) continue;
      text += (text.empty() ? "\nconsuming S" : ", S") + std::to_string(i);
    }
    return text;
  }

  std::string aggregate() {
    const std::string function =
        any_of<std::string>({"Sum", "Avg", "Min", "Max", "Count", "Sum", "Avg", "Min", "Max",
                             "Count", "StdDev", "StdDevPop", "Variance", "VariancePop", "Median",
                             "Percentile", "CountDistinct", "First", "Last"});
    const std::string type = this->type();
    const std::string attribute = any_of<std::string>({"v", "x"});
    if (function == "Count" && one_in(2)) {
      return "Count(" + type + "(" + joined(conditions(2)) + ") " + span(events()) + ")";
    }
    return function + "(" + type + "(" + joined(conditions(2)) + ")." + attribute + " " +
           span(events()) + (function == "Percentile" ? ", 90)" : ")");
  }

  std::vector<std::string> conditions(int most) {
    std::vector<std::string> list;
    for (int i = number(0, most); i > 0; --i) list.push_back(condition());
    return list;
  }

  std::string condition() {
    switch (number(0, 16)) {
      case 0:
        return "v " + any_of(kComparisons) + " " + std::to_string(number(-2, 4));
      case 1:
        return "x " + any_of(kComparisons) + " 0.5";
      case 2:
        return "v " + any_of(kComparisons) + " x";
      case 3:
        return "not (" + link() + " and v > 0)";
      case 4:
        return "(" + link() + " or x >= 1.5)";
      case 5:
        return text_link();
      case 6:
        return "(not " + text_link() + " or " + link() + ")";
      case 7:
        return any_of<std::string>({"lower(s) = s", "s like \"%b_\"", "s matches \"a+b\"",
                                    "starts_with(s, \"aaaaaaa\")", "length(s) in (0, 7, 8)",
                                    "exists(x)", "not exists(s)", "v in (0, 2.0, x)"});
      case 8:
        return computed_link();
      default:
        return link();
    }
  }

  /// A condition that ties the event under test to the sequence, as far as there is one.
  std::string link() {
    const std::string attribute = any_of<std::string>({"k", "v", "x"});
    const std::string comparison = one_in(3) ? "=" : any_of(kComparisons);
    if (states_ == 0) return attribute + " " + comparison + " 1";
    const std::string other = parameters_ > 0 && one_in(2) ? parameter() : sequence_number();
    return one_in(4) ? other + " " + comparison + " " + attribute
                     : attribute + " " + comparison + " " + other;
  }

  /// A condition that computes something from the event under test and the sequence.
  std::string computed_link() {
    const std::string number = states_ == 0 ? "1" : sequence_number();
    const std::string text = states_ == 0 ? "\"a\"" : sequence_string();
    return any_of<std::string>({"abs(v) = " + number, "floor(x) >= " + number,
                                "max(v, x) < " + number, "lower(s) = lower(" + text + ")",
                                "concat(s, \"b\") != " + text, "ends_with(s, " + text + ")",
                                "if(v > 0, x, 0.5) <= " + number, "coalesce(x, v) = " + number});
  }

  /// A condition that ties a string of the event under test to an attribute of the sequence or,
  /// rarely, to a constant.
  std::string text_link() {
    const std::string comparison = one_in(3) ? "contains" : any_of(kComparisons);
    if (states_ == 0 || one_in(8)) return "s " + comparison + " \"a\"";
    const std::string other = sequence_string();
    return one_in(3) ? other + " " + comparison + " s" : "s " + comparison + " " + other;
  }
  std::string sequence_string() {
    const std::string state = "S" + std::to_string(number(0, std::max(0, states_ - 1)));
    if (one_in(20)) return "date(" + state + ".timestamp)";
    return one_in(6) ? filled_in(any_of(kComputedTexts), state + ".s") : state + ".s";
  }

  std::string sequence_number() {
    const std::string state = "S" + std::to_string(number(0, std::max(0, states_ - 1)));
    switch (number(0, 5)) {
      case 0:
        return state + ".v + 1";
      case 4:
      case 5:
        return filled_in(any_of(any_of(kComputed)), state);
      case 1:
        return state + ".x";
      case 2:
        return state + ".v / " + state + ".k";
      default:
        return state + ".k";
    }
  }

  std::string parameter() { return "$p" + std::to_string(number(0, parameters_ - 1)); }
  /// A state that is no row of a table.
  int earlier_event() {
    const int state = number(0, states_ - 1);
    return rows_.contains(state) ? 0 : state;
  }
  std::string earlier_state() { return "S" + std::to_string(earlier_event()); }
  /// Mostly all events of a window count.
  std::string events() { return one_in(4) ? small_number() + " events in " : of_all(); }
  std::string of_all() { return one_in(6) ? small_number() + " of all events in " : ""; }
  std::string window() const { return one_in(4) ? constants_ + "Window" : random_width(); }
  static std::string end() { return one_in(3) ? " inclusive" : ""; }

  static std::string joined(const std::vector<std::string>& parts) {
    std::string text;
    for (const auto& part : parts) text += (text.empty() ? "" : ", ") + part;
    return text;
  }

  const bool joins_;  // whether states may be over several types
  const Tables tables_;
  std::set<int> rows_;  // states that are rows of B
  std::string name_;
  std::string type_;
  std::vector<std::string> types_;
  std::string constants_;
  int states_ = 0;             // named so far
  int parameters_ = 0;         // bound so far
  std::vector<int> bound_at_;  // the states that bind them
};

/// Beginnings of the names of a file's rules and composite types.
struct Names {
  std::string rule;
  std::string type;
};

/// A report on the groups of a window.
std::string group_rule(const Names& names, const std::string& type) {
  const std::string width = random_width() + " inclusive from Timer";
  const std::string window =
      " within " + (one_in(3) ? std::to_string(number(1, 9)) + " of all events in " : "") + width;
  const std::string counted = one_in(3) ? " within 3 events in " + width : window;
  const std::string keys = any_of<std::string>({"k", "k, s", "v", "s"});
  const std::string function = any_of<std::string>({"Sum", "Avg", "Max", "Median"});
  return "rule " + names.rule + "Groups: define " + names.type +
         "0(k: int, v: int, x: float, s: string)\nfrom Timer(every = " +
         std::to_string(number(1, 8)) + " ms)\n  and " + any_of<std::string>({"last", "first"}) +
         " " + type + "(k = $k, s = $s) as S1 per " + keys + window + "\n  and $x = " + function +
         "(" + type + "(k = $k).x" + counted + ")\n  and $x > 0.5\nwhere k = $k, v = Count(" +
         type + "(k = $k)" + window + "), x = $x, s = $s\norder by x desc limit " +
         std::to_string(number(1, 3)) + ";\n";
}

std::string timer_rule(const Names& names, std::vector<std::string> types) {
  types.push_back("A");
  const std::string type = any_of(types);
  if (one_in(2)) return group_rule(names, type);
  return "rule " + names.rule + "Clock: define " + names.type +
         "0(k: int, v: int, x: float, s: string)\nfrom Timer(every = " +
         std::to_string(number(1, 8)) + " ms)\n  and " + any_of<std::string>({"each", "last"}) +
         " " + type + "(k > 0) as S1 within " + std::to_string(number(1, 10)) +
         " ms from Timer\nwhere k = S1.k, v = Count(" + type +
         "() within 9 ms from Timer), x = S1.x, s = S1.s;\n";
}

/// An aggregate that panes can answer, of a rule whose timer has this period. `keyed`: the rule has
/// the parameters `$k` and `$s`.
std::string pane_aggregate(int period, bool keyed) {
  const std::string function = any_of<std::string>({"Sum", "Avg", "Min", "Max", "Count"});
  const std::string type = any_of<std::string>({"A", "B", "C", "U", "C0", "A or C"});
  std::string conditions = one_in(3) ? "v > 0" : one_in(3) ? "upper(s) != \"A\"" : "";
  if (keyed && !one_in(4)) {
    conditions += (conditions.empty() ? "" : ", ") +
                  any_of<std::string>({"k = $k", "s = $s", "s = $s, k = $k", "$k = k, $k > 0"});
  }
  const bool is_of_events = function == "Count" && one_in(2);
  return function + "(" + type + "(" + conditions + ")" +
         (is_of_events ? "" : "." + any_of<std::string>({"v", "x"})) + " within " +
         std::to_string(period * number(1, 4)) + " ms inclusive from Timer)";
}

/// A report whose aggregates panes can answer.
std::string pane_rule(const std::string& name) {
  const int period = number(1, 6);
  const bool keyed = one_in(2);
  std::string text =
      "PANES rule R" + name + ": define P" + name +
      "(k: int, a: float, b: float, c: float)\nfrom Timer(every = " + std::to_string(period) +
      " ms)";
  if (keyed) {
    text += "\n  and " + any_of<std::string>({"each A", "last A", "table B"}) +
            "(k = $k, s = $s) as S1";
    if (text.find("table B") == text.npos) {
      text += " within " + std::to_string(number(1, 9)) + " ms from Timer";
    }
  }
  if (one_in(3)) text += "\n  and " + pane_aggregate(period, keyed) + " > 1";
  return text + "\nwhere k = " + (keyed ? "$k" : "1") + ", a = " + pane_aggregate(period, keyed) +
         ", b = " + pane_aggregate(period, keyed) + ", c = " + pane_aggregate(period, keyed) +
         ";\n";
}

double random_float() {
  if (one_in(10)) return any_of<double>({-0.0, 1e300, std::nan(""), HUGE_VAL, -HUGE_VAL});
  return 0.5 * number(0, 4);
}

/// Strings that mostly differ late, around the ends of words of 8 bytes.
std::string random_string() {
  if (one_in(40)) return std::string(static_cast<std::size_t>(number(250, 300)), 'a');
  std::string text(any_of<std::size_t>({0, 0, 0, 6, 7, 8, 15, 16}), 'a');
  for (int i = number(0, 2); i > 0; --i) {
    text += any_of<std::string>({"a", "b", std::string(1, '\0'), "\u00e9"});
  }
  return text;
}

std::string write_rules(const Names& names, bool joins = true, Tables tables = Tables::some) {
  std::string text = "const " + names.rule + "Window = " + random_width() + ";\nconst " +
                     names.rule + "Best = " + std::to_string(number(1, 3)) + ";\n";
  const std::vector<std::string> published = {"A", "B", "C", "U"};
  std::vector<std::string> composites;
  const int rules = number(1, 4);
  for (int i = 0; i < rules; ++i) {
    // A type of its own, or one that an earlier rule produces too. Mostly a rule reads nothing that
    // it feeds; sometimes it closes a cycle.
    const int own = static_cast<int>(composites.size());
    const int level = own > 0 && one_in(4) ? number(0, own - 1) : own;
    if (level == own) composites.push_back(names.type + std::to_string(own));
    const int readable = one_in(6) ? static_cast<int>(composites.size()) : level;
    std::vector<std::string> types = published;
    for (int below = 0; below < readable; ++below) types.insert(types.end(), 2, composites[below]);
    text += RuleWriter(names.rule + std::to_string(i), composites[level], types, names.rule, joins,
                       tables)
                .write();
  }
  if (one_in(4)) text += timer_rule(names, composites);
  return text;
}

/// How to write what is marked.
struct Spelling {
  std::function<std::string(const std::string& state, const std::string& key,
                            const std::string& test)>
      row;
  std::function<std::string(const std::string& predicate, const std::string& attribute)> look_up;
  std::function<std::string(const std::string& predicate_and_span)> absence;
};

std::string unmarked(const std::string& rules, const Spelling& spelling) {
  std::string text;
  const auto is_at = [&](std::size_t i, std::string_view mark) {
    return rules.compare(i, mark.size(), mark) == 0;
  };
  for (std::size_t i = 0; i < rules.size();) {
    const bool is_row = is_at(i, "TABLE["), is_look_up = is_at(i, "LOOK[");
    if (!is_row && !is_look_up && !is_at(i, "ABSENT[")) {
      text += rules[i++];
      continue;
    }
    const std::size_t begin = rules.find('[', i) + 1, end = rules.find(']', i);
    const std::string marked = rules.substr(begin, end - begin);
    if (is_row) {
      const std::size_t key = marked.find(';') + 1, test = marked.rfind(';') + 1;
      text += spelling.row(marked.substr(0, key - 1), marked.substr(key, test - 1 - key),
                           marked.substr(test));
    } else if (is_look_up) {
      const std::size_t dot = marked.rfind('.');
      text += spelling.look_up(marked.substr(0, dot), marked.substr(dot));
    } else {
      text += spelling.absence(marked);
    }
    i = end + 1;
  }
  return text;
}

}  // namespace

std::string type_rules() {
  std::string text = "table B(k: int key, v: int, x: float, s: string);\n";
  for (const char* type : {"A", "C"}) {
    text += "event " + std::string(type) + "(k: int, v: int, x: float, s: string);\n";
  }
  // U is not declared: the rule says what it is, and its events may lack attributes.
  return text +
         "define Seen(k: int) from U([int]k < 1, [int]v < 1, [float]x < 1.0, s != \"\") "
         "where k = U.k;\n";
}

std::string random_condition() { return RuleWriter("", "", {}, "").own_condition(); }

std::string random_rules() { return with_tables(write_rules({"R", "C"})); }
std::string random_pane_rules() {
  std::string text = write_rules({"R", "C"}, true, Tables::none);
  for (int i = number(1, 3); i > 0; --i) text += pane_rule("p" + std::to_string(i));
  return text;
}
std::string random_plain_rules() { return write_rules({"R", "C"}, false, Tables::none); }
std::string random_marked_rules() { return write_rules({"R", "C"}, true, Tables::many); }

std::string with_tables(const std::string& rules) {
  const auto row = [](const std::string& state, const std::string& key, const std::string& test) {
    const std::string comma = key.empty() || test.empty() ? "" : ", ";
    return "table B(" + key + comma + test + ") as " + state;
  };
  return unmarked(rules,
                  {.row = row,
                   .look_up = [](const std::string& predicate,
                                 const std::string& attribute) { return predicate + attribute; },
                   .absence = [](const std::string& predicate) { return "not " + predicate; }});
}

/// A test and an absence that a row completes are tested on the row and have no part in its choice.
std::string with_windows(const std::string& rules) {
  const auto row = [](const std::string& state, const std::string& key, const std::string& test) {
    return "last B(" + key + ") as " + state + " per k within 100 d from S0" +
           (test.empty() ? "" : "\n  and " + state + "." + test);
  };
  const auto look_up = [](const std::string& predicate, const std::string& attribute) {
    return "Last(" + predicate + attribute + " within 100 d from S0)";
  };
  return unmarked(rules,
                  {.row = row, .look_up = look_up, .absence = [](const std::string& predicate) {
                     return "0 = Count(" + predicate + ")";
                   }});
}

std::string with_types(const std::string& rules, const std::string& predicate,
                       const std::string& composite) {
  std::string text;
  const auto is_word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; };
  for (std::size_t i = 0; i < rules.size();) {
    const bool begins = i == 0 || !is_word(rules[i - 1]);
    const bool is_a = begins && rules.compare(i, 2, "A(") == 0;
    const bool is_c0 = begins && rules.compare(i, 3, "C0(") == 0;
    const bool defines = is_c0 && text.ends_with("define ");
    if (is_a || is_c0) {
      text += defines ? composite : predicate;
      i += is_a ? 1 : 2;
    } else {
      text += rules[i++];
    }
  }
  return text;
}

std::vector<Change> random_changes() {
  std::vector<Change> changes;
  if (one_in(3)) {
    changes.push_back({.before = static_cast<std::size_t>(number(0, 60)),
                       .text = with_tables(write_rules({"L", "D"})),
                       .with_history = one_in(2),
                       .remove = ""});
  }
  if (one_in(6)) {
    changes.push_back({.before = static_cast<std::size_t>(number(0, 60)),
                       .text = "",
                       .with_history = false,
                       .remove = "R0"});
  }
  return changes;
}

std::vector<Event> random_stream() {
  std::vector<Event> events;
  Timestamp now = 0;
  const bool disorder = one_in(2);
  const int length = number(0, 120);
  for (int i = 0; i < length; ++i) {
    now += number(0, 2) * 1'000'000;
    if (one_in(12)) {
      events.push_back({.type = "", .timestamp = now, .attributes = {}});
      continue;
    }
    const Timestamp behind = disorder && one_in(4) ? number(0, 15) * 1'000'000 : 0;
    Event event{.type = any_of<std::string>({"A", "A", "B", "B", "C", "C", "U", "U", "C0"}),
                .timestamp = now - behind,
                .attributes = {}};
    const bool partial = event.type == "U";
    const auto add = [&](const char* name, Value value) {
      if (!partial || !one_in(3)) event.attributes.push_back({name, std::move(value)});
    };
    add("k", std::int64_t{number(0, 2)});
    add("v", std::int64_t{number(-2, 4)});
    add("x", random_float());
    add("s", random_string());
    events.push_back(std::move(event));
  }
  return events;
}

}  // namespace gorgo::testing
