#pragma once

#include <compare>
#include <optional>
#include <vector>

#include "gorgo/rule.hpp"

namespace gorgo::plan {

/// One attribute of the event `source`.
struct Subject {
  std::int32_t source = kCandidate;
  std::uint32_t index = 0;
  ValueType type = ValueType::integer;

  friend auto operator<=>(const Subject&, const Subject&) = default;
};

/// The attribute that a condition compares with constants, combined by `and`, `or` and `not`, and
/// nothing else; nothing for any other condition.
std::optional<Subject> only_subject(const Expr& condition);

/// A smallest set of the conditions, in their order, that no value of the subject satisfies; empty
/// when some value satisfies all. Precondition: `only_subject` of each is the subject.
/// What cannot be decided counts as satisfiable.
std::vector<const Expr*> contradiction(const std::vector<const Expr*>& conditions,
                                       ValueType subject);

/// Whether a condition that reads no event and no aggregate is false.
bool is_never(const Expr& condition);

}  // namespace gorgo::plan
