// language.md §1: declared, defined and inferred types.
#include "bind_support.hpp"

namespace gorgo::language {
namespace {

TEST(BindTypes, DeclaredAndDefinedTypesEnterTheSchema) {
  const Schema schema = schema_of(
      "event Temp(area: string, value: float); event Unused(n: int);"
      "define Fire(area: string) from Temp(area = $a) where area = $a;");
  EXPECT_EQ(declaration_of(*schema.find("Temp")), "event Temp(area: string, value: float);");
  EXPECT_TRUE(schema.find("Temp")->origin == TypeOrigin::declared);
  EXPECT_TRUE(schema.find("Fire")->origin == TypeOrigin::composite);
  EXPECT_TRUE(schema.find("Fire")->strict());
  EXPECT_NE(schema.find("Unused"), nullptr);
}

TEST(BindTypes, TheOrderOfItemsHasNoMeaning) {
  EXPECT_EQ(type_in("define F() from T(v > 1); event T(v: int);", "T"), "event T(v: int);");
  EXPECT_EQ(type_in("define F() from G(v > 1); define G(v: int) from A() where v = 1;", "G"),
            "event G(v: int);");
}

TEST(BindTypes, InferredTypesAreNotStrict) {
  EXPECT_FALSE(schema_of("define F() from T(name = \"x\");").find("T")->strict());
}

TEST(BindTypes, LiteralsAreStrongEvidence) {
  EXPECT_EQ(type_in("define F() from T(s = 'x', f > 1.5, b = true);", "T"),
            "event T(s: string, f: float, b: bool);");
  EXPECT_EQ(type_in("define F() from T(f > -1.5);", "T"), "event T(f: float);");
  EXPECT_EQ(type_in("define F() from T(2.5 < f);", "T"), "event T(f: float);");
}

TEST(BindTypes, OperatorsOfStringsAndBoolsAreStrongEvidence) {
  EXPECT_EQ(type_in("define F() from T(a contains 'x', flag, not (other));", "T"),
            "event T(a: string, flag: bool, other: bool);");
  EXPECT_EQ(type_in("define F() from T(a contains b);", "T"), "event T(a: string, b: string);");
}

TEST(BindTypes, AStatedTypeIsStrongEvidence) {
  EXPECT_EQ(type_in("define F() from T([int]a = $x, [string]b = $y, [bool]c, [double]d > 1);", "T"),
            "event T(a: int, b: string, c: bool, d: float);");
}

TEST(BindTypes, IntegerLiteralsAndArithmeticSayOnlyNumber) {
  EXPECT_EQ(type_in("define F() from T(a > 1, b + 1 = c * 2);", "T"),
            "event T(a: float, b: float, c: float);");
  EXPECT_EQ(type_in("define F() from T(a > 1, [int]a < 5);", "T"), "event T(a: int);");
  EXPECT_EQ(type_in("define F(n: int) from T(a > 1) where n = T.a;", "T"), "event T(a: int);");
  EXPECT_EQ(type_in("define F(n: int) from T(a > 1) where n = T.a + 1;", "T"),
            "event T(a: float);");
}

TEST(BindTypes, AParameterLinksItsAttributes) {
  constexpr std::string_view kChain =
      "define F() from A(x = $p) and each B(y = $p) within 1 s from A"
      "  and last C([string]z = $p) within 1 s from B;";
  EXPECT_EQ(type_in(kChain, "A"), "event A(x: string);");
  EXPECT_EQ(type_in(kChain, "B"), "event B(y: string);");
}

TEST(BindTypes, AParameterLinksToDeclaredAttributes) {
  EXPECT_EQ(type_in("event A(x: int); define F() from A(x = $p) and each B(y > $p)"
                    " within 1 s from A;",
                    "B"),
            "event B(y: int);");
}

TEST(BindTypes, TargetsOfWhereAreStrongEvidence) {
  EXPECT_EQ(type_in("define F(s: string, n: int) from A(x = $p) and each B(y = $p)"
                    " within 1 s from A where s = B.name and n = $p;",
                    "B"),
            "event B(y: int, name: string);");
}

TEST(BindTypes, EvidenceIsSharedByAllRulesOfTheFile) {
  EXPECT_EQ(type_in("define F() from T(v > 1); define G(n: int) from T() where n = T.v;", "T"),
            "event T(v: int);");
}

TEST(BindTypes, AComparisonWithAnAttributeTellsItsKind) {
  EXPECT_EQ(type_in("event A(s: string, n: int); define F() from A()"
                    " and each B(t = A.s, m > A.n) within 1 s from A;",
                    "B"),
            "event B(t: string, m: float);");
}

TEST(BindTypes, AggregatesSayNumberAndPassOnTheTarget) {
  EXPECT_EQ(type_in("define F(a: float) from A() where a = Avg(B().v within 1 s from A);", "B"),
            "event B(v: float);");
  EXPECT_EQ(type_in("define F(a: int) from A() where a = Sum(B().v within 1 s from A);", "B"),
            "event B(v: int);");
}

TEST(BindTypes, NoEvidenceIsAnErrorThatPrintsTheDeclaration) {
  constexpr std::string_view kText = "define F() from T(v = $x, name = 'n');";
  EXPECT_THAT(messages(kText),
              ElementsAre("1:19: nothing says what type attribute `v` of `T` has"));
  EXPECT_EQ(hint_of(kText), "declare it, for example `event T(v: int, name: string);`");
}

TEST(BindTypes, AttributesThatAreLinkedLackEvidenceOnce) {
  EXPECT_THAT(messages("define F() from C(p = $x) and each B(p = $x) within 8 from C"
                       " and last A(p = $x) within 3 from B;"),
              ElementsAre("1:19: nothing says what type attribute `p` of `C` has"));
}

TEST(BindTypes, ATypeWithoutEvidenceThatIsNearAKnownOneIsASlip) {
  EXPECT_THAT(hint_of("event Smoke(area: string); define F() from Smok(area = $a);"),
              HasSubstr("did you mean `Smoke`? else declare it"));
}

TEST(BindTypes, ContradictingEvidenceNamesBothPlaces) {
  constexpr std::string_view kText = "define F() from T(v = 'x');\ndefine G() from T(v > 1.5);";
  EXPECT_THAT(messages(kText), ElementsAre("2:21: attribute `v` of `T` is float as the literal, "
                                           "but string as the literal at 1:21"));
  EXPECT_EQ(hint_of(kText), "if one of the uses is right, declare the type: `event T(v: string);`");
  EXPECT_THAT(messages("define F() from T(v + 1 > 2, v = 'x');"),
              ElementsAre("1:32: attribute `v` of `T` is no number here, but is used as one at "
                          "1:19"));
  EXPECT_THAT(messages("define F() from T(v = 'x', v + 1 > 2);"),
              ElementsAre("1:28: attribute `v` of `T` is used as a number, but is string as the "
                          "literal at 1:21"));
}

TEST(BindTypes, AParameterThatLinksTwoTypesIsAnError) {
  EXPECT_THAT(messages("define F() from A(x = $p, [int]x > 0)"
                       " and each B(y = $p, y = 'b') within 1 s from A;"),
              ElementsAre("1:60: attribute `y` of `B` is string as the literal, but `x` of `A`, "
                          "linked to it by parameters, is int as stated in brackets at 1:34"));
}

TEST(BindTypes, RedeclarationsMustBeIdentical) {
  EXPECT_THAT(messages("event T(a: int); event T(a: int);"), IsEmpty());
  EXPECT_THAT(messages("event T(a: int, b: int);\nevent T(b: int, a: int);"),
              ElementsAre("2:7: `event T(b: int, a: int);` contradicts `event T(a: int, b: int);` "
                          "at 1:7"));
  const Schema known = schema_of("event T(a: int);");
  EXPECT_THAT(messages("event T(a: int);", known), IsEmpty());
  EXPECT_THAT(messages("event T(a: float);", known),
              ElementsAre("1:7: `event T(a: float);` contradicts `event T(a: int);`, which is "
                          "deployed"));
}

// An event of more attributes is refused by every door.
TEST(BindTypes, ATypeHasAtMost4096Attributes) {
  const auto with_attributes = [](int count) {
    std::string list;
    for (int i = 0; i < count; ++i) list += (i == 0 ? "a" : ", a") + std::to_string(i) + ": int";
    return "event T(" + list + ");";
  };
  EXPECT_THAT(messages(with_attributes(4096)), IsEmpty());
  EXPECT_THAT(messages(with_attributes(4097)), ElementsAre("1:7: type `T` has 4097 attributes"));
}

TEST(BindTypes, DefinitionsOfACompositeAgree) {
  EXPECT_THAT(messages("define F(a: int) from A() where a = 1;\n"
                       "define F(a: int) from B() where a = 2;"),
              IsEmpty());
  EXPECT_THAT(messages("event F(a: int);\ndefine F(b: int) from A() where b = 1;"),
              ElementsAre("2:8: `event F(b: int);` contradicts `event F(a: int);` at 1:7"));
}

TEST(BindTypes, ADeclarationOutlivesTheDefinition) {
  EXPECT_EQ(schema_of("define F() from A(); event F();").find("F")->origin, TypeOrigin::declared);
}

class KnownInferred : public ::testing::Test {
 protected:
  const Schema known_ = schema_of("define F() from Temp(area = 'a');");
};

TEST_F(KnownInferred, IsUsedAsItIs) {
  EXPECT_EQ(line_of("define G() from Temp(area = $a);", "state 0: ", known_),
            "Temp(has area) as Temp");
}

TEST_F(KnownInferred, RulesCannotAddAttributes) {
  constexpr std::string_view kText = "define G() from Temp(value > 45.5 and value < 50);";
  EXPECT_THAT(messages(kText, known_),
              ElementsAre("1:22: the deployed rules imply `event Temp(area: string);`, and a rule "
                          "cannot add the attribute `value`"));
  EXPECT_EQ(hint_of(kText, known_),
            "remove these rules, and declare `event Temp(area: string, value: float);` before "
            "them");
}

TEST_F(KnownInferred, RulesCannotChangeTypes) {
  EXPECT_THAT(messages("define G() from Temp([int]area = $a);", known_),
              ElementsAre("1:27: `area` is string, not int"));
}

TEST_F(KnownInferred, DeclarationsAndDefinitionsMustFit) {
  EXPECT_EQ(type_in("event Temp(area: string);", "Temp", known_), "event Temp(area: string);");
  constexpr std::string_view kText = "event Temp(area: string, value: float);";
  EXPECT_THAT(messages(kText, known_),
              ElementsAre("1:7: `event Temp(area: string, value: float);` contradicts what the "
                          "deployed rules imply, `event Temp(area: string);`"));
  EXPECT_EQ(hint_of(kText, known_),
            "write `event Temp(area: string);`, or remove the rules that use `Temp`");
}

TEST(BindTypes, AnAttributeThatATypeLacksIsAnErrorOnce) {
  constexpr std::string_view kText =
      "event T(value: int); define F() from T(valeu > 1, valeu < 5);";
  EXPECT_THAT(messages(kText), ElementsAre("1:40: type `T` has no attribute `valeu`"));
  EXPECT_EQ(hint_of(kText), "did you mean `value`?");
  EXPECT_EQ(hint_of("event T(value: int); define F() from T(zzz > 1);"),
            "it is `event T(value: int);`");
}

TEST(BindTypes, AttributeListsAreChecked) {
  EXPECT_THAT(messages("event T(a: int, a: float);"),
              ElementsAre("1:17: attribute `a` is listed already at 1:9"));
  EXPECT_THAT(messages("define F(timestamp: int) from A() where timestamp = 1;"),
              ElementsAre("1:10: `timestamp` cannot be the name of an attribute"));
}

TEST(BindTypes, AnErrorElsewhereIsNoLackOfEvidence) {
  EXPECT_THAT(messages("define F() from A(x = $p) and each B(y = C.z) within 1 s from A"
                       " and A.x > 1;"),
              ElementsAre("1:42: no state of this rule is named `C`"));
}

TEST(BindTypes, AFailedFileLeavesTheSchemaAsItWas) {
  const BoundFile bound = compile_text("event T(a: int); define F() from T(b > 1);");
  EXPECT_TRUE(bound.diagnostics.failed());
  EXPECT_TRUE(bound.rules.empty());
  EXPECT_THAT(bound.schema.names(), IsEmpty());
}

}  // namespace
}  // namespace gorgo::language
