// Rules built without text, as a front end other than the parser does.
#include <gtest/gtest.h>

#include "language/describe.hpp"
#include "language/language.hpp"

namespace gorgo::language {
namespace {

using ast::ExprKind;

ast::Name name(std::string text) { return {std::move(text), {}}; }

ast::Expr leaf(ExprKind kind, std::string text) {
  ast::Expr expr;
  expr.kind = kind;
  expr.name = name(std::move(text));
  return expr;
}

ast::Expr literal(Value value) {
  ast::Expr expr;
  expr.value = std::move(value);
  return expr;
}

ast::Expr operation(ExprKind kind, ast::Expr left, ast::Expr right) {
  ast::Expr expr;
  expr.kind = kind;
  expr.children.push_back(std::move(left));
  expr.children.push_back(std::move(right));
  return expr;
}

/// from Smoke(area = $a) and last Temp(area = $a, value > 45) within 10 from Smoke
ast::RuleDefinition fire() {
  const auto area_is_a = [] {
    return operation(ExprKind::equal, leaf(ExprKind::attribute, "area"),
                     leaf(ExprKind::parameter, "a"));
  };
  ast::RuleDefinition rule;
  rule.type = name("Fire");
  rule.attributes = {{name("area"), ValueType::string}};
  rule.terminator = ast::Predicate{name("Smoke"), {area_is_a()}, std::nullopt};
  ast::StateClause temp;
  temp.selection = Selection::last;
  temp.predicate = {name("Temp"), {area_is_a()}, std::nullopt};
  temp.predicate.conditions.push_back(
      operation(ExprKind::greater, leaf(ExprKind::attribute, "value"), literal(std::int64_t{45})));
  temp.span = {SpanKind::within, {}, 10, name("Smoke"), {}};
  rule.clauses.push_back(std::move(temp));
  rule.assignments.push_back({name("area"), leaf(ExprKind::parameter, "a")});
  return rule;
}

ast::File file_of(ast::RuleDefinition rule) {
  ast::File file;
  file.items.push_back(std::move(rule));
  return file;
}

TEST(BindAst, ARuleWithoutTextBinds) {
  const BoundFile bound = bind(file_of(fire()), {}, {"wire", ""});
  ASSERT_FALSE(bound.diagnostics.failed()) << bound.diagnostics.render();
  ASSERT_EQ(bound.rules.size(), 1u);
  EXPECT_EQ(bound.rules[0].name, "wire.Fire");
  EXPECT_EQ(bound.rules[0].text, "");
  EXPECT_EQ(describe(bound.rules[0], bound.schema),
            "event Fire(area: string);\n"
            "state 0: Smoke(has area) as Smoke\n"
            "state 1: last Temp(area = Smoke.area, value > 45) as Temp within 10 ns from Smoke\n"
            "area := Smoke.area\n");
}

TEST(BindAst, DiagnosticsOfARuleWithoutTextHaveNoLine) {
  ast::RuleDefinition rule = fire();
  rule.consuming = {name("Tmp")};
  const BoundFile bound = bind(file_of(std::move(rule)), {}, {"wire", ""});
  ASSERT_EQ(bound.diagnostics.list.size(), 1u);
  EXPECT_EQ(bound.diagnostics.list[0].message, "no state of this rule is named `Tmp`");
  EXPECT_EQ(bound.diagnostics.list[0].source_line, "");
  EXPECT_TRUE(bound.rules.empty());
  EXPECT_TRUE(bound.schema.names().empty());
}

ast::Expr chain_of(ExprKind kind, int length, const ast::Expr& operand) {
  ast::Expr expr = operand;
  for (int i = 1; i < length; ++i) expr = operation(kind, std::move(expr), operand);
  return expr;
}

TEST(BindAst, LongChainsOfLogicAreBalanced) {
  ast::RuleDefinition rule = fire();
  const ast::Expr test =
      operation(ExprKind::less, leaf(ExprKind::attribute, "value"), literal(std::int64_t{9}));
  auto& temp = std::get<ast::StateClause>(rule.clauses[0]);
  temp.predicate.conditions.push_back(chain_of(ExprKind::logical_or, 3000, test));
  const BoundFile bound = bind(file_of(std::move(rule)), {}, {"wire", ""});
  ASSERT_FALSE(bound.diagnostics.failed()) << bound.diagnostics.render();
  int depth = 0;
  const Expr* expr = &bound.rules[0].states[1].predicate.conditions.back();
  for (; !expr->args.empty(); expr = &expr->args[0]) ++depth;
  EXPECT_LE(depth, 14);
}

TEST(BindAst, LongChainsOfArithmeticAreRefused) {
  ast::RuleDefinition rule = fire();
  ast::FilterClause filter;
  filter.condition =
      operation(ExprKind::less, chain_of(ExprKind::add, 3000, literal(std::int64_t{1})),
                literal(std::int64_t{9}));
  rule.clauses.push_back(std::move(filter));
  const BoundFile bound = bind(file_of(std::move(rule)), {}, {"wire", ""});
  ASSERT_EQ(bound.diagnostics.list.size(), 1u);
  EXPECT_EQ(bound.diagnostics.list[0].message, "this expression nests deeper than 520");
}

}  // namespace
}  // namespace gorgo::language
