#pragma once

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

#include "gorgo/schema.hpp"
#include "history/column.hpp"
#include "history/event_store.hpp"
#include "history/predicate_index.hpp"

namespace gorgo::history {

/// What is remembered: a store per event type that some rule reads, and the shared columns over
/// them. One thread changes it while nobody reads; several threads may call `append` and `settle`,
/// each for other types.
class History {
 public:
  /// `threads`: how many share what is to be done.
  explicit History(unsigned threads = 1) : threads_(threads) {}

  /// Keeps events of this type for `reach` behind the clock, whether or not it keeps them already.
  void keep(const EventType& type, Duration reach);
  /// Has columns of a type that it does not keep, so that rules can be made which are to read it
  /// once `keep` was called. `give_up` ends it, when whoever used a column has let go of it.
  void expect(const EventType& type);
  void give_up(TypeId expected);
  /// Keeps no event of the type and forgets those it has. Whoever used a column of it must have let
  /// go of it. Precondition: `keeps(type)`.
  void forget(TypeId type);
  /// Says that somebody has let go of columns of the type. Those that nobody holds go with the next
  /// of these calls that finds them to be many, so that a call costs little however many columns
  /// there are. Precondition: `keeps(type)`.
  void release_columns(TypeId type);

  /// Keeps events of the type, beginning as another store did, see EventStore. Nobody may read them
  /// before `keep` was called. Precondition: not `keeps(type)`.
  void restore(const EventType& type, const EventStore::Marks& marks);
  void restore_late(TypeId type, std::uint64_t late, Timestamp latest) {
    types_[type].store->restore_late(late, latest);
  }

  /// Has all events that are there now stay, until `let_go` of their type.
  void hold();
  void let_go(TypeId type) { types_[type].is_held = false; }

  /// How far behind the clock events of the type are kept; 0 for a type that is not.
  Duration reach(TypeId type) const { return keeps(type) ? types_[type].reach : 0; }
  bool keeps(TypeId type) const {
    return type < types_.size() && types_[type].store != nullptr && !types_[type].is_expected;
  }
  /// In any order.
  std::span<const TypeId> kept_types() const { return kept_types_; }
  /// Precondition: `keeps(type)`. The store stays where it is while the type is kept.
  const EventStore& store(TypeId type) const { return *types_[type].store; }

  /// The column of this spec, shared with whoever holds it already. It is kept up to date as long
  /// as somebody holds it. Precondition: the type is kept or expected.
  std::shared_ptr<Column> column(const plan::ColumnSpec& spec);
  /// Calls `prepare`, which asks columns for ways to search them, and then fills the indexes that
  /// it asked for, each once.
  template <class F>
  void together(F prepare);
  /// Calls `prepare` as `together` does, but leaves what nobody searches yet to `fill`: until that
  /// is over, nobody may search what `prepare` asked for.
  template <class F>
  void ahead(F prepare);
  /// Goes on with that, beside events that come meanwhile. Returns whether all is filled; else the
  /// time is over. Where memory fails, what was being filled is abandoned: whoever asked for it
  /// must let go of it. Precondition: everything is settled.
  bool fill(std::chrono::steady_clock::time_point until);
  /// Leaves unfilled what is not filled yet. Nobody holds it any more.
  void stop_filling();
  /// Every `ColumnId` is below.
  ColumnId column_ids() const { return next_column_; }

  /// Stores events, which searches find after `settle`, and returns the slot of the first. Events
  /// of a type come in place order, whatever their timestamps. Precondition: `keeps(type)`.
  Slot append(TypeId type, std::span<const NewEvent> events);
  /// Stores events whose values stand in columns, as `EventStore::append` does.
  Slot append(TypeId type, std::span<const NewEvent> events, std::span<const EventColumn> columns,
              std::uint32_t first) {
    return types_[type].store->append(events, columns, first);
  }
  Slot append(TypeId type, Timestamp timestamp, std::uint64_t root, std::span<const Datum> cells) {
    const NewEvent event{timestamp, root, cells.data()};
    return append(type, {&event, 1});
  }

  /// A column and an event that it accepts.
  struct Match {
    Column* column;
    Slot slot;
  };
  /// Brings the columns of a type up to date. Returns the columns that the events stored since the
  /// last time belong to, in the order in which they were stored; valid until the next time. With
  /// several threads some of the work is left to `chores` of the type: they are to be done, in any
  /// order and by any threads, before anything else is asked of its columns.
  /// `at_once`: so many threads settle types at the same time.
  std::span<const Match> settle(TypeId type, unsigned at_once = 1);
  std::span<const Chore> chores(TypeId type) const { return types_[type].chores; }
  /// Brings all types up to date.
  void settle() {
    for (const TypeId type : kept_types_) {
      settle(type);
      for (const Chore& chore : chores(type)) chore();
    }
  }
  /// See EventStore.
  void mark_too_deep(TypeId type, Slot slot) { types_[type].store->mark_too_deep(slot); }

  /// Lets go of columns, and of ways to search them, that nobody holds.
  void trim();
  /// Drops what is further behind `clock` than the reach of its type.
  void evict(Timestamp clock);

  /// Whether it is worth while to let go of rows of a table that were replaced: the type has twice
  /// as many as stayed the last time, and some more. False while the type is held.
  bool is_untidy(TypeId type) const;
  /// Where rows are now.
  using Moved = std::map<Slot, Slot>;
  /// Lets go of rows of a table that one of their key replaced before `horizon`; the others move to
  /// new slots, in their order. `key`: attributes. Precondition: nobody holds columns of the type.
  Moved tidy(TypeId type, std::span<const std::uint32_t> key, Timestamp horizon);
  /// So many rows more are not worth tidying.
  void set_few_rows(std::size_t rows) { few_rows_ = rows; }

  /// Memory of a type's store and columns, in bytes as allocated; 0 for a type that is not kept.
  std::size_t bytes(TypeId type) const;

 private:
  struct Kept {
    std::unique_ptr<EventStore> store;
    bool is_expected = false;
    Duration reach = 0;
    bool is_held = false;
    std::unique_ptr<BlockPool> pool = std::make_unique<BlockPool>();  // outlives the columns
    Slot matched = 0;                // the first event whose columns are not found yet
    std::vector<Match> matches;      // of the last `settle`
    std::vector<Column*> unsettled;  // scratch of `settle`
    std::vector<Chore> chores;       // that `settle` left
    boost::unordered_flat_map<std::string_view, std::shared_ptr<Column>> columns;  // by Column::key
    std::unique_ptr<PredicateIndex> matcher;  // over the columns
    std::vector<Column*> searched;            // those that hold events
    std::size_t next_searched = 0;
    bool searched_changed = true;
    std::uint32_t idle = 0;     // calls of `evict` in a row that dropped no event
    std::size_t released = 0;   // calls of `release_columns` since it was trimmed
    std::size_t place = 0;      // in `kept_types_`
    std::size_t tidy_rows = 0;  // that stayed when a table was tidied
    std::vector<std::shared_ptr<Column>> filling;  // see `fill`
    Slot filled_to = 0;                            // the next event that they are to see
  };

  /// Finds the columns that accept some events, and has them take these in.
  static void match_all(Kept& kept, Column& column);
  static void match(Kept& kept, Slot first, Slot last);
  static void settle_columns(Kept& kept, unsigned at_once);
  void trim(Kept& kept);
  std::shared_ptr<Column> add_column(Kept& kept, const plan::ColumnSpec& spec);
  template <class F>
  void defer(Column::Filling filling, F prepare);
  void build_deferred();
  static void fill_some(Kept& kept);
  static void abandon_filling(Kept& kept);
  static bool end_filling(Kept& kept, std::chrono::steady_clock::time_point until);
  void sweep(Kept& kept, std::size_t dropped);

  const unsigned threads_;
  std::size_t few_rows_ = 1024;
  std::vector<Kept> types_;         // by TypeId
  std::vector<TypeId> kept_types_;  // in any order
  ColumnId next_column_ = 0;
  std::vector<ColumnId> free_columns_;
  Column::Filling filling_ = Column::Filling::at_once;
  std::vector<std::pair<TypeId, std::shared_ptr<Column>>> deferred_;  // see `together` and `ahead`
  std::vector<TypeId> filling_types_;                                 // with columns to be filled
};

template <class F>
void History::together(F prepare) {
  defer(Column::Filling::together, std::move(prepare));
}

template <class F>
void History::ahead(F prepare) {
  defer(Column::Filling::ahead, std::move(prepare));
}

template <class F>
void History::defer(Column::Filling filling, F prepare) {
  filling_ = filling;
  try {
    prepare();
  } catch (...) {
    build_deferred();
    throw;
  }
  build_deferred();
}

}  // namespace gorgo::history
