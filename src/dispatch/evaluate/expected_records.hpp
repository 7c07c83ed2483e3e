#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "dispatch/evaluate/batch.hpp"
#include "dispatch/evaluate/wave.hpp"
#include "dispatch/rules/rule_set.hpp"
#include "history/history.hpp"

namespace gorgo::dispatch {

/// The records of a batch that are to be stored when their types are complete. Owns a list for each
/// type.
///
/// Invariant: only types that the history keeps have records here.
class ExpectedRecords {
 public:
  ExpectedRecords(const RuleSet& rules, const history::History& history, const Wave& wave)
      : rules_(rules), history_(history), wave_(wave) {}

  /// Starts on the wave's batch: its records are to be stored.
  void start();
  /// Adds a record that is to be stored in this type, its own or a joint one, unless nobody needs
  /// it to be.
  void add(TypeId type, std::uint32_t record);
  /// Adds the batch's records from `first` on, each for its type and for its joint types.
  void add_from(std::size_t first);

  /// The types of records of the batch.
  std::span<const TypeId> types() const { return types_; }
  std::size_t size(TypeId type) const { return lists_[type].records.size(); }
  /// Moves the type's records of the wave to `taken`, in place order. Threads may do so at the same
  /// time for different types.
  void take(TypeId type, Records& taken);
  /// Moves all records of the type to `taken`, in place order.
  void take_all(TypeId type, Records& taken);

  /// Replaces the numbers of records by these; kNoRecord takes a record out.
  void renumber(const Records& numbers);

 private:
  struct List {
    Records records;
    bool is_known = false;           ///< the type stands in `types_`, and what follows is known
    bool is_kept = false;            ///< by the history
    std::span<const TypeId> joints;  ///< RuleSet::joints_of
  };

  List& list_of(TypeId type);
  void add_everywhere(List& own, std::uint32_t begin, std::uint32_t end);
  void sort(TypeId type);

  const RuleSet& rules_;
  const history::History& history_;
  const Wave& wave_;
  std::vector<List> lists_;  // by TypeId
  std::vector<TypeId> types_;
};

}  // namespace gorgo::dispatch
