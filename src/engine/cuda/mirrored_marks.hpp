#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <limits>
#include <span>
#include <vector>

#include "engine/cuda/mirrored_field.hpp"

namespace gorgo::engine {

/// Marks of events, which say what their owner, a ConsumedMarks, tells them.
class MirroredMarks final : public MirroredField, private WordSource {
 public:
  /// The mark of an event of which nothing is said.
  static constexpr std::uint64_t kUnmarked = std::numeric_limits<std::int64_t>::max();

  explicit MirroredMarks(const MirrorContext& mirror);

  /// The position from which on the marks say nothing: events there are new, or others than before.
  std::uint64_t fresh_from() const { return std::max(mirror().positions.first(), fresh_from_); }

  // Precondition of the next two: the mirror is in step with the timeline, in this round.

  void mark(std::uint64_t position, std::uint64_t word);
  /// Uploads the marks that changed, where their pages are. Throws DeviceError.
  void upload();

  void extend() override;
  void drop_before(std::uint64_t position) override;
  void drop_from(std::uint64_t position) override;

 private:
  std::span<const std::uint64_t> words(std::uint64_t first, std::uint64_t last,
                                       std::vector<std::uint64_t>& scratch) override;
  bool is_constant() const override { return false; }

  std::deque<std::uint64_t> marks_;     // by position
  std::uint64_t fresh_from_ = 0;        // from here on they say nothing
  std::vector<std::uint64_t> changed_;  // positions
};

}  // namespace gorgo::engine
