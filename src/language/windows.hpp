#pragma once

#include <cstdint>
#include <optional>

#include "gorgo/rule.hpp"
#include "language/ast.hpp"
#include "language/reporter.hpp"
#include "language/scope.hpp"

namespace gorgo::language {

/// Binds the spans of time of one rule: `within 5 min from S`, `between S1 and S2`, and
/// `within 5 min after S`.
class WindowBinder {
 public:
  WindowBinder(const Scope& scope, Reporter& reporter) : scope_(scope), reporter_(reporter) {}

  /// Binds a span behind `earlier` states, which are those that it may name. Its kind may have no
  /// meaning where it stands: the clause that it belongs to reports that.
  Span bind(const ast::Span& span, std::uint32_t earlier);
  /// How many events `within 20 events` takes; nothing where it takes all. Warns where no time
  /// bounds how long they are kept.
  std::optional<std::uint64_t> newest(const ast::Span& span);

 private:
  std::uint32_t earlier_state(const ast::Name& name, std::uint32_t earlier);

  const Scope& scope_;
  Reporter& reporter_;
};

}  // namespace gorgo::language
