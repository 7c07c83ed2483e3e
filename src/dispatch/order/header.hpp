#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dispatch/evaluate/table_cells.hpp"
#include "dispatch/order/arrivals.hpp"
#include "gorgo/event_batch.hpp"
#include "gorgo/processor.hpp"
#include "gorgo/schema.hpp"

namespace gorgo::dispatch {

/// What the events of one table or file have in common: a type, and a column for each attribute.
/// Several columns may have one name, for an attribute whose type changes from event to event.
/// Names are compared only here; the work is in proportion to their bytes.
class Header {
 public:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  /// Where the values of the columns go.
  struct Resolution {
    TypeId type = kNoType;
    bool exact = false;  ///< the columns are the type's attributes, in their order
    /// By column: the cell of a row that its value goes to. The type's attributes come first, then
    /// the extra ones. kNone: the type has no such attribute and takes no other. Empty when
    /// `exact`.
    std::vector<std::uint32_t> cells;
    /// Whether each cell has a column, every column has a name and goes to a cell, and no more than
    /// two have one name.
    bool complete = false;
    /// By cell: the columns whose values it takes; of one with a further name, `twin` is the column
    /// of another cell. Empty when `exact` and when not `complete`.
    std::vector<CellSource> sources;
    std::uint32_t width = 0;               ///< cells of a row
    std::shared_ptr<const Extras> extras;  ///< null: rows have no other cells than the type's
  };

  /// Copies the names. `arrivals`: where the events are counted, which must outlive it.
  Header(std::string_view type, std::span<const std::string_view> names, Arrivals::Type& arrivals);

  const std::string& type() const { return type_; }
  const std::vector<std::string>& names() const { return names_; }
  /// Counts an accepted event with these cells, one for each column. `known`: its type as rules
  /// know it, or null. Precondition: resolved.
  void count(const EventType* known, const Datum* cells);
  /// Counts accepted events that lack no attribute which rules name.
  void count_complete(std::uint64_t events) { arrivals_.accepted += events; }
  /// Whether the table has columns of just these names, in this order.
  bool has_columns_of(const EventTable& table) const;
  /// The last column before this one that has its name; kNone: there is none.
  std::uint32_t twin(std::size_t column) const { return twins_.empty() ? kNone : twins_[column]; }

  /// Finds the cells by the schema. Looks the names up when the schema has changed since the last
  /// call.
  const Resolution& resolve(const Schema& schema);
  /// What the last `resolve` returned.
  const Resolution& resolved() const { return resolved_; }
  /// Finds the cells as if nobody knew the type.
  const Resolution& unknown();

 private:
  std::string type_;
  Arrivals::Type& arrivals_;
  std::vector<std::string> names_;
  std::vector<std::uint32_t> twins_;  // empty: all names differ
  bool searched_for_twins_ = false;
  std::optional<std::uint64_t> version_;
  Resolution resolved_;
  std::optional<Resolution> unknown_;

  void find_twins();
  Resolution find(const EventType* type);
  void find_sources(std::size_t attributes, Resolution& found) const;
  bool has_sources(Resolution& found) const;
  bool pair_further(std::size_t attributes, Resolution& found) const;
};

}  // namespace gorgo::dispatch
