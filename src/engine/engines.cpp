#include <algorithm>
#include <array>

#include "engine/automaton/automaton.hpp"
#include "engine/column/column.hpp"
#include "engine/engine.hpp"
#include "engine/reference/reference.hpp"

namespace gorgo::engine {

std::span<const Engine* const> engines() {
  static const ColumnEngine column;
  static const ColumnScanEngine column_scan;
  static const AutomatonEngine automaton;
  static const ReferenceEngine reference;
  static const std::array<const Engine*, 4> all = {&column, &column_scan, &automaton, &reference};
  return all;
}

const Engine* find_engine(std::string_view name) {
  const auto all = engines();
  const auto it = std::find_if(all.begin(), all.end(),
                               [&](const Engine* engine) { return engine->name() == name; });
  return it == all.end() ? nullptr : *it;
}

}  // namespace gorgo::engine
