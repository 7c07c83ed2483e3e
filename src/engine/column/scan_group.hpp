#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "engine/column/block_condition.hpp"
#include "engine/column/search.hpp"
#include "history/timeline.hpp"

namespace gorgo::engine {

/// Searches of one predicate for terminators that follow each other. Their windows nearly overlap,
/// so each block of events is fetched once and tested for all of them.
class ScanGroup {
 public:
  /// Forgets the searches before. They must stay until the next announcement.
  void announce(std::span<const Search> searches);

  /// The member with this terminator, if it was announced. Precondition: searches come in the order
  /// in which they were announced.
  std::optional<std::size_t> find(const Search& search);
  bool is_scanned(std::size_t member) const { return member < scanned_; }
  /// Tests the conditions for this member and those behind it, as far as there is room. Returns
  /// false, and has done nothing, where the member would be alone. Precondition: the attributes
  /// that the conditions read are materialised.
  bool scan(std::size_t member, const history::Timeline& timeline,
            std::span<BlockCondition> conditions);
  /// Whether any event of its window may pass. Precondition: scanned.
  bool is_possible(std::size_t member) const { return members_[member - first_].possible; }
  /// Bit i: the event at `first + i` passes, for i < count <= kBlock. Precondition: scanned and
  /// possible, and these events are in its window.
  BlockMask mask(std::size_t member, std::uint64_t first, std::uint64_t count) const;

 private:
  struct Member {
    history::Range window;
    std::vector<BlockCondition::Binding> bindings;  // by condition
    bool possible = false;
  };

  history::Range look_at_windows(std::size_t first, const history::Timeline& timeline);
  void bind(Member& member, const Search& search, std::span<const BlockCondition> conditions);
  void test(std::size_t member, std::uint64_t first, std::uint64_t count,
            std::span<BlockCondition> conditions);
  std::uint64_t* words_of(std::size_t member) const {
    return words_.get() + (member - first_) * words_each_;
  }

  std::span<const Search> searches_;
  std::size_t next_ = 0;  // the first one that may still be asked for
  // What was scanned: the searches from `first_` to `scanned_`, a bit for each event from `base_`.
  std::size_t first_ = 0, scanned_ = 0;
  std::vector<Member> members_;  // from `first_` on
  std::uint64_t base_ = 0;
  std::size_t words_each_ = 0;
  std::unique_ptr<std::uint64_t[]> words_;
};

}  // namespace gorgo::engine
