#include "engine/cuda/operand_writer.hpp"

#include <algorithm>
#include <bit>

#include "engine/cuda/interval.hpp"
#include "engine/cuda/mirrored_marks.hpp"
#include "engine/cuda/text_words.hpp"

namespace gorgo::engine {

std::optional<OperandWriter::Operands> OperandWriter::add(const Program& program,
                                                          const history::Scope& scope) {
  const Operands at{static_cast<std::uint32_t>(round_.bounds.size()),
                    static_cast<std::uint32_t>(round_.cells.size())};
  if (add_bounds(program, scope) && add_cells(program, scope)) return at;
  round_.bounds.resize(at.bounds);
  round_.cells.resize(at.cells);
  return std::nullopt;
}

/// Returns false when nothing can be found.
bool OperandWriter::add_bounds(const Program& program, const history::Scope& scope) {
  for (const Program::Test& test : program.tests) {
    if (test.comparisons.empty()) {
      round_.bounds.push_back({.low = scope.states[0].slot, .high = MirroredMarks::kUnmarked});
      continue;
    }
    const bool floats = test.on_device.floats;
    gpu::Bounds bounds = everything(floats);
    for (const plan::Comparison* comparison : test.comparisons) {
      const Datum value = history::evaluate(comparison->operand, scope);
      if (!value.exists()) return false;
      bounds = intersection(floats, bounds, bounds_of(test.on_device, *comparison, value));
    }
    if (!test.on_device.negated && is_empty(floats, bounds)) return false;
    round_.bounds.push_back(bounds);
  }
  return true;
}

gpu::Bounds OperandWriter::bounds_of(const gpu::Test& test, const plan::Comparison& comparison,
                                     const Datum& value) const {
  const Op op = test.negated ? Op::equal : comparison.op;
  if (test.floats) return interval_of_floats(op, value);
  if (value.tag != Datum::Tag::string) return interval_of_integers(op, value);
  const auto code = static_cast<std::int64_t>(codes_.find(value.text()));
  return interval_of_integers(op, Datum::of(code));
}

/// Returns false when nothing can be found.
bool OperandWriter::add_cells(const Program& program, const history::Scope& scope) {
  for (const Program::Parameter& parameter : program.parameters) {
    const Datum value = history::evaluate(*parameter.expr, scope);
    if (parameter.required && !value.exists()) return false;
    const bool is_text = parameter.is_text && value.exists();
    round_.cells.push_back(is_text ? text_cell_of(value.text()) : cell_of(value));
  }
  return true;
}

gpu::Cell OperandWriter::cell_of(const Datum& value) const {
  switch (value.tag) {
    case Datum::Tag::none:
      return {};
    case Datum::Tag::integer:
      return {static_cast<std::uint64_t>(value.integer), 1};
    case Datum::Tag::floating:
      return {std::bit_cast<std::uint64_t>(value.floating), 1};
    case Datum::Tag::boolean:
      return {value.boolean ? std::uint64_t{1} : 0, 1};
    case Datum::Tag::string:
      return {codes_.find(value.text()), 1};
  }
  return {};
}

/// Searches mostly share their strings, which stay as long as the round.
gpu::Cell OperandWriter::text_cell_of(std::string_view text) {
  const auto [known, is_new] = texts_.try_emplace(text, round_.texts.size());
  if (is_new) {
    round_.texts.push_back(word_of_text(text, 0));
    round_.texts.push_back(text.size());
    for (std::size_t i = 1; 8 * i < text.size(); ++i) {
      round_.texts.push_back(word_of_text(text, i));
    }
  }
  return {round_.texts[known->second], 1 + known->second};
}

bool OperandWriter::all_exist_from(const Operands& operands) const {
  return std::all_of(round_.cells.begin() + operands.cells, round_.cells.end(),
                     [](const gpu::Cell& cell) { return cell.exists != 0; });
}

}  // namespace gorgo::engine
