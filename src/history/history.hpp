#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "gorgo/schema.hpp"
#include "history/column.hpp"
#include "history/event_store.hpp"

namespace gorgo::history {

/// What is remembered: a store per event type that some rule reads, and the shared columns over
/// them. Changed by one thread while nobody reads.
class History {
 public:
  /// Keeps exactly these types from now on, each as long as its reach; what other types held is
  /// forgotten. Whoever uses a column of a forgotten type must have let go of it.
  void retain(const Schema& schema, const std::map<TypeId, Duration>& reach);

  /// How far behind the clock events of the type are kept; 0 for a type that is not.
  Duration reach(TypeId type) const { return keeps(type) ? types_[type].reach : 0; }
  bool keeps(TypeId type) const { return type < types_.size() && types_[type].store != nullptr; }
  /// Precondition: `keeps(type)`. The store stays where it is while the type is kept.
  const EventStore& store(TypeId type) const { return *types_[type].store; }

  /// The column of this spec, shared with whoever holds it already. It is kept up to date until
  /// the first `retain` after its last holder let go. Precondition: `keeps(spec.type)`.
  std::shared_ptr<const Column> column(const plan::ColumnSpec& spec);

  /// Precondition: `keeps(type)`. Events come in place order, whatever their timestamps.
  Slot append(TypeId type, Timestamp timestamp, std::uint64_t root, std::span<const Datum> cells);

  /// Drops what is further behind `clock` than the reach of its type.
  void evict(Timestamp clock);

  /// Memory of a type's store and columns, in bytes as allocated; 0 for a type that is not kept.
  std::size_t bytes(TypeId type) const;

 private:
  struct Kept {
    std::unique_ptr<EventStore> store;
    Duration reach = 0;
    std::map<std::string, std::shared_ptr<Column>> columns;  // by ColumnSpec::key
  };

  std::vector<Kept> types_;  // by TypeId
};

}  // namespace gorgo::history
