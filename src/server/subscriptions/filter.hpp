#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gorgo/processor.hpp"
#include "language/ast.hpp"
#include "server/security/user.hpp"

namespace gorgo::server {

/// What one subscription text asks for: a type, or "*", and conditions on the attributes by name
/// (language.md §11). Immutable, so one filter serves all subscriptions with the same text.
class Filter {
 public:
  struct Parsed;
  /// How large its patterns may be: as large as RE2 allows, or only so large together that nobody
  /// waits for them to be compiled.
  enum class Patterns : std::uint8_t { any, small };
  /// Parses the text and checks the attributes and value types in its conditions, where `schema`
  /// knows the event type. A type that becomes known later, or changes, only makes conditions
  /// false.
  static Parsed parse(const std::string& text, const Schema& schema,
                      Patterns patterns = Patterns::any);

  /// "*": any type.
  const std::string& type() const { return predicate_.type.text; }
  /// All of them must hold.
  const std::vector<ast::Expr>& conditions() const { return predicate_.conditions; }
  /// Whether it takes every event of its type, except that "*" takes no internal ones.
  bool takes_all() const { return predicate_.conditions.empty() && action_.empty(); }
  /// Only composites of rules that execute it, internal ones included: `webhook("ops")`; empty: any
  /// event.
  const std::string& action() const { return action_; }
  /// What events are looked up by that it may take: the type, or the action where any type will do.
  const std::string& subject() const {
    return type() == "*" && !action_.empty() ? action_ : type();
  }
  /// Whether the row is of the type.
  bool is_about(const OutputBatch& batch, const OutputBatch::Row& row) const;
  /// Whether the rest holds. Precondition: the row is of the type.
  bool matches(const OutputBatch& batch, const OutputBatch::Row& row) const;

 private:
  ast::Predicate predicate_;
  std::string action_;

  Filter(ast::Predicate predicate, std::string action)
      : predicate_(std::move(predicate)), action_(std::move(action)) {}
};

struct Filter::Parsed {
  std::optional<Filter> filter;  ///< empty when the diagnostics failed
  Diagnostics diagnostics;
};

/// `user`: who subscribes; null: nobody was asked.
inline Filter::Patterns patterns_of(const User* user) {
  return user == nullptr || user->admin ? Filter::Patterns::any : Filter::Patterns::small;
}

/// An error for everything in the predicate that no event could ever satisfy or that has no meaning
/// in a subscription. Reads the literal patterns and zones of its calls.
Diagnostics check_filter(ast::Predicate& predicate, const Schema& schema, const std::string& text,
                         Filter::Patterns patterns);

}  // namespace gorgo::server
