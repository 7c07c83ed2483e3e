#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <unordered_map>

#include "cuda/device.hpp"
#include "engine/cuda/program.hpp"
#include "engine/cuda/string_codes.hpp"
#include "history/evaluate.hpp"

namespace gorgo::engine {

/// Computes what the searches of a round compare with: for each test of a program its bounds, and
/// for each parameter its cell.
class OperandWriter {
 public:
  /// Where the bounds and the cells of a search begin.
  struct Operands {
    std::uint32_t bounds, cells;
  };

  /// Both must outlive this.
  OperandWriter(const StringCodes& codes, gpu::Round& round) : codes_(codes), round_(round) {}

  /// Call it for each round.
  void begin() { texts_.clear(); }
  /// Adds the operands of a search for a (partial) sequence. Returns nothing when the search would
  /// find nothing. Strings that are there must have their codes.
  std::optional<Operands> add(const Program& program, const history::Scope& scope);
  /// Whether all cells that were added from these operands on have values.
  bool all_exist_from(const Operands& operands) const;

 private:
  bool add_bounds(const Program& program, const history::Scope& scope);
  bool add_cells(const Program& program, const history::Scope& scope);
  gpu::Bounds bounds_of(const gpu::Test& test, const plan::Comparison& comparison,
                        const Datum& value) const;
  gpu::Cell cell_of(const Datum& value) const;
  gpu::Cell text_cell_of(std::string_view text);

  const StringCodes& codes_;
  gpu::Round& round_;
  std::unordered_map<std::string_view, std::uint64_t> texts_;  // where the round has them
};

}  // namespace gorgo::engine
