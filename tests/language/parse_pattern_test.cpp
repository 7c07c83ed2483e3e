#include "parse_support.hpp"

namespace gorgo::language {
namespace {

TEST(ParsePattern, Selections) {
  EXPECT_EQ(
      clauses("and each C() within 5 from B and first D() within 1 ms from C and last E() as F "
              "within 2h from D"),
      "and each C() within 5000000ns from B\nand first D() within 1000000ns from C\n"
      "and last E() as F within 7200000000000ns from D\n");
  EXPECT_EQ(clauses("and 3-last C() within 5 from B and 2 - first D() within 5 from B"),
            "and 3-last C() within 5000000ns from B\nand 2-first D() within 5000000ns from B\n");
}

TEST(ParsePattern, Spans) {
  EXPECT_EQ(clauses("and not C() within 5 s from B and not D() between B and C and not E() within "
                    "30s after B"),
            "and not C() within 5000000000ns from B\nand not D() between B and C\n"
            "and not E() within 30000000000ns after B\n");
}

TEST(ParsePattern, UnitsOfTime) {
  const std::pair<const char*, const char*> cases[] = {
      {"7 ns", "7"},
      {"7us", "7000"},
      {"7 ms", "7000000"},
      {"7", "7000000"},
      {"7 s", "7000000000"},
      {"7 sec.", "7000000000"},
      {"7 secs", "7000000000"},
      {"7 Second", "7000000000"},
      {"7 seconds", "7000000000"},
      {"7 min", "420000000000"},
      {"7 MINS.", "420000000000"},
      {"7 minute", "420000000000"},
      {"7minutes", "420000000000"},
      {"7 h", "25200000000000"},
      {"7 hour", "25200000000000"},
      {"7 hours", "25200000000000"},
      {"7 d", "604800000000000"},
      {"7 day", "604800000000000"},
      {"7 days", "604800000000000"},
      {"9223372036854775807 days", "9223372036854775807"}};
  for (const auto& [text, nanoseconds] : cases) {
    EXPECT_EQ(clauses("and not C() within " + std::string(text) + " from B"),
              "and not C() within " + std::string(nanoseconds) + "ns from B\n");
  }
}

TEST(ParsePattern, AggregatesInEverySpelling) {
  const std::string within = "and $t = avg(C((= area $a)).value within 300000000000ns from B)\n";
  for (const std::string text : {"Avg(C(area = $a).value within 5 min from B)",
                                 "AVG(C(area = $a).value) within 300000 from B",
                                 "avg(C.value(area = $a) within 300000 from B)",
                                 "AVG(C.value(area = $a)) within 5 min from B"}) {
    EXPECT_EQ(clauses("and $t = " + text), within) << text;
  }
  EXPECT_EQ(clauses("and $t = Count(C() within 5 s from B) and $u = MAX(C.x()) between B and D"),
            "and $t = count(C() within 5000000000ns from B)\n"
            "and $u = max(C().x between B and D)\n");
}

TEST(ParsePattern, ComparedBindings) {
  EXPECT_EQ(clauses("and 45 > $t = SUM(C.value()) within 5 from B"),
            "and 45 > $t = sum(C().value within 5000000ns from B)\n");
  EXPECT_EQ(clauses("and B.x - 1 != $t = MIN(C.value()) within 5 from B"),
            "and (- B.x 1) != $t = min(C().value within 5000000ns from B)\n");
}

TEST(ParsePattern, FiltersAndBrackets) {
  EXPECT_EQ(clauses("and B.x > 3"), "and (> B.x 3)\n");
  EXPECT_EQ(clauses("and (B.x > 3)"), "and (> B.x 3)\n");
  EXPECT_EQ(clauses("and (B.x + 1) * 2 > 3"), "and (> (* (+ B.x 1) 2) 3)\n");
  EXPECT_EQ(clauses("and (B.x > 3 or not (B.y = 1 and B.ok)) and B.ok"),
            "and (or (> B.x 3) (not (and (= B.y 1) B.ok)))\nand B.ok\n");
  EXPECT_EQ(clauses("and 3 - last.x > 4"), "and (> (- 3 last.x) 4)\n");
  EXPECT_EQ(clauses("and last.x > 4 and first.ok"), "and (> last.x 4)\nand first.ok\n");
  EXPECT_EQ(clauses("and (($v > 80) or Max(C(a = $x).v between B and D) > 80)"),
            "and (or (> $v 80) (> max(C((= a $x)).v between B and D) 80))\n");
}

TEST(ParsePattern, Timers) {
  EXPECT_EQ(parsed_dump("define A() from Timer(every = 1 min)"),
            "define A()\nfrom Timer every 60000000000ns\n");
  EXPECT_EQ(parsed_dump("define A() from timer(every = 10)"),
            "define A()\nfrom Timer every 10000000ns\n");
  EXPECT_EQ(parsed_dump("define A() from Timer(hour = 9, minute = 0, second = 59)"),
            "define A()\nfrom Timer hour 9 minute 0 second 59\n");
}

TEST(ParseExpression, Precedence) {
  EXPECT_EQ(conditions("not a = 1 and b or c, d"), "(or (and (not (= a 1)) b) c), d");
  EXPECT_EQ(conditions("a - b - c * d / e = 1"), "(= (- (- a b) (/ (* c d) e)) 1)");
  EXPECT_EQ(conditions("a - (b - c) < -d"), "(< (- a (- b c)) (- d))");
  EXPECT_EQ(conditions("a contains 'x', b != 1, c <= 2, d >= 3, e < 4"),
            "(contains a 'x'), (!= b 1), (<= c 2), (>= d 3), (< e 4)");
  EXPECT_EQ(conditions("not not a"), "(not (not a))");
}

TEST(ParseExpression, LongChainsStayLow) {
  EXPECT_EQ(conditions("a and b and c and d"), "(and (and a b) (and c d))");
  std::string text = "a = 0";
  for (int i = 1; i < 5000; ++i) text += " or a = " + std::to_string(i);
  EXPECT_NE(conditions(text), "");
}

TEST(ParseExpression, Literals) {
  EXPECT_EQ(conditions("a = -9223372036854775808, b = 9223372036854775807, c = - 5, d = - -5"),
            "(= a -9223372036854775808), (= b 9223372036854775807), (= c -5), (= d (- -5))");
  EXPECT_EQ(conditions("a = 1.5, b = -2.5e3, c = 25e-1, d = 1E+2"),
            "(= a 1.500000f), (= b -2500.000000f), (= c 2.500000f), (= d 100.000000f)");
  EXPECT_EQ(conditions("timestamp > 5 min and a < 3s."),
            "(and (> timestamp 300000000000ns) (< a 3000000000ns))");
  EXPECT_EQ(conditions("a = true or b = FALSE"), "(or (= a true) (= b false))");
  EXPECT_EQ(conditions(R"(a = "x\"'\\\n\t\u00e9\uD83D\uDE00", b = 'y"\'', c = "é")"),
            "(= a 'x\"'\\\n\t\xC3\xA9\xF0\x9F\x98\x80'), (= b 'y\"''), (= c 'é')");
}

TEST(ParseExpression, TheSignBelongsToTheNumberNextToIt) {
  EXPECT_EQ(conditions("a = b -5"), "(= a (- b 5))");
  EXPECT_EQ(conditions("a = b - -5"), "(= a (- b -5))");
  EXPECT_EQ(conditions("a = -5 min"), "(= a -300000000000ns)");
  EXPECT_EQ(conditions("a = -(5)"), "(= a (- 5))");
}

}  // namespace
}  // namespace gorgo::language
