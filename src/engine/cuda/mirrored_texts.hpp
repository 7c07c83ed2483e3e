#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <vector>

#include "engine/cuda/mirrored_field.hpp"

namespace gorgo::engine {

/// Strings of an attribute as text, in a vector for each part of the longest string
/// (cuda/layout.hpp). A page of a part that no string of these positions has is never there.
class MirroredTexts final : public MirroredField {
 public:
  /// The most bytes of a string whose text can be there.
  static constexpr std::size_t kLongest = 256;

  MirroredTexts(const MirrorContext& mirror, const Field& field);

  bool has_too_long(const history::Range& positions) const override;
  void extend() override;
  void drop_before(std::uint64_t position) override;
  void drop_from(std::uint64_t position) override;

 private:
  /// How many parts every text has, and how many it can have: the length, and its words.
  static constexpr std::uint32_t kFewestParts = 2, kMostParts = 1 + kLongest / 8;

  /// The words of a part of all texts.
  class Part final : public WordSource {
   public:
    Part(const MirroredTexts& texts, std::uint32_t number) : texts_(texts), number_(number) {}
    std::span<const std::uint64_t> words(std::uint64_t first, std::uint64_t last,
                                         std::vector<std::uint64_t>& scratch) override;
    bool is_used(std::uint64_t page) const override { return number_ < texts_.parts_in(page); }

   private:
    const MirroredTexts& texts_;
    const std::uint32_t number_;
  };

  std::size_t frames_of_values(PageRange pages) const override;
  std::size_t most_vectors() const override { return kMostParts; }
  const history::AttributeVector& strings() const {
    return mirror().timeline.attribute(field().attribute);
  }
  std::uint32_t parts_in(std::uint64_t page) const {
    return parts_in_[page - mirror().positions.first_page()];
  }
  void add_part();
  void measure();

  std::deque<Part> parts_;
  std::deque<std::uint32_t> parts_in_;  // by page: how many parts its texts have
  std::deque<std::uint64_t> too_long_;  // positions of texts, ascending
  std::uint64_t measured_ = 0;          // the last two know the texts up to here
};

}  // namespace gorgo::engine
