#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cuda/layout.hpp"
#include "engine/cuda/field.hpp"
#include "gorgo/diagnostics.hpp"
#include "plan/plan.hpp"

namespace gorgo::engine {

/// A scan as a device runs it. Whatever does not mention the candidate is computed once for each
/// search, by the host, and stands in the search's cells: so programs hold no constants, and the
/// device sees only what depends on the candidate.
struct Program {
  struct Parameter {
    const Expr* expr;  ///< of the plan
    bool required;     ///< if it has no value, nothing is found
    bool is_text = false;
  };
  /// Comparisons of one attribute with values: the intersection of their intervals.
  struct Test {
    gpu::Test on_device;
    /// The plan's comparisons. A negated test has one. The test that no earlier terminator consumed
    /// the candidate has none.
    std::vector<const plan::Comparison*> comparisons;
  };

  std::vector<const Expr*> guards;    ///< of the plan; unless they hold, nothing is found
  std::vector<Field> fields;          ///< what it reads; `gpu::Test::attribute` is an index here
  std::vector<Parameter> parameters;  ///< by cell
  std::vector<Test> tests;
  std::vector<gpu::Instruction> code;
  std::uint32_t reduced = gpu::kNone;  ///< in `fields`: what is aggregated
  std::uint32_t time = gpu::kNone;     ///< in `fields`: what negations compare
};

/// Compiles a scan, which must outlive the program. `aggregated` is the attribute that is
/// aggregated over what is found. With `consumed`, what an earlier terminator consumed fails. An
/// error says what a device cannot do.
Result<Program> compile(const plan::Scan& scan, std::optional<std::uint32_t> aggregated,
                        bool consumed = false);

/// Compiles the scan of a negation that is tested on the candidates of `state`, with their choice.
/// What depends on the candidate is left to the device, which reads it from the fields of `chosen`,
/// the state's program; they are added there. An error says what a device cannot do.
Result<Program> compile_inside(const plan::Scan& scan, const Span& span, std::uint32_t state,
                               Program& chosen);

}  // namespace gorgo::engine
