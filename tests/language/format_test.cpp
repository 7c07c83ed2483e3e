#include <gtest/gtest.h>

#include "language/language.hpp"

/// What `format` makes of a text: spelling, layout, comments.
namespace gorgo::language {
namespace {

std::string formatted(const std::string& text) {
  const FormattedFile file = format({.path = "t.tesla", .text = text});
  EXPECT_EQ(file.diagnostics.render(), "");
  return file.text;
}

TEST(Format, WindowsKeepTheirEndsAndConstants) {
  EXPECT_EQ(formatted("const Pause = 5 S; define A() from B() and last C() within 1000 INCLUSIVE "
                      "from B and not D() within Pause // a constant\n inclusive from B"),
            "const Pause = 5 s;\n"
            "\n"
            "define    A()\n"
            "from      B()\n"
            "          and last C() within 1 s inclusive from B\n"
            "          and not D() within Pause  // a constant\n"
            "              inclusive from B;\n");
}

TEST(Format, KeysOrderAndLimit) {
  EXPECT_EQ(formatted("define A(b: int) from C() and last D(x=$x)as E PER y,z within 5 from C "
                      "where b=$x ORDER BY b DESC,b limit 3 consuming E"),
            "define    A(b: int)\n"
            "from      C()\n"
            "          and last D(x = $x) as E per y, z within 5 ms from C\n"
            "where     b = $x\n"
            "order by  b desc, b\n"
            "limit     3\n"
            "consuming E;\n");
  EXPECT_EQ(formatted("define A() from C() // c\n limit 1 // one\n"),
            "define    A()\n"
            "from      C()  // c\n"
            "limit     1;   // one\n");
}

TEST(Format, ActionsStandBehindWhatIsConsumed) {
  EXPECT_EQ(formatted("define A() from B() CONSUMING C EXECUTE webhook( 'ops' ),file(\"log\")"),
            "define    A()\n"
            "from      B()\n"
            "consuming C\n"
            "execute   webhook(\"ops\"), file(\"log\");\n");
}

TEST(Format, TRexSpellingBecomesThePapers) {
  EXPECT_EQ(formatted("Assign 2000 => Smoke, 2001=>Temp DEFINE Fire(area:STRING,t:double) From "
                      "Smoke(area=>$a) AND EACH Temp([String]area=$a,value>45) within 300000 from "
                      "Smoke Where area:=Smoke.area,t:=AVG(Temp.value(area=$a)) within 1500 FROM "
                      "Smoke Consuming Temp"),
            "assign    2000 => Smoke, 2001 => Temp\n"
            "define    Fire(area: string, t: float)\n"
            "from      Smoke(area => $a)\n"
            "          and each Temp([string]area = $a, value > 45) within 5 min from Smoke\n"
            "where     area = Smoke.area and t = Avg(Temp(area = $a).value within 1500 ms from "
            "Smoke)\n"
            "consuming Temp;\n");
}

TEST(Format, TerminatorsThatAreCounted) {
  EXPECT_EQ(formatted("define A(a:int) From EVERY 100  B(x>1)as C Per a,b and each D() within 1s "
                      "from C where a=1"),
            "define    A(a: int)\n"
            "from      every 100 B(x > 1) as C per a, b\n"
            "          and each D() within 1 s from C\n"
            "where     a = 1;\n");
}

TEST(Format, NumbersOfEventsAndLimitsOfOutput) {
  EXPECT_EQ(formatted("@at_most(1,per=10min,by=a,b) define A(a:int,b:int) from B() and each C() "
                      "within 20  EVENTS IN 1d FROM B where a=1,b=2 limit 2"),
            "@at_most(1, per = 10 min, by = a, b)\n"
            "define    A(a: int, b: int)\n"
            "from      B()\n"
            "          and each C() within 20 events in 1 d from B\n"
            "where     a = 1 and b = 2\n"
            "limit     2;\n");
}

TEST(Format, TheNewestOfAllEvents) {
  EXPECT_EQ(formatted("define A(n:int) from B() and last C(k=$k)PER k within 20 OF  All EVENTS in "
                      "1d inclusive from B where n=Count(C() within 3 of all events from B)"),
            "define    A(n: int)\n"
            "from      B()\n"
            "          and last C(k = $k) per k within 20 of all events in 1 d inclusive from B\n"
            "where     n = Count(C() within 3 of all events from B);\n");
}

TEST(Format, HeadsStandOnLinesOfTheirOwn) {
  EXPECT_EQ(formatted("@engine(column-scan) @limit(max_sequences=10) RULE hot:define A() from B()"),
            "@engine(column-scan)\n"
            "@limit(max_sequences = 10)\n"
            "rule hot:\n"
            "define    A()\n"
            "from      B();\n");
}

TEST(Format, UnitsAndLiterals) {
  EXPECT_EQ(formatted("define A() from B(x='a',y='\"',z=1E5,t<3secs) and 3-LAST C(v=--1 and "
                      "w = -(1+2)*3) within 2 Hours. from B and not D() within 1 from B"),
            "define    A()\n"
            "from      B(x = \"a\", y = '\"', z = 1e5, t < 3 s)\n"
            "          and 3-last C(v = --1 and w = -(1 + 2) * 3) within 2 h from B\n"
            "          and not D() within 1 ms from B;\n");
}

TEST(Format, NamesKeepTheirCase) {
  EXPECT_EQ(formatted("define Last(From: int) from Each(WHERE = 1, First=2) as Rule where From = "
                      "Rule.WHERE"),
            "define    Last(From: int)\n"
            "from      Each(WHERE = 1, First = 2) as Rule\n"
            "where     From = Rule.WHERE;\n");
}

TEST(Format, LongLinesBreakOutsideBracketsFirst) {
  EXPECT_EQ(formatted("define A() from B() and last Measurement(first_attribute = $first, "
                      "second_attribute = $second) within 10 min from B"),
            "define    A()\n"
            "from      B()\n"
            "          and last Measurement(first_attribute = $first, second_attribute = $second)\n"
            "              within 10 min from B;\n");
  EXPECT_EQ(formatted("event Measurement(first_attribute: string, second_attribute: string, "
                      "third_attribute: float, fourth: int)"),
            "event Measurement(first_attribute: string, second_attribute: string, third_attribute: "
            "float,\n"
            "                  fourth: int);\n");
}

TEST(Format, CommentsStayWhereTheyBelong) {
  EXPECT_EQ(formatted("// head\n\n\n\nevent A(x: int) // first\n;\n"
                      "event BB(y: int, z: int); # second\n"
                      "define C(x: int) from A() /* one */ and last BB(y = 1 // two\n, z = 2)\n"
                      "  within 5 s from A\n   // three\n"
                      "  where /* four */ x = 1 // five\n   // six\n;/* seven\n   eight */\n"
                      "event D();"),
            "// head\n"
            "\n"
            "event A(x: int);           // first\n"
            "event BB(y: int, z: int);  # second\n"
            "\n"
            "define    C(x: int)\n"
            "from      A() /* one */\n"
            "          and last BB(y = 1,  // two\n"
            "                      z = 2) within 5 s from A\n"
            "// three\n"
            "where /* four */ x = 1;  // five\n"
            "\n"
            "// six\n"
            "/* seven\n"
            "   eight */\n"
            "event D();\n");
}

TEST(Format, ItemsStandApart) {
  EXPECT_EQ(formatted("event A();event B();\n\n\n\nevent C();define D() from A();define E() from "
                      "A();\n// of F\nevent F();"),
            "event A();\n"
            "event B();\n"
            "\n"
            "event C();\n"
            "\n"
            "define    D()\n"
            "from      A();\n"
            "\n"
            "define    E()\n"
            "from      A();\n"
            "\n"
            "// of F\n"
            "event F();\n");
}

TEST(Format, NothingStaysNothing) {
  EXPECT_EQ(formatted(""), "");
  EXPECT_EQ(formatted(" ;\n; "), "");
  EXPECT_EQ(formatted("// alone"), "// alone\n");
  EXPECT_EQ(formatted("\xEF\xBB\xBF#x\r\n\r\nevent A();\r\n"), "#x\n\nevent A();\n");
}

TEST(Format, ErrorsGiveNoText) {
  const FormattedFile file = format({.path = "t.tesla", .text = "event A(); define B() from"});
  EXPECT_TRUE(file.diagnostics.failed());
  EXPECT_EQ(file.text, "");
}

}  // namespace
}  // namespace gorgo::language
