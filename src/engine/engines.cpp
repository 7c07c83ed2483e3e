#include <algorithm>
#include <array>

#include "engine/automaton/automaton.hpp"
#include "engine/column/column.hpp"
#include "engine/cuda/cuda.hpp"
#include "engine/engine.hpp"
#include "engine/reference/reference.hpp"

namespace gorgo::engine {

std::span<const Engine* const> engines() {
  static const ColumnEngine column;
  static const ColumnScanEngine column_scan;
  static const AutomatonEngine automaton;
  static const ReferenceEngine reference;
  static const std::array<const Engine*, 6> all = {&column,        &column_scan,        &automaton,
                                                   &cuda_engine(), &cuda_host_engine(), &reference};
  return all;
}

const Engine* find_engine(std::string_view name) {
  const auto all = engines();
  const auto it = std::find_if(all.begin(), all.end(),
                               [&](const Engine* engine) { return engine->name() == name; });
  return it == all.end() ? nullptr : *it;
}

}  // namespace gorgo::engine
