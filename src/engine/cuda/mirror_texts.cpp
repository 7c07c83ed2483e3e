#include <algorithm>

#include "engine/cuda/mirror.hpp"
#include "engine/cuda/text_words.hpp"

namespace gorgo::engine {

std::size_t Mirror::frames(std::uint32_t number, PageRange pages) const {
  const Attribute& attribute = attributes_[number];
  const std::size_t presence = attribute.is_nullable ? pages.size() : 0;
  if (!is_text(attribute.index)) return presence + pages.size();
  std::size_t frames = presence;
  for (std::uint64_t at = pages.first; at < pages.last; ++at) {
    frames += attribute.parts[at - page_of(first_)];
  }
  return frames;
}

bool Mirror::has_long_text(std::uint32_t number, const history::Range& positions) const {
  const auto& too_long = attributes_[number].too_long;
  const auto next = std::ranges::lower_bound(too_long, positions.first);
  return next != too_long.end() && *next < positions.last;
}

/// Notes how much room new texts take.
void Mirror::note_texts(std::uint32_t number) {
  Attribute& attribute = attributes_[number];
  attribute.parts.resize(page_count(), kFewestParts);
  const history::AttributeVector& texts = timeline_->attribute(attribute.of_type());
  for (std::uint64_t p = std::max(attribute.noted, first_); p < end(); ++p) {
    const std::size_t bytes = texts.strings(p)->size();
    if (bytes > kLongestText) {
      attribute.too_long.push_back(p);
      continue;
    }
    std::uint32_t& parts = attribute.parts[page_of(p) - page_of(first_)];
    parts = std::max(parts, static_cast<std::uint32_t>(1 + (bytes + 7) / 8));
  }
  attribute.noted = end();
  const auto most = std::ranges::max_element(attribute.parts);
  if (most == attribute.parts.end()) return;
  while (attribute.values.size() < *most) {
    const auto part = static_cast<std::uint32_t>(attribute.values.size());
    attribute.values.push_back(add_vector(number, part));
  }
}

/// Forgets the texts from a position on, where others may come to stand. A page keeps the room that
/// it has.
void Mirror::forget_texts_from(Attribute& attribute, std::uint64_t position) const {
  attribute.noted = std::min(attribute.noted, position);
  while (!attribute.too_long.empty() && attribute.too_long.back() >= position) {
    attribute.too_long.pop_back();
  }
  if (attribute.parts.size() > page_count()) attribute.parts.resize(page_count());
}

std::span<const std::uint64_t> Mirror::text_words(const Vector& vector, std::uint64_t first,
                                                  std::uint64_t last) {
  const auto& attribute = timeline_->attribute(attributes_[vector.attribute].of_type());
  const std::string_view* const texts = attribute.strings(first);
  scratch_.clear();
  for (std::uint64_t i = 0; i < last - first; ++i) {
    const std::string_view text = texts[i];
    scratch_.push_back(vector.part == 1
                           ? text.size()
                           : word_of_text(text, vector.part == 0 ? 0 : vector.part - 1));
  }
  return scratch_;
}

}  // namespace gorgo::engine
