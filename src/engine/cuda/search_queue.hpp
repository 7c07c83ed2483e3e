#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "cuda/device.hpp"
#include "engine/cuda/device_scan.hpp"
#include "engine/cuda/round_writer.hpp"
#include "history/event_store.hpp"
#include "history/range.hpp"

namespace gorgo::engine {

class SearchOwner;

/// A search on its way through rounds.
struct QueuedSearch {
  static constexpr std::uint64_t kUncounted = ~std::uint64_t{0};

  SearchOwner* owner;
  DeviceScan* scan;
  history::Range range;  ///< of the scan's timeline
  gpu::Want want;
  std::uint32_t limit;    ///< as for RoundWriter::add
  std::uint32_t subject;  ///< says to the owner what it is about
  /// Its first negation, as the owner numbers them; unset where it tests none.
  std::optional<std::uint32_t> negations = std::nullopt;
  std::uint64_t count =
      kUncounted;  ///< what a search for every position finds, where that is known
  std::optional<AnswerAt> answer = std::nullopt;
};

/// Asks for searches and takes what they find.
class SearchOwner {
 public:
  virtual ~SearchOwner() = default;

  /// What the search's conditions read. Valid until the next call.
  virtual std::span<const history::EventRef> sequence_of(const QueuedSearch& search) = 0;
  /// The negations that it tests.
  virtual std::span<const InsideNegation> negations_of(const QueuedSearch& /*search*/) const {
    return {};
  }
  /// Whether nobody waits for the answer.
  virtual bool is_moot(const QueuedSearch& /*search*/) const { return false; }

  /// The positions that were found, as offsets in the range.
  virtual void take_offsets(const QueuedSearch& /*search*/,
                            std::span<const std::uint32_t> /*offsets*/) {}
  virtual void take_reduction(const QueuedSearch& /*search*/, const gpu::Reduction& /*all*/) {}
  virtual void take_sum(const QueuedSearch& /*search*/, const gpu::FloatSum& /*sum*/) {}
  /// Nothing was found, or the search is moot.
  virtual void take_nothing(const QueuedSearch& /*search*/) {}
  /// `count` is known; the search is asked again.
  virtual void take_count(const QueuedSearch& /*search*/) {}
};

/// Searches that do not depend on each other. They go through one round, or a few where they are
/// many or find much.
class SearchQueue {
 public:
  /// The highest limit of a search for the oldest or the newest positions.
  static constexpr std::size_t kMostSelected = 64;

  /// `in_order`: as for RoundWriter::add, for all searches.
  explicit SearchQueue(bool in_order) : in_order_(in_order) {}

  void add(const QueuedSearch& search) { searches_.push_back(search); }
  /// Whether all are answered.
  bool is_done() const { return next_ == searches_.size(); }
  void clear() {
    searches_.clear();
    next_ = 0;
  }

  /// Adds searches to a round. Returns false when none of them had to be asked; then they are
  /// answered. Throws DeviceError.
  bool ask(RoundWriter& writer);
  /// Takes the answers to what was asked.
  void take(const gpu::Answers& answers);

 private:
  std::span<QueuedSearch> asked() { return std::span(searches_).subspan(next_, asked_); }
  bool is_known(const QueuedSearch& search) const;
  bool count_lists(const gpu::Answers& answers);
  void take(const QueuedSearch& search, const gpu::Answers& answers) const;
  static void take_known(const QueuedSearch& search);

  const bool in_order_;
  std::vector<QueuedSearch> searches_;
  std::size_t next_ = 0;   // the first that is not answered
  std::size_t asked_ = 0;  // so many from there on are in the round
};

}  // namespace gorgo::engine
