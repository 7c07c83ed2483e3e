#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "gorgo/event.hpp"
#include "gorgo/event_batch.hpp"
#include "gorgo/schema.hpp"
#include "gorgo/value.hpp"

namespace gorgo {

/// What events carry beside the attributes of their type: a cell for each of the names. A name may
/// stand more than once; an event then has a value in at most one of its cells.
struct Extras {
  std::string type;  ///< the name of the events' type, which need not be known
  std::vector<std::string> names;
};

/// Events in place order, primitive and composite, as `Processor::process` hands them out.
/// Valid only during the call that receives it.
class OutputBatch {
 public:
  static constexpr std::uint32_t kNoExtras = ~std::uint32_t{0};

  struct Row {
    Place place;
    Timestamp timestamp;
    TypeId type;               ///< kNoType: a type that no rule and no declaration knows
    std::uint32_t first_cell;  ///< the type's attributes in order, then the extra ones
    std::uint32_t extras;  ///< index into `extras`, kNoExtras: none, which is never so with kNoType
    std::uint32_t rule;    ///< index into `rule_names`, kPrimitive for a primitive event
    /// Which event of `columns_of` it is: it has no cells then.
    std::uint32_t event = kInCells;
  };
  static constexpr std::uint32_t kPrimitive = ~std::uint32_t{0};
  static constexpr std::uint32_t kInCells = ~std::uint32_t{0};

  std::vector<Row> rows;
  std::vector<Datum> cells;
  /// By TypeId, for the types of rows that have no cells: one for each attribute of the type, of
  /// which each event has a value, then one for each extra name.
  std::vector<std::span<const EventColumn>> columns;
  /// By index into `extras`, for rows of a type kNoType that have no cells: one for each extra
  /// name.
  std::vector<std::span<const EventColumn>> unknown_columns;
  std::span<const std::shared_ptr<const Extras>> extras;
  std::span<const std::string> rule_names;
  /// What the rules execute, as `webhook("ops")`; by the same index.
  std::span<const std::vector<std::string>> rule_actions;
  const Schema* schema = nullptr;

  std::string_view type_name(const Row& row) const;
  /// Whether the event is only for those who ask for its type by name.
  bool is_internal(const Row& row) const {
    return row.type != kNoType && schema->at(row.type).internal();
  }
  /// What the rule of a composite executes.
  std::span<const std::string> actions(const Row& row) const {
    if (row.rule >= rule_actions.size()) return {};
    return rule_actions[row.rule];
  }
  /// The columns that a row without cells stands in.
  std::span<const EventColumn> columns_of(const Row& row) const {
    return row.type == kNoType ? unknown_columns[row.extras] : columns[row.type];
  }
  /// A value by its number: the type's attributes come first, then the extra ones.
  Datum value(const Row& row, std::size_t number) const {
    if (row.event == kInCells) return cells[row.first_cell + number];
    return columns_of(row)[number].at(row.event);
  }
  /// Calls `f(name)` for every value that the row may have, in their order.
  template <class F>
  void for_each_name(const Row& row, F&& f) const;
  /// The value of an attribute; `Datum::none()` where the event does not have it.
  Datum attribute(const Row& row, std::string_view name) const;
  /// Calls `f(name, datum)` for every attribute that has a value, in order.
  template <class F>
  void for_each_attribute(const Row& row, F&& f) const;
  /// Calls `f(name, datum)` for every cell, also those without a value.
  template <class F>
  void for_each_cell(const Row& row, F&& f) const;
  Event to_event(const Row& row) const;
};

template <class F>
void OutputBatch::for_each_attribute(const Row& row, F&& f) const {
  for_each_cell(row, [&](std::string_view name, const Datum& value) {
    if (value.exists()) f(name, value);
  });
}

template <class F>
void OutputBatch::for_each_name(const Row& row, F&& f) const {
  if (row.type != kNoType) {
    for (const auto& attribute : schema->at(row.type).attributes) {
      f(std::string_view(attribute.name));
    }
  }
  if (row.extras == kNoExtras) return;
  for (const std::string& name : extras[row.extras]->names) f(std::string_view(name));
}

template <class F>
void OutputBatch::for_each_cell(const Row& row, F&& f) const {
  std::size_t number = 0;
  for_each_name(row, [&](std::string_view name) { f(name, value(row, number++)); });
}

}  // namespace gorgo
