#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/container/flat_map.hpp>
#include <boost/container/small_vector.hpp>

#include "history/hash_index.hpp"
#include "history/range_index.hpp"
#include "history/timeline.hpp"
#include "history/upkeep.hpp"
#include "plan/plan.hpp"

namespace gorgo::history {

/// Number of a column within its history; reused when the column is gone.
using ColumnId = std::uint32_t;

/// Work that a thread can do beside others.
using Chore = std::function<void()>;

/// A shared column: the events of one type that satisfy constant conditions, and the ways to search
/// them that its plans use. Thread-safety: as its store.
class Column {
 public:
  /// Store and pool must outlive the column. `threads`: how many may share the work of `settle`.
  Column(ColumnId id, const plan::ColumnSpec& spec, const EventStore& store, BlockPool& pool,
         unsigned threads = 1)
      : id_(id),
        threads_(threads),
        store_(store),
        pool_(pool),
        conditions_(spec.conditions),
        key_(spec.key) {}

  ColumnId id() const { return id_; }
  /// ColumnSpec::key of the specs that share it.
  std::string_view key() const { return key_; }
  const EventStore& store() const { return store_; }
  std::span<const Expr> conditions() const { return {conditions_.data(), conditions_.size()}; }
  bool accepts(Slot slot) const;

  /// The events in time, with these attributes to scan.
  std::shared_ptr<const Timeline> timeline(std::span<const std::uint32_t> attributes);
  /// The events by the values of the subjects of a key. It has running sums of the attribute
  /// `summed`, and values and summaries of the attribute `valued`, where they are given.
  /// Precondition: `summed` is an int and `valued` a number, and no event of the type lacks them.
  std::shared_ptr<const HashIndex> index(std::vector<Expr> subjects,
                                         std::optional<std::uint32_t> summed,
                                         std::optional<std::uint32_t> valued);

  /// The events by the value of a number attribute.
  std::shared_ptr<const RangeIndex> range_index(std::uint32_t attribute);

  /// When new ways to search are filled.
  enum class Filling {
    at_once,
    /// By `build`, so that each is filled once however many rules ask for it or for more of it.
    /// Nothing may be searched or settled meanwhile.
    together,
    /// By `fill`, while events come. `build` fills only what somebody searches already and what has
    /// to begin anew because it is asked for more.
    ahead,
  };
  /// From here to `build` another moment than `at_once`. False: it was called already.
  bool defer(Filling filling) { return std::exchange(filling_, filling) == Filling::at_once; }
  void build();

  /// Whether a way to search is to be filled by `fill`. Whoever asks for it meanwhile, but for
  /// `ahead`, finds it filled.
  bool is_filling() const;
  /// The first event that such a way has not seen.
  Slot filled_to() const;
  /// Takes note of a stored event that the column accepts, for `fill`. Returns whether it is the
  /// first one since. Events come in the order of their slots.
  bool note(Slot slot) {
    noted_.push_back(slot);
    return noted_.size() == 1;
  }
  /// Has what is to be filled take in what was noted.
  void fill();
  /// Lets go of what is half filled, for which memory has failed. Whoever asked for it must not use
  /// it.
  void abandon_filling();
  /// All events that are stored were noted, as far as the column accepts them: from now on `settle`
  /// keeps everything up to date.
  void end_filling();

  /// Takes note of a stored event that the column accepts; searches find it after `settle`. Returns
  /// whether it is the first since the last `settle`.
  bool take(Slot slot) {
    fresh_.push_back(slot);
    return fresh_.size() == 1;
  }
  /// Takes note of such events, from `first` to before `last`.
  bool take(Slot first, Slot last) {
    const bool is_first = fresh_.empty();
    for (; first < last; ++first) fresh_.push_back(first);
    return is_first;
  }
  /// Has searches find the events that were taken. With several threads it leaves large work to
  /// `chores`, which are to be done, in any order and by any threads, before anything else is asked
  /// of the column. `at_once`: so many threads settle columns at the same time, each its own.
  void settle(std::vector<Chore>& chores, unsigned at_once = 1);
  /// Fetches what `settle` and searches near the end touch first; a hint.
  void prefetch() const {
    if (timeline_) timeline_->prefetch();
  }
  /// Whether there is anything to search.
  bool is_searched() const { return timeline_ || !indexes_.empty() || !range_indexes_.empty(); }
  /// Forgets by and by what the store has dropped: `share` says how many events to make up for.
  void drop_gone(std::size_t share);
  /// Lets go of the timeline when nobody else holds it.
  void trim();

  std::size_t bytes() const;

 private:
  /// An index that nobody holds rests: it takes nothing in. When it is asked for again it makes up
  /// for that, unless so much has come meanwhile that making a new one is as good.
  template <class Index>
  struct Kept {
    std::shared_ptr<Index> index;
    Slot next = 0;            ///< the first that it has not seen
    bool is_asked = false;    ///< since `defer`
    bool is_filling = false;  ///< by `fill`: it takes in nothing else

    bool rests() const { return index.use_count() == 1; }
  };

  /// Events that the column accepts.
  struct Accepted {
    std::optional<Slot> from;
    std::vector<Slot> slots;
  };
  const std::vector<Slot>& accepted(Slot from, Accepted& known) const;
  /// Has an index take in what it has not seen, or leaves that to `build` or `fill`.
  /// `in_use`: somebody searches it already.
  template <class Index>
  void ask(Kept<Index>& kept, bool in_use);
  template <class Index>
  void catch_up(Kept<Index>& kept, Accepted& known);
  template <class Indexes>
  void build(Indexes& indexes, Accepted& known);
  void catch_up_timeline();
  template <class F>
  void for_each_filling(F f);
  template <class Indexes>
  void keep_up(Indexes& indexes);
  /// Has an index or the timeline take in what is settling, and adds the time to its upkeep.
  template <class Search>
  void take_in(const std::shared_ptr<Search>& search);
  void take_in(Timeline& timeline, double weight);
  void take_in(HashIndex& index, double weight);
  void take_in(RangeIndex& index, double weight);
  /// Leaves `work(part, parts)` to chores for each of at most so many parts.
  template <class F>
  void share(std::size_t most, Upkeep& upkeep, double weight, F work);

  /// With many rules most columns take in one event at a time, which then needs no other memory.
  using Slots = boost::container::small_vector<Slot, 2>;

  // What taking in an event touches stands together in front.
  ColumnId id_;
  Filling filling_ = Filling::at_once;
  bool is_timeline_filling_ = false;
  const unsigned threads_;
  Sampler settled_, dropped_;
  Slots fresh_;
  Slots settling_;  // what the timeline and the indexes are taking in
  std::shared_ptr<Timeline> timeline_;
  boost::container::flat_map<std::string, Kept<HashIndex>> indexes_;           // by subjects
  boost::container::flat_map<std::uint32_t, Kept<RangeIndex>> range_indexes_;  // by attribute
  const EventStore& store_;
  std::vector<Chore>* chores_ = nullptr;  // of `settle`; null: nothing is left to others
  double weight_ = 0;                     // of the time that settling takes; see Sampler

  BlockPool& pool_;
  SharedList<Expr> conditions_;  // shared with the plans that made the column
  SharedText key_;
  Slot timeline_next_ = 0;   // as Kept::next, while the timeline is filled
  std::vector<Slot> noted_;  // since `fill`
};

}  // namespace gorgo::history
