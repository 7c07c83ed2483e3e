#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "dispatch/rules/type_reads.hpp"
#include "gorgo/schema.hpp"
#include "history/history.hpp"

namespace gorgo::dispatch {

/// What the rules in force read of each type, and so which types the history keeps and how long:
/// those that rules read, as far as these look back, and the rows of tables. Used by one thread.
class KeptTypes {
 public:
  /// `max_late`: how far behind the clock terminators may be, in nanoseconds.
  explicit KeptTypes(Duration max_late) : max_late_(max_late) {}

  /// Whether the history keeps events of the type.
  bool has(TypeId type) const {
    return type < read_.size() && (!read_[type].reaches.empty() || read_[type].is_table);
  }
  /// Whether some rule reads the attribute.
  bool reads(TypeId type, std::uint32_t attribute) const {
    if (type >= read_.size() || attribute >= read_[type].attributes.size()) return false;
    return read_[type].attributes[attribute] > 0;
  }
  /// The types that rules read, by name; not that of timers.
  const std::map<std::string, TypeId, std::less<>>& by_name() const { return by_name_; }
  /// The types of the rows of tables.
  std::span<const TypeId> tables() const { return tables_; }
  /// The joint types that the history keeps and that take in events of this type, ascending.
  std::span<const TypeId> joints_of(TypeId type) const {
    if (type >= read_.size()) return {};
    return read_[type].joints;
  }
  /// How long events of the type may still be read behind the clock. Precondition: it was added.
  Duration reach_of(TypeId type) const;

  /// Rules come that read so much of the type, or go. Precondition of the latter: it was added.
  void add(TypeId type, const TypeReads& more);
  void subtract(TypeId type, const TypeReads& less) { read_[type].subtract(less); }
  /// Has the history keep the rows of tables that were declared since the last time. Returns the
  /// types of their rows.
  std::vector<TypeId> keep_tables(const Schema& schema, history::History& history);
  /// Has the history keep those of these types that rules read.
  void keep(const std::set<TypeId>& types, const Schema& schema, history::History& history);
  /// Has the history forget those of these types that no rule reads any more.
  void forget(const std::set<TypeId>& types, history::History& history);

 private:
  struct Read : TypeReads {
    std::string name;             ///< its key in `by_name_`
    bool is_table = false;        ///< the rows of one; they stay without rules
    std::vector<TypeId> joints;   ///< see `joints_of`
    std::vector<TypeId> members;  ///< of a joint type that the history keeps
  };

  Duration max_late_;
  std::vector<Read> read_;  // by TypeId
  std::map<std::string, TypeId, std::less<>> by_name_;
  std::vector<TypeId> tables_;
  TypeId tables_known_ = 0;  // every type below was looked at

  Read& at(TypeId type);
  /// Enters the type by its name, unless it is there.
  void name(Read& read, const EventType& type);
  void join(const EventType& joint);
  void unjoin(TypeId joint);
};

}  // namespace gorgo::dispatch
