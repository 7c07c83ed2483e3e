// language.md §2: names of rules, types and their numbers; the text of a rule.
#include "bind_support.hpp"

namespace gorgo::language {
namespace {

std::vector<std::string> names(std::string_view text) {
  std::vector<std::string> list;
  for (const Rule& rule : compile_text(text).rules) list.push_back(rule.name);
  return list;
}

TEST(BindNames, UnnamedRulesAreNamedAfterFileAndType) {
  EXPECT_THAT(names("define F() from A(); rule mine: define F() from A(); define G() from A();"
                    "define F() from A();"),
              ElementsAre("plant.F", "mine", "plant.G", "plant.F.2"));
}

TEST(BindNames, RulesOfOneNameAreAnError) {
  EXPECT_THAT(messages("rule r: define F() from A();\nrule r: define G() from A();"),
              ElementsAre("2:6: a rule named `r` stands already at 1:6"));
}

TEST(BindNames, NumbersGoToTheSchema) {
  const Schema schema = schema_of("Assign 2000 => A, 2100 => F Define F() From A();");
  EXPECT_EQ(schema.find("A")->number, 2000);
  EXPECT_EQ(schema.find("F")->number, 2100);
}

TEST(BindNames, NumbersOfKnownTypesAreSet) {
  const Schema known = schema_of("event A(x: int);");
  const BoundFile bound = compile_text("Assign 7 => A Define F() From A();", known);
  EXPECT_EQ(bound.schema.find("A")->number, 7);
}

TEST(BindNames, ContradictingNumbersAreErrors) {
  EXPECT_THAT(messages("Assign 1 => A, 2 => A Define F() From A();"),
              ElementsAre("1:21: type `A` already has the number 1"));
  EXPECT_THAT(messages("Assign 1 => A, 1 => F Define F() From A();"),
              ElementsAre("1:21: number 1 is already that of type `A`"));
  EXPECT_THAT(messages("Assign 1 => A Define F() From A(); Assign 1 => A Define F() From A();"),
              IsEmpty());
  const Schema known = schema_of("Assign 1 => A Define F() From A();");
  EXPECT_THAT(messages("Assign 1 => B Define F() From B();", known),
              ElementsAre("1:13: number 1 is already that of type `A`"));
  EXPECT_THAT(messages("Assign 3000000000 => A Define F() From A();"),
              ElementsAre("1:22: type number 3000000000 does not fit 32 bits"));
}

TEST(BindNames, ANumberForAnUnusedTypeIsIgnoredWithAWarning) {
  EXPECT_THAT(messages("Assign 1 => Smok Define F() From Smoke();"),
              ElementsAre("1:13: warning: `Assign` numbers `Smok`, which no rule uses; ignored"));
}

TEST(BindNames, TheTextOfARuleIsKept) {
  const BoundFile bound = compile_text(
      "event A(x: int);\n// first\n@engine(reference)\nrule r: define F()\nfrom A() ; \n"
      "define G() from A()");
  ASSERT_EQ(bound.rules.size(), 2u);
  EXPECT_EQ(bound.rules[0].text, "@engine(reference)\nrule r: define F()\nfrom A()");
  EXPECT_EQ(bound.rules[0].at.line, 3u);
  EXPECT_EQ(bound.rules[1].text, "define G() from A()");
}

TEST(BindNames, DiagnosticsCarryFileLineAndHint) {
  const auto list =
      compile_text("event T(value: int);\n  define F() from T(valeu > 1);\n").diagnostics.list;
  ASSERT_EQ(list.size(), 1u);
  EXPECT_EQ(render(list[0]),
            "rules/plant.tesla:2:21: error: type `T` has no attribute `valeu`\n"
            "    define F() from T(valeu > 1);\n"
            "                      ^~~~~\n"
            "  hint: did you mean `value`?\n");
}

TEST(BindNames, MisspeltConstantsAreFound) {
  const std::string types = "const limit = 45; const pause = 5 min; event B(x: int);\n";
  const auto hint = [&](const std::string& rule) { return hint_of(types + rule); };
  EXPECT_EQ(hint("define A() from B(x > limt);"), "did you mean `limit`?");
  EXPECT_EQ(hint("define A() from B() and B.x > limt;"), "did you mean `limit`?");
  EXPECT_EQ(hint("define A(x: int) from B() where x = limt;"), "did you mean `limit`?");
  EXPECT_EQ(hint("define A() from B() and not B() within pase from B;"), "did you mean `pause`?");
  EXPECT_EQ(hint("define A(x: int) from B() where x = 1 order by x limit limt;"),
            "did you mean `limit`?");
  EXPECT_EQ(hint("@at_most(limt, per = 1 s) define A() from B();"), "did you mean `limit`?");
  EXPECT_EQ(hint("@at_most(1, per = pase) define A() from B();"), "did you mean `pause`?");
  // A constant is no attribute of a state, and the rules before a constant do not see it.
  EXPECT_THAT(hint("define A() from B() and B.limt > 1;"), HasSubstr("it is `event B"));
  EXPECT_THAT(hint_of("event B(x: int); define A() from B(x > limt); const limit = 45;"),
              HasSubstr("it is `event B"));
}

TEST(BindNames, AStateIsNoValue) {
  EXPECT_EQ(hint_of("event B(x: int); define A(x: int) from B() where x = max(B, 1);"),
            "`B` is a state; its attributes are written `B.attribute`");
}

TEST(BindNames, AnAbsenceIsNotTakenForATypeThatIsCalledExists) {
  EXPECT_THAT(messages("event B(x: int); event C();"
                       "define A() from B() and not exists(C) within 5 min from B;"),
              ElementsAre("1:56: `exists` asks for a value, and is no type of an event"));
}

TEST(BindNames, DiagnosticsStandInTheOrderOfTheText) {
  EXPECT_THAT(messages("event T(v: int);\n"
                       "define F(a: int) from T(v = 'x') where b = 1;\n"
                       "define G() from T(w > 1) consuming X;\n"),
              ElementsAre("2:10: attribute `a` of `F` gets no value",
                          "2:27: `=` cannot compare `v` (int, 2:25) with `\"x\"` (string, 2:29)",
                          "2:40: `F` has no attribute `b`", "3:19: type `T` has no attribute `w`",
                          "3:36: no state of this rule is named `X`"));
}

}  // namespace
}  // namespace gorgo::language
