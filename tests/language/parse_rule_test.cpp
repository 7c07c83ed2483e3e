#include "parse_support.hpp"

namespace gorgo::language {
namespace {

constexpr const char* kFire =
    "define Fire(area: string, measuredTemp: float)\n"
    "from Smoke((= area $a))\n"
    "and each Temp((= area $a), (> value 45)) within 300000000000ns from Smoke\n"
    "where area = Smoke.area\n"
    "where measuredTemp = Temp.value\n";

TEST(ParseRule, ThePapersSpelling) {
  EXPECT_EQ(parsed_dump("define Fire(area: string, measuredTemp: float)\n"
                        "from Smoke(area = $a) and each Temp(area = $a, value > 45)\n"
                        "     within 5 min from Smoke\n"
                        "where area = Smoke.area and measuredTemp = Temp.value;"),
            kFire);
}

TEST(ParseRule, TheSpellingOfTRexMeansTheSame) {
  const auto file = parsed(
      "Assign 2000 => Smoke, 2001 => Temp Define Fire(area: string, measuredTemp: float) From "
      "Smoke(area = $a) and each Temp(area = $a, value > 45) within 300000 from Smoke Where area "
      ":= Smoke.area, measuredTemp := Temp.value;");
  EXPECT_EQ(dump(file), "assign 2000 => Smoke\nassign 2001 => Temp\n" + std::string(kFire));
  EXPECT_TRUE(std::get<ast::RuleDefinition>(file.items[0]).trex_spelling);
}

TEST(ParseRule, ArrowsAndStatedTypes) {
  EXPECT_EQ(conditions("area => $a, [string]area = $b, [bool]ok, [int]2 * v > 3"),
            "(=> area $a), [string](= area $b), [bool]ok, [int](> (* 2 v) 3)");
}

TEST(ParseRule, NameAnnotationsNumbers) {
  EXPECT_EQ(parsed_dump("@engine(cuda) @limit(max_sequences = 100000, note = \"x\", -1.5, true)\n"
                        "@bare rule fire_last: assign 7 => B define A() from B() consuming C, D"),
            "@engine('cuda' as a word)\n"
            "@limit(max_sequences = 100000, note = 'x', -1.500000f, true)\n"
            "@bare()\nrule fire_last:\nassign 7 => B\ndefine A()\nfrom B()\n"
            "consuming C\nconsuming D\n");
}

TEST(ParseRule, TimesAndConstantsInAnnotations) {
  EXPECT_EQ(parsed_dump("@at_most(1, per = 10 min, by = a, b) define A() from B()"),
            "@at_most(1, per = 600000000000ns, by = 'a' as a word, 'b' as a word)\n"
            "define A()\nfrom B()\n");
  EXPECT_EQ(parsed_dump("const n = 3; const w = 1 s; @at_most(n, per = w) define A() from B()"),
            "@at_most(3, per = 1000000000ns)\ndefine A()\nfrom B()\n");
}

TEST(ParseRule, TerminatorsThatAreCounted) {
  EXPECT_EQ(parsed_dump("define A() from Every 100 B(x = 1) as C per a, b"),
            "define A()\nfrom every 100 B((= x 1)) as C per a per b\n");
  EXPECT_EQ(parsed_dump("const n = 3; define A() from every n B()"),
            "define A()\nfrom every 3 B()\n");
  EXPECT_EQ(parsed_dump("const every = 3; define A() from every every every() per every"),
            "define A()\nfrom every 3 every() per every\n");
  EXPECT_EQ(parsed_dump("define every() from every(every = 1)"),
            "define every()\nfrom every((= every 1))\n");
}

TEST(ParseRule, WindowsOfEvents) {
  EXPECT_EQ(
      parsed_dump("const n = 3; define A() from B() and each C() within n events in 2 s from B "
                  "and last C() as D within 1 events inclusive from B limit n"),
      "define A()\nfrom B()\nand each C() within 3 events in 2000000000ns from B\n"
      "and last C() as D within 1 events in 9223372036854775807ns from B\nlimit 3\n");
}

TEST(ParseRule, TheNewestOfAllEvents) {
  EXPECT_EQ(
      parsed_dump("const n = 3; define A() from B() and last C() within n of all events in 2 s "
                  "from B and $t = Count(C() within 5 of all events from B)"),
      "define A()\nfrom B()\nand last C() within 3 of all events in 2000000000ns from B\n"
      "and $t = count(C() within 5 of all events in 9223372036854775807ns from B)\n");
}

TEST(ParseRule, AnnotationsMayStandBehindTheName) {
  EXPECT_EQ(parsed_dump("rule r: @engine(cuda) define A() from B()"),
            parsed_dump("@engine(cuda) rule r: define A() from B()"));
}

TEST(ParseRule, Declarations) {
  EXPECT_EQ(parsed_dump("event Temp(area: string, value: double, ok: BOOL, n: Int); event E()"),
            "event Temp(area: string, value: float, ok: bool, n: int)\nevent E()\n");
}

TEST(ParseRule, KeywordsInAnyCase) {
  EXPECT_EQ(
      parsed_dump("RULE r: DEFINE A(x: int) FROM B() AND LAST C() WITHIN 5 MIN FROM B AND NOT "
                  "D() BETWEEN B AND C WHERE x = C.x CONSUMING C;"),
      parsed_dump("rule r: define A(x: int) from B() and last C() within 5 min from B and not "
                  "D() between B and C where x = C.x consuming C;"));
}

TEST(ParseRule, EmptyItemsAndComments) {
  EXPECT_EQ(parsed_dump(";; # one\n define A() /* two */ from B(); // three\n;;\n/* ** / */"),
            "define A()\nfrom B()\n");
  EXPECT_EQ(parsed_dump(""), "");
  EXPECT_EQ(parsed_dump("\xEF\xBB\xBF"
                        "define A() from B()"),
            "define A()\nfrom B()\n");
}

TEST(ParseRule, CommentsInsideStringsAreText) {
  EXPECT_EQ(conditions("a = '// no /* comment #;' /* ; \" */"), "(= a '// no /* comment #;')");
}

TEST(ParseRule, PlacesOfNames) {
  const auto file = parsed("define A()\n  from B(x = 1)");
  const auto& rule = std::get<ast::RuleDefinition>(file.items[0]);
  EXPECT_EQ(rule.at, (Location{1, 1, 6}));
  const auto& terminator = std::get<ast::Predicate>(rule.terminator);
  EXPECT_EQ(terminator.type.at, (Location{2, 8, 1}));
  EXPECT_EQ(terminator.conditions[0].at, (Location{2, 12, 1}));
}

TEST(ParseRule, WordsThatAreKeywordsByPositionOnly) {
  for (const std::string word :
       {"last",   "min",   "hour",   "event", "value", "rule",      "each",   "first",   "contains",
        "assign", "every", "define", "from",  "where", "consuming", "within", "between", "after",
        "as",     "s",     "ms",     "avg",   "count", "timer",     "int",    "string"}) {
    EXPECT_EQ(conditions(word + " = 1, 2 < " + word + ", " + word),
              "(= " + word + " 1), (< 2 " + word + "), " + word);
    EXPECT_EQ(parsed_dump("define A(" + word + ": int) from B() where " + word + " = B." + word),
              "define A(" + word + ": int)\nfrom B()\nwhere " + word + " = B." + word + "\n");
  }
  for (const std::string word :
       {"last", "min", "event", "rule", "each", "first", "contains", "s"}) {
    EXPECT_EQ(parsed_dump("define " + word + "() from " + word + "() as " + word + " and last " +
                          word + "() within 1 s from " + word + " and " + word + ".x > 3"),
              "define " + word + "()\nfrom " + word + "() as " + word + "\nand last " + word +
                  "() within 1000000000ns from " + word + "\nand (> " + word + ".x 3)\n");
  }
}

TEST(ParsePredicate, Subscriptions) {
  const auto shown = [](const char* text) {
    const auto result = parse_predicate(text);
    EXPECT_EQ(result.diagnostics.render(), "") << text;
    return dump(result.predicate);
  };
  EXPECT_EQ(shown("Fire"), "Fire()");
  EXPECT_EQ(shown("Fire()"), "Fire()");
  EXPECT_EQ(shown("Fire(measuredTemp > 50, area = 'A')"),
            "Fire((> measuredTemp 50), (= area 'A'))");
  EXPECT_EQ(shown("*"), "*()");
  EXPECT_EQ(shown("*(x = 3 or not ok)"), "*((or (= x 3) (not ok)))");
}

TEST(ParsePredicate, WhatASubscriptionCannotSay) {
  const auto message = [](const char* text) {
    const auto result = parse_predicate(text);
    return result.diagnostics.list.empty() ? "" : result.diagnostics.list[0].message;
  };
  EXPECT_EQ(message("Fire(x = $p)"), "a subscription has no parameters");
  EXPECT_EQ(message("Fire(x = Smoke.x)"), "a subscription knows no states");
  EXPECT_EQ(message("Fire; Smoke"), "unexpected `;`");
  EXPECT_EQ(message(""), "unexpected end of the text, expected an event type or `*`");
  EXPECT_EQ(message("Fire(x = 1"), "unexpected end of the text, expected an operator, `,` or `)`");
  EXPECT_EQ(message("Fire Smoke"), "unexpected `Smoke`, expected the end or `(`");
}

}  // namespace
}  // namespace gorgo::language
