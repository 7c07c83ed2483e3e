#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <vector>

#include "engine/cuda/mirrored_field.hpp"

namespace gorgo::engine {

/// Strings of an attribute as their codes. A string has its code, and is in the dictionary, from
/// the first time that it goes to the device until it leaves the mirror.
class MirroredCodes final : public MirroredField, private WordSource {
 public:
  MirroredCodes(const MirrorContext& mirror, const Field& field);
  ~MirroredCodes() override;

  void extend() override;
  void drop_before(std::uint64_t position) override;
  void drop_from(std::uint64_t position) override;

 private:
  std::span<const std::uint64_t> words(std::uint64_t first, std::uint64_t last,
                                       std::vector<std::uint64_t>& scratch) override;
  std::uint64_t code(std::uint64_t position);
  void release(std::uint64_t code);

  std::deque<std::uint64_t> codes_;  // by position; 0: none yet
};

}  // namespace gorgo::engine
