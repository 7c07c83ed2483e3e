#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace gorgo::engine {

/// Says which words belong into a vector, by position.
class WordSource {
 public:
  virtual ~WordSource() = default;

  /// The words of the positions [first, last), written into `scratch` unless they stand somewhere
  /// one behind the other. Valid until the next call with that `scratch`.
  virtual std::span<const std::uint64_t> words(std::uint64_t first, std::uint64_t last,
                                               std::vector<std::uint64_t>& scratch) = 0;
  /// Whether a search can look at a page. A page at which none can is never on the device.
  virtual bool is_used(std::uint64_t /*page*/) const { return true; }
  /// Whether a word stays as it is for as long as its event stands at its position, so that a copy
  /// of it stays valid.
  virtual bool is_constant() const { return true; }
};

}  // namespace gorgo::engine
