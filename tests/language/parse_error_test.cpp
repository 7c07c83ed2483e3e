#include <gmock/gmock.h>

#include "parse_support.hpp"

namespace gorgo::language {
namespace {

using testing::HasSubstr;

TEST(ParseError, AMissingSemicolonIsShownWhereItBelongs) {
  EXPECT_EQ(errors("define A() from B()\ndefine C() from D();"),
            "1:20: expected `;` | a `;` separates rules and declarations");
  EXPECT_EQ(errors("event A(x: int)  // no end\n\nrule r: define C() from D();"),
            "1:16: expected `;` | a `;` separates rules and declarations");
}

TEST(ParseError, SeveralErrorsOfOneFile) {
  EXPECT_EQ(errors("define A() from B;\nevent C(x: int);\ndefine D() frm E()\ndefine F() from;"),
            "1:18: unexpected `;`, expected `(` | a type is followed by brackets, even without "
            "conditions: `B()`\n"
            "3:12: unexpected `frm`, expected `from` | did you mean `from`?\n"
            "4:16: unexpected `;`, expected an event type");
}

TEST(ParseError, AnUnexpectedEndLiesBehindTheLastToken) {
  EXPECT_EQ(errors("define A()\n  from B() and   // comment\n\n"),
            "2:15: unexpected end of the text, expected a state (`each`, `first` or "
            "`last`), a negation (`not`) or a condition");
  EXPECT_EQ(errors("define"), "1:7: unexpected end of the text, expected an event type");
}

TEST(ParseError, ForeignOperators) {
  const auto message = [](const std::string& op) {
    return errors("define A() from B(x = 1 " + op + " y = 2)");
  };
  EXPECT_EQ(message("&&"), "1:25: there is no operator `&&` | write `and`");
  EXPECT_EQ(message("&"), "1:25: there is no operator `&` | write `and`");
  EXPECT_EQ(message("||"), "1:25: there is no operator `||` | write `or`");
  EXPECT_EQ(errors("define A(s: string) from B() where s = 'x' || B.s"),
            "1:44: there is no operator `||` | strings are joined by `concat(a, b)`");
  EXPECT_EQ(errors("define A(s: string) from B() where s = B.s || 'x'"),
            "1:44: there is no operator `||` | strings are joined by `concat(a, b)`");
  EXPECT_EQ(message("|"), "1:25: there is no operator `|` | write `or`");
  EXPECT_EQ(errors("define A() from B(x == 1)"), "1:21: there is no operator `==` | write `=`");
  EXPECT_EQ(errors("define A() from B(x <> 1)"), "1:21: there is no operator `<>` | write `!=`");
  EXPECT_EQ(errors("define A() from B(x =< 1)"), "1:21: there is no operator `=<` | write `<=`");
  EXPECT_EQ(errors("define A() from B(!x)"),
            "1:19: there is no operator `!` | write `not` or `!=`");
}

TEST(ParseError, NoCharacterStandsForAnother) {
  EXPECT_THAT(errors("\x01\x02\x03"
                     "event A();"),
              HasSubstr("1:1: unexpected"));
  EXPECT_THAT(errors("\x7F\x7F event A();"), HasSubstr("1:1: unexpected"));
  EXPECT_THAT(errors("\xBB\xBF\xEF event A();"), HasSubstr("1:1: unexpected"));
  EXPECT_EQ(errors("event A();\xEF\xBB\xBF event B();"), "");
  EXPECT_THAT(errors("event \u00E9\u20AC();"), HasSubstr("`\u00E9\u20AC`"));
}

TEST(ParseError, WhatIsNotClosed) {
  EXPECT_EQ(errors("define A() from B(x = \"abc);\nevent C();"),
            "1:23: the string is not closed | expected `\"` before the end of the line");
  EXPECT_EQ(errors("define A() from B(x = 'abc\\"),
            "1:23: the string is not closed | expected `'` before the end of the line");
  EXPECT_EQ(errors("event C();\n/* abc\ndefine"), "2:1: the comment is not closed | expected `*/`");
  EXPECT_EQ(errors("define A() from B(x = (1 + 2)\n  and each C() within 5 from B;"),
            "2:12: unexpected `C`, expected an operator, `,` or `)` | the bracket opened at "
            "1:18 is not closed");
  EXPECT_EQ(
      errors("define A(x: int from B();"),
      "1:17: unexpected `from`, expected `,` or `)` | the bracket opened at 1:9 is not closed");
}

TEST(ParseError, MisspeltKeywords) {
  EXPECT_EQ(
      errors("defne A() from B()"),
      "1:1: unexpected `defne`, expected a rule (`define ...`) or a declaration (`event ...`) "
      "| did you mean `define`?");
  EXPECT_EQ(
      errors("define A() from B() and last C() witin 5 from B"),
      "1:34: unexpected `witin`, expected `within`, `between` or `as` | did you mean `within`?");
  EXPECT_EQ(errors("define A() from B() and lst C() within 5 from B"),
            "1:29: unexpected `C`, expected an operator, `;`, `and`, `where` or `consuming` | did "
            "you mean `last`?");
  EXPECT_EQ(errors("define A() from B() wher x = 1"),
            "1:21: unexpected `wher`, expected `;`, `and`, `where`, `consuming` or `as` | did you "
            "mean `where`?");
}

TEST(ParseError, AStateWithoutASelection) {
  EXPECT_EQ(errors("define A() from B() and C(x = $x) within 5 from B"),
            "1:25: expected `each`, `first`, `last` or `not` before `C` | a selection says which "
            "event of the window is taken; a row is `table C(...)`");
  EXPECT_EQ(errors("define A() from B() and C() within 5 from B"),
            "1:25: expected `each`, `first`, `last` or `not` before `C` | a selection says which "
            "event of the window is taken; a row is `table C(...)`");
}

TEST(ParseError, Names) {
  EXPECT_EQ(errors("define not() from B()"),
            "1:8: unexpected `not`, expected an event type | `not` is a keyword and cannot be a "
            "name here");
  EXPECT_EQ(errors("define A() from B() as where"),
            "1:24: unexpected `where`, expected a name for the state | `where` is a keyword and "
            "cannot be a name here");
  EXPECT_EQ(errors("event A(x: int, );"), "1:17: unexpected `)`, expected an attribute name");
  EXPECT_EQ(errors("event A(x: strng, y: number);"),
            "1:12: unknown value type `strng` | did you mean `string`?\n"
            "1:22: unknown value type `number` | write `float`");
  EXPECT_EQ(errors("event A(x: colour);"),
            "1:12: unknown value type `colour` | the value types are int, float, bool and string");
  EXPECT_EQ(errors("define A() from B(té = 1)"), "1:20: unexpected `é`");
  EXPECT_EQ(errors("define A() from B(x = $)"),
            "1:23: unexpected `$` | a parameter is written `$name`");
  EXPECT_EQ(errors("define A() from B(\x01)"), "1:19: unexpected byte 0x01");
}

TEST(ParseError, Literals) {
  EXPECT_EQ(errors("define A() from B(x = 9223372036854775808, y = -(9223372036854775808))"),
            "1:23: the integer is out of range | the range is -9223372036854775808 to "
            "9223372036854775807\n"
            "1:50: the integer is out of range | the range is -9223372036854775808 to "
            "9223372036854775807");
  EXPECT_EQ(errors("define A() from B(x = -9223372036854775809)"),
            "1:24: the integer is out of range | the range is -9223372036854775808 to "
            "9223372036854775807");
  EXPECT_EQ(errors("define A() from B(x = 1e999, y = 1e-999)"),
            "1:23: the number is too large for a float");
  const std::string zeros(400, '0');
  EXPECT_EQ(errors("define A() from B(x = 0." + zeros + "1)"), "");
  EXPECT_EQ(errors("define A() from B(x = 1" + zeros + ".0e-5)"),
            "1:23: the number is too large for a float");
  EXPECT_EQ(errors("define A() from B(t > 300000 days)"),
            "1:23: the duration is out of range | in nanoseconds it must fit an int: 292 years at "
            "most");
  EXPECT_EQ(errors("define A() from B() and not C() within 5 mim from B"),
            "1:42: unknown time unit `mim` | did you mean `min`?");
  EXPECT_EQ(errors("define A() from B() and not C() within 5 fortnights from B"),
            "1:42: unknown time unit `fortnights` | the units are ns, us, ms, s, min, h and d");
}

TEST(ParseError, Strings) {
  const std::string escapes =
      " | the escapes are \\n \\r \\t \\b \\f \\0 \\\\ \\\" \\' \\/ and \\uXXXX";
  EXPECT_EQ(errors("define A() from B(x = 'ab\\q')"), "1:26: unknown escape in a string" + escapes);
  EXPECT_EQ(errors("define A() from B(x = '\\u12g4')"),
            "1:24: `\\u` is followed by four hexadecimal digits" + escapes);
  EXPECT_EQ(errors("define A() from B(x = '\\uD83D')"),
            "1:24: `\\u` is followed by four hexadecimal digits" + escapes);
  for (const std::string bytes : {"\xFF", "\xC3", "\xC0\x80", "\xED\xA0\x80", "\xF5\x80\x80\x80"}) {
    EXPECT_EQ(errors("define A() from B(x = 'a" + bytes + "')"),
              "1:23: the string is not valid UTF-8");
  }
}

TEST(ParseError, Conditions) {
  EXPECT_EQ(errors("define A() from B(1 < x < 3)"),
            "1:25: comparisons do not chain | combine two comparisons with `and`");
  EXPECT_EQ(errors("define A() from B(x => 3)"),
            "1:21: `=>` binds an attribute to a parameter | write `attribute => $parameter`, or "
            "`>=` to compare");
  EXPECT_EQ(errors("define A() from B() and B.x => $x"),
            "1:29: `=>` binds an attribute to a parameter | write `attribute => $parameter`, or "
            "`>=` to compare");
  EXPECT_EQ(errors("define A() from B((x > 3) + 1 = 2)"),
            "1:22: a condition cannot be used as a value | combine conditions with `and`, `or` and "
            "`not`");
  EXPECT_EQ(
      errors("define A() from B() and B.x > 3 or B.x < 2"),
      "1:33: unexpected `or`, expected an operator, `;`, `and`, `where` or `consuming` | put a "
      "filter with `or` into brackets");
  EXPECT_EQ(errors("define A() from B(x y)"),
            "1:21: unexpected `y`, expected an operator, `,` or `)`");
  EXPECT_EQ(errors("define A(x: bool) from B() where x = (B.y > 3)"), "");
  EXPECT_EQ(
      errors("define A(x: bool) from B() where x = exists(y) and z > 2"),
      "1:54: unexpected `>`, expected `:=` or `=` | `and` begins the next attribute here; put "
      "a condition of several parts into brackets");
  EXPECT_EQ(errors("define A(x: bool) from B() where x = (B.y > 3 and B.z > 2)"), "");
}

TEST(ParseError, Clauses) {
  EXPECT_EQ(errors("define A() from B() and 0-last C() within 5 from B"),
            "1:25: at least one event must be selected | write 1 or more");
  EXPECT_EQ(errors("define A() from B() and last C() between B and B"),
            "1:34: a state looks back from an earlier one | write `within DURATION from STATE`");
  EXPECT_EQ(
      errors("define A() from B() and last C() within 5 after B"),
      "1:34: `within ... after` looks forward, to events that come later; only the absence of "
      "events after the terminator can be waited for | begin the pattern with the latest "
      "event and write `within ... from`");
  EXPECT_EQ(errors("define A() from B() and not C() as D within 5 from B"),
            "1:36: a negation declares no name | leave out `as D`");
  EXPECT_EQ(errors("define A() from B() and last C() within x from B"),
            "1:41: there is no constant `x` in front of this rule | a window is a time such as "
            "`5 min`, or a constant: `const w = 5 min;`");
  EXPECT_EQ(
      errors("define A() from B() and last C() within 5 x y"),
      "1:45: unexpected `y`, expected `from`, `after`, `in` or `.` | a window is counted from a "
      "state: `within 5 min from Smoke`");
}

TEST(ParseError, Aggregates) {
  EXPECT_EQ(errors("define A() from B() and $t = Avg(C() within 5 from B)"),
            "1:30: `Avg` needs an attribute | write `Avg(C(...).attribute ...)`");
  EXPECT_EQ(errors("define A() from B() and $t = Count(C())"),
            "1:30: an aggregate needs a span | write `within ... from X` or `between X and Y`, "
            "inside or behind the brackets");
  EXPECT_EQ(errors("define A() from B() and $t = Count(C() within 5 from B) within 5 from B"),
            "1:30: an aggregate takes one span only | write `within ... from X` or `between X and "
            "Y`, inside or behind the brackets");
  EXPECT_EQ(errors("define A() from B() and $t = Cuont(C() within 5 from B)"),
            "1:30: unknown aggregate `Cuont` | did you mean `Count`?");
  EXPECT_EQ(errors("define A() from B(x > Count(C() within 5 from B))"),
            "1:23: an aggregate cannot stand in the brackets of a predicate | compare it in a "
            "filter: `and X.attribute > Count(...)`");
  EXPECT_EQ(errors("define A() from B() and $t = Count(C(x > Count(D() within 5 from B)) within 5 "
                   "from B)"),
            "1:42: aggregates do not nest | bind the inner one: `and $t = ...`");
  EXPECT_EQ(errors("define A() from B() and 3 = $t = Count(C() within 5 from B)"),
            "1:27: before `$parameter = AGGREGATE` stands any comparison but `=` | bind the "
            "aggregate first and compare it in a filter of its own");
}

TEST(ParseError, Timers) {
  const std::string forms = " | write `Timer(every = 1 min)` or `Timer(hour = 9, minute = 0)`";
  const auto message = [](const std::string& fields) {
    return errors("define A() from Timer(" + fields + ")");
  };
  EXPECT_EQ(message(""), "1:17: a timer needs to say when" + forms);
  EXPECT_EQ(message("day = 3"), "1:23: this is no field of a timer" + forms);
  EXPECT_EQ(message("hour = 24"), "1:28: the hour is 0 to 23" + forms);
  EXPECT_EQ(message("minute = -1"), "1:30: minutes and seconds are 0 to 59" + forms);
  EXPECT_EQ(message("hour = 3, hour = 4"), "1:38: a field of the timer is given twice" + forms);
  EXPECT_EQ(message("every = 0 s"), "1:29: the period of a timer is positive" + forms);
  EXPECT_EQ(message("every = 1 s, second = 3"),
            "1:17: `every` does not go with a time of day" + forms);
  EXPECT_EQ(message("second = 3 s"), "1:30: a field of the time of day is a plain number" + forms);
  EXPECT_EQ(errors("define A() from B() and last Timer(hour = 1) within 5 from B"),
            "1:30: `Timer` may only be the terminator | write it directly behind `from`");
}

TEST(ParseError, Heads) {
  EXPECT_EQ(errors("rule a: rule b: define A() from B()"),
            "1:9: a rule has one name | it is named `a` already");
  EXPECT_EQ(
      errors("@engine(cuda define A() from B()"),
      "1:14: unexpected `define`, expected `,`, `)`, `=` or `-` | the bracket opened at 1:8 is not "
      "closed");
  EXPECT_EQ(errors("x = 3"),
            "1:1: unexpected `x`, expected a rule (`define ...`) or a declaration (`event ...`)");
}

TEST(ParseError, NothingComesOfATextWithAnError) {
  const auto result = parse({.path = "t.tesla", .text = "event A(); define B() from; event C();"});
  EXPECT_TRUE(result.diagnostics.failed());
  EXPECT_TRUE(result.file.items.empty());
}

TEST(ParseError, TheCaretStandsBelowTheToken) {
  const auto result = parse({.path = "a b.tesla", .text = "event A();\r\n\tdefine A() from B\r\n"});
  EXPECT_EQ(result.diagnostics.render(),
            "a b.tesla:2:19: error: unexpected end of the text, expected `(`\n"
            "  \tdefine A() from B\n"
            "  \t                 ^\n"
            "  hint: a type is followed by brackets, even without conditions: `B()`\n");
}

TEST(ParseError, WordsOfOtherLanguagesAreToldWhatIsMeant) {
  const auto hint = [](const std::string& text) {
    const std::string all = errors(text);
    const auto bar = all.find(" | ");
    return bar == all.npos ? "no hint: " + all : all.substr(bar + 3);
  };
  EXPECT_THAT(hint("define A() from B() -> C();"), HasSubstr("a rule looks back"));
  EXPECT_THAT(hint("define A() from B() followed by C();"), HasSubstr("a rule looks back"));
  EXPECT_THAT(hint("define A() from B() and not exists C();"), HasSubstr("an absence is written"));
  EXPECT_THAT(hint("define A() from B() and not exists (C() within 5 min from B);"),
              HasSubstr("an absence is written"));
  EXPECT_THAT(hint("define A() from B() and not exists (C()) within 5 min from B;"),
              HasSubstr("`not C() within"));
  EXPECT_THAT(hint("define A() from B(x % 2 = 0);"), HasSubstr("`mod(a, b)`"));
  EXPECT_THAT(hint("define A() from B(x ^ 2 = 4);"), HasSubstr("`pow(x, y)`"));
  EXPECT_THAT(hint("define A(x: int) from B() where x = case when B.x > 1 then 1 else 2 end;"),
              HasSubstr("`if(condition, a, b)`"));
  EXPECT_THAT(hint("select x from B;"), HasSubstr("a rule begins with what it makes"));
  EXPECT_THAT(hint("define A(x: float) from B() where x = Mean(B.v);"), HasSubstr("`Avg(...)`"));
  EXPECT_THAT(hint("define A(x: int) from B() where x = ifnull(B.v, 0);"), HasSubstr("coalesce"));
  EXPECT_THAT(hint("define A(x: int) from B() as b where x = now();"),
              HasSubstr("the name of that state with `.timestamp`"));
  EXPECT_THAT(hint("define A(x: int) from B() where x = substr(B.s, 1);"),
              HasSubstr("`substring(s, first, count)`"));
  EXPECT_THAT(hint("define A() from B() then C();"), HasSubstr("a rule looks back"));
  EXPECT_THAT(hint("define A() from B() and each C() after B within 5 min;"),
              HasSubstr("a rule looks back"));
  EXPECT_THAT(hint("define A() from every B();"), HasSubstr("write `from Temp()`"));
  EXPECT_THAT(hint("define A() from B(s ilike \"a%\");"), HasSubstr("`lower(x) like \"a%\"`"));
  EXPECT_THAT(hint("define A() from B(x between 1 and 2);"), HasSubstr("`x >= 1 and x <= 2`"));
  EXPECT_THAT(hint("define A() from B() group by x;"), HasSubstr("`last Temp(area = $a) per area"));
  EXPECT_THAT(hint("define A() from B() having x > 3;"), HasSubstr("write a filter"));
  EXPECT_THAT(hint("define A() from B(name is null);"), HasSubstr("there is no `null`"));
  EXPECT_THAT(hint("define A() from B() and last C() within 1.5 h from B;"),
              HasSubstr("`90 min`, not `1.5 h`"));
  EXPECT_THAT(hint("define A(x: float) from B() where x = sqroot(B.v);"), HasSubstr("`sqrt`"));
  EXPECT_THAT(hint("define A(x: float) from B() where x = avg(B.v, 1);"),
              HasSubstr("`avg(Type(...).attribute within ... from ...)`"));
  EXPECT_THAT(hint("define A() from B() and C() within 5 min from B;"),
              HasSubstr("a selection says which event"));
  EXPECT_THAT(hint("define A() from B(x not in (1, 2));"), HasSubstr("`not (x in (...))`"));
  EXPECT_THAT(hint("define A() from B(s not like \"a%\");"), HasSubstr("`not (x like ...)`"));
  EXPECT_THAT(hint("define A() from B(s regexp \"a\");"), HasSubstr("`s matches \"pattern\"`"));
  EXPECT_THAT(hint("define A() from B(s ~ \"a\");"), HasSubstr("`s matches \"pattern\"`"));
  EXPECT_THAT(hint("define A(n: int) from B() where n = Count(*);"),
              HasSubstr("`Count(Type() within ... from ...)`"));
  EXPECT_THAT(hint("define A(n: int) from B() where n = Count(distinct C.x within 5 min from B);"),
              HasSubstr("`CountDistinct(Type().attribute within ... from ...)`"));
  EXPECT_THAT(hint("define A(n: float) from B() where n = Average(C().x within 5 min from B);"),
              HasSubstr("`Avg(...)`"));
  EXPECT_THAT(hint("define A() from B() and without C() within 5 min from B;"),
              HasSubstr("an absence is written"));
  EXPECT_THAT(hint("define A() from B() and any C() within 5 min from B;"), HasSubstr("`each`"));
  EXPECT_THAT(hint("define A() from B(), C();"), HasSubstr("a rule looks back"));
  EXPECT_THAT(hint("event B(x: varchar);"), HasSubstr("write `string`"));
  EXPECT_THAT(hint("event B(x: Integer);"), HasSubstr("write `int`"));
}

TEST(ParseError, SlipsAreToldHowItIsWritten) {
  const auto hint = [](const std::string& text) {
    const std::string all = errors(text);
    const auto bar = all.find(" | ");
    return bar == all.npos ? "no hint: " + all : all.substr(bar + 3);
  };
  EXPECT_THAT(hint("define A() from Timer(every 5 min);"), HasSubstr("`Timer(every = 5 min)`"));
  EXPECT_THAT(hint("define A() from B() or C();"), HasSubstr("`A or B(...)`"));
  EXPECT_THAT(hint("define A() from B() and last C() or D() within 5 min from B;"),
              HasSubstr("`A or B(...)`"));
  EXPECT_THAT(hint("define A() from (B or C)();"), HasSubstr("`A or B(...)`"));
  EXPECT_THAT(hint("define A(x: int) from B() where x = 1 limit 1 order by x;"),
              HasSubstr("before `limit`"));
  EXPECT_THAT(hint("rule r: @at_most(1 per 10 min) define A() from B();"),
              HasSubstr("per = 10 min"));
  EXPECT_THAT(hint("@at_most(1, per = 10 min, by x) define A() from B();"), HasSubstr("by = area"));
  EXPECT_THAT(hint("define A() from B() and last C() within 5 min where;"),
              HasSubstr("`within 5 min from Smoke`"));
  EXPECT_THAT(hint("define A() from B() and last C() within 5 min of B;"),
              HasSubstr("`within 5 min from Smoke`"));
  EXPECT_THAT(hint("define A() from B() and C() within 5 min from B;"),
              HasSubstr("a row is `table C(...)`"));
  EXPECT_THAT(hint("define A() from B() and last C() within 5 min inclusiv from B;"),
              HasSubstr("did you mean `inclusive`?"));
  EXPECT_THAT(hint("define A() from B() and last C() in the last 5 min from B;"),
              HasSubstr("`within 5 min from Smoke`"));
  EXPECT_THAT(hint("define A() from B() within 5 min;"), HasSubstr("windows stand behind states"));
  EXPECT_THAT(hint("define A(n: int) from B() where n = Count(C within 5 min from B);"),
              HasSubstr("a type is followed by brackets, even without conditions: `C()`"));
  EXPECT_THAT(hint("define A(hot: bool) from B() where hot = B.x > 1;"),
              HasSubstr("a condition that is a value stands in brackets"));
  EXPECT_THAT(hint("event B(area string);"), HasSubstr("write `area: string`"));
  EXPECT_THAT(hint("define A() from Timer(ever = 5 min);"), HasSubstr("did you mean `every`?"));
}

TEST(ParseError, UnitsOfOtherLanguagesAreToldWhatIsMeant) {
  const auto within = [](const std::string& time) {
    return errors("define A() from B() and last C() within " + time + " from B;");
  };
  EXPECT_THAT(within("5m"), HasSubstr("minutes are written `min`"));
  EXPECT_THAT(within("1 week"), HasSubstr("a week is `7 d`"));
  EXPECT_THAT(within("2 Weeks"), HasSubstr("a week is `7 d`"));
}

}  // namespace
}  // namespace gorgo::language
