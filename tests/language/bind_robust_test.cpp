// Nonsense that parses, texts that are large, and texts that are wrong all over.
#include <random>

#include "bind_support.hpp"

namespace gorgo::language {
namespace {

/// Rules in words; those that begin with `~` are exchanged for others of their kind.
const std::vector<std::string> kTemplates = {
    "define F ( ~a : ~type , ~a : ~type ) from ~T ( ~a = ~p , ~v ~cmp ~v ) and each ~T ( ~a = ~p "
    "and ~v ~cmp ~v or not ~a ) within 5 s from ~T and last ~T ( ~a => ~p ) as ~T within 10 from "
    "~T and not ~T ( ~v ~cmp ~v ) between ~T and ~T where ~a = ~v + ~v , ~a = ~v consuming ~T ;",
    "define ~T ( ) from ~T ( [ ~type ] ~a = ~p ) and not ~T ( ~v ~cmp ~v ) within 0 after ~T and "
    "~v < ~p = Sum ( ~T ( ~v ~cmp ~v ) . ~a within 1 s from ~T ) and ( ~v ~cmp ~v or Max ( ~T ( "
    ") . ~a between ~T and ~T ) > ~v ) and ~p = Count ( ~T ( ~a ) within 3 from ~T ) ;",
    "event ~T ( ~a : ~type ) ; Assign 1 => ~T , 2 => ~T Define ~T ( ~a : ~type ) From ~T ( ~a => "
    "~p , ~a contains ~v ) Where ~a := - ~v * ~v Consuming ~T ;",
    "define H ( n : int ) from ~T ( x = $p , ~v ~cmp ~v ) and each ~T ( x = $p ) as Z within 5 s "
    "from ~T and ( ~v ~cmp ~v or $p > 1 ) where n = Z.~a ;",
    "rule ~T : define G ( ~a : ~type ) from Timer ( every = 1 s ) and each ~T ( timestamp > "
    "Timer.~a ) within 1 from Timer and ( not ~v ~cmp ~v ) where ~a = ~v ;"};

class Mutator {
 public:
  explicit Mutator(unsigned seed) : random_(seed) {}

  std::string rule() {
    std::string text;
    const std::string& words = kTemplates[random_() % kTemplates.size()];
    for (std::size_t i = 0; i < words.size();) {
      const std::size_t end = std::min(words.find(' ', i), words.size());
      text += word(words.substr(i, end - i)) + " ";
      i = end + 1;
    }
    return text;
  }

 private:
  std::string pick(const std::vector<std::string>& from) { return from[random_() % from.size()]; }

  std::string word(const std::string& w) {
    const auto at = w.find('~');
    if (at == std::string::npos) return w;
    const std::string kind = w.substr(at + 1), before = w.substr(0, at);
    if (kind == "T") return before + pick({"A", "B", "C", "F"});
    if (kind == "a") return before + pick({"x", "y", "s", "timestamp"});
    if (kind == "p") return before + pick({"$p", "$q", "$t"});
    if (kind == "type") return before + pick({"int", "float", "bool", "string"});
    if (kind == "cmp") return before + pick({"=", "!=", "<", ">=", "contains"});
    return before + pick({"1", "2.5", "'u'", "true", "x", "s", "A.x", "B.s", "C.timestamp", "$p",
                          "$q", "$t", "5 min", "-3", "(x - 1)"});
  }

  std::mt19937 random_;
};

TEST(BindRobust, NonsenseIsBoundOrRefusedWithReasons) {
  int bound_files = 0;
  Mutator mutator(7);
  Schema known;
  for (const char* name : {"A", "B", "C"}) {
    known.add(
        {.name = name,
         .attributes = {
             {"x", ValueType::integer}, {"y", ValueType::floating}, {"s", ValueType::string}}});
  }
  for (int i = 0; i < 6000; ++i) {
    std::string text = mutator.rule();
    if (i % 3 == 0) text += mutator.rule();
    const BoundFile bound = compile_text(text, i % 2 == 0 ? known : Schema{});
    bound_files += bound.diagnostics.failed() ? 0 : 1;
    ASSERT_EQ(bound.diagnostics.failed(), bound.rules.empty())
        << text << bound.diagnostics.render();
    for (const Rule& rule : bound.rules) EXPECT_NE(describe(rule, bound.schema), "");
    for (const auto& d : bound.diagnostics.list) {
      EXPECT_NE(d.message, "");
      EXPECT_LE(d.at.column, text.size() + 1) << text;
      EXPECT_EQ(d.source_line, text);
    }
  }
  EXPECT_GT(bound_files, 0);
}

TEST(BindRobust, AnErrorIsReportedAHundredTimesAtMost) {
  std::string text;
  for (int i = 0; i < 500; ++i) text += "define F() from A() consuming X;\n";
  const auto list = messages(text);
  ASSERT_EQ(list.size(), 101u);
  EXPECT_EQ(list[0], "1:31: no state of this rule is named `X`");
  EXPECT_EQ(list[100], "101:31: too many errors, the rest is not shown");
}

TEST(BindRobust, WarningsNeverCrowdOutAnError) {
  std::string text;
  for (int i = 0; i < 300; ++i) text += "Assign 1 => A, 2 => Unused Define F() From A();\n";
  EXPECT_FALSE(compile_text(text).diagnostics.failed());
  EXPECT_TRUE(compile_text(text + "define F() from A() consuming X;").diagnostics.failed());
}

TEST(BindRobust, LongNamesAndWideTypesStayCheap) {
  const std::string name(200'000, 'n');
  // The declared name is too long, and the other one is of no attribute.
  EXPECT_EQ(messages("event T(" + name + ": int); define F() from T(" + name + "x > 1);").size(),
            2u);
  std::string wide = "event W(", uses = "define F() from W(";
  for (int i = 0; i < 20'000; ++i) {
    wide += "a" + std::to_string(i) + ": int, ";
    uses += "b" + std::to_string(i) + " > 1, ";
  }
  const auto list = compile_text(wide + "z: int);" + uses + "z > 1);").diagnostics.list;
  ASSERT_EQ(list.size(), 101u);
  EXPECT_LT(list[0].hint.size(), 3000u);
}

}  // namespace
}  // namespace gorgo::language
