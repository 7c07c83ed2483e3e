#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/cuda/mirrored_field.hpp"

namespace gorgo::engine {

/// Ints, floats or bools of an attribute, as the timeline has them.
class MirroredValues final : public MirroredField, private WordSource {
 public:
  MirroredValues(const MirrorContext& mirror, const Field& field) : MirroredField(mirror, field) {
    add_vector(*this);
  }

 private:
  std::span<const std::uint64_t> words(std::uint64_t first, std::uint64_t last,
                                       std::vector<std::uint64_t>& scratch) override;
};

/// The times of events.
class MirroredTimestamps final : public MirroredField, private WordSource {
 public:
  explicit MirroredTimestamps(const MirrorContext& mirror)
      : MirroredField(mirror, {.kind = Field::Kind::timestamp}) {
    add_vector(*this);
  }

 private:
  std::span<const std::uint64_t> words(std::uint64_t first, std::uint64_t last,
                                       std::vector<std::uint64_t>& scratch) override;
};

/// The roots of events.
class MirroredRoots final : public MirroredField, private WordSource {
 public:
  explicit MirroredRoots(const MirrorContext& mirror)
      : MirroredField(mirror, {.kind = Field::Kind::root}) {
    add_vector(*this);
  }

 private:
  std::span<const std::uint64_t> words(std::uint64_t first, std::uint64_t last,
                                       std::vector<std::uint64_t>& scratch) override;
};

}  // namespace gorgo::engine
