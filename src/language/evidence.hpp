#pragma once

#include <string>
#include <unordered_map>

#include "functions/catalogue.hpp"
#include "language/inference.hpp"
#include "language/scope.hpp"

namespace gorgo::language {

/// Walks the expressions of one rule and tells the inference what they say about the types of
/// attributes. Reports nothing: names without meaning are reported when the rule is bound.
class EvidenceCollector {
 public:
  EvidenceCollector(const ast::RuleDefinition& rule, const Scope& scope, TypeTable& types,
                    Inference& inference)
      : rule_(rule), scope_(scope), types_(types), inference_(inference) {}

  void collect();

 private:
  /// What is known about the type of an expression.
  struct Term {
    enum class Kind { wrong, open, given, number };
    Kind kind = Kind::number;
    Inference::Node node = 0;             // open: the attribute decides
    ValueType type = ValueType::integer;  // given
    bool literal = false;                 // given: by a literal
    bool parameter = false;               // a `$p`
    bool reference = false;               // an attribute, `State.attr` or `$p`
  };

  void predicate(const ast::Predicate& predicate, Context context);
  void condition(const ast::Expr& expr, const Context& context);
  void comparison(const ast::Expr& expr, const Context& context);
  void assignment(const ast::Assignment& assignment);
  void relate(const Term& a, const Term& b, Location at);
  void demand(const Term& term, ValueType type, Location at, std::string_view why);

  Term term(const ast::Expr& expr, const Context& context);
  Term plain_term(const ast::Expr& expr, const Context& context);
  Term literal(const Value& value) const;
  Term reference(const ast::Expr& expr, const Context& context);
  Term attribute(TypeIndex type, std::string_view name, Location at);
  Term aggregate(const ast::AggregateCall& call);
  Term aggregate_value(const ast::AggregateCall& call);
  Term call(const ast::Expr& expr, const Context& context);
  Term argument(functions::Parameter parameter, const ast::Expr& argument, const ast::Expr& call,
                const Context& context);
  Term operation(const ast::Expr& expr, const Context& context);

  const ast::RuleDefinition& rule_;
  const Scope& scope_;
  TypeTable& types_;
  Inference& inference_;
  std::unordered_map<std::string, ValueType> targets_;  // of `where`
};

}  // namespace gorgo::language
