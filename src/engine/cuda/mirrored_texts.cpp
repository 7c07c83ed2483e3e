#include "engine/cuda/mirrored_texts.hpp"

#include <algorithm>
#include <string_view>

#include "engine/cuda/text_words.hpp"

namespace gorgo::engine {

MirroredTexts::MirroredTexts(const MirrorContext& mirror, const Field& field)
    : MirroredField(mirror, field) {
  add_part();
  measure();
}

void MirroredTexts::add_part() {
  parts_.emplace_back(*this, static_cast<std::uint32_t>(parts_.size()));
  add_vector(parts_.back());
}

std::size_t MirroredTexts::frames_of_values(PageRange pages) const {
  std::size_t frames = 0;
  for (std::uint64_t page = pages.first; page < pages.last; ++page) frames += parts_in(page);
  return frames;
}

bool MirroredTexts::has_too_long(const history::Range& positions) const {
  const auto next = std::ranges::lower_bound(too_long_, positions.first);
  return next != too_long_.end() && *next < positions.last;
}

void MirroredTexts::extend() {
  MirroredField::extend();
  measure();
}

/// Finds out how much room new texts take.
void MirroredTexts::measure() {
  const MirroredPositions& positions = mirror().positions;
  parts_in_.resize(positions.page_count(), kFewestParts);
  const history::AttributeVector& texts = strings();
  for (std::uint64_t p = std::max(measured_, positions.first()); p < positions.end(); ++p) {
    const std::size_t bytes = texts.strings(p)->size();
    if (bytes > kLongest) {
      too_long_.push_back(p);
      continue;
    }
    std::uint32_t& parts = parts_in_[positions.page_of(p) - positions.first_page()];
    parts = std::max(parts, static_cast<std::uint32_t>(1 + (bytes + 7) / 8));
  }
  measured_ = positions.end();
  const auto most = std::ranges::max_element(parts_in_);
  while (most != parts_in_.end() && parts_.size() < *most) add_part();
}

void MirroredTexts::drop_before(std::uint64_t position) {
  MirroredField::drop_before(position);
  while (!too_long_.empty() && too_long_.front() < position) too_long_.pop_front();
  const MirroredPositions& positions = mirror().positions;
  const std::uint64_t pages =
      std::min(positions.page_of(position) - positions.first_page(), parts_in_.size());
  parts_in_.erase(parts_in_.begin(), parts_in_.begin() + static_cast<std::ptrdiff_t>(pages));
}

/// Other texts may come to stand there. A page keeps the room that it has.
void MirroredTexts::drop_from(std::uint64_t position) {
  MirroredField::drop_from(position);
  measured_ = std::min(measured_, position);
  while (!too_long_.empty() && too_long_.back() >= position) too_long_.pop_back();
  const std::size_t pages = mirror().positions.page_count();
  if (parts_in_.size() > pages) parts_in_.resize(pages);
}

std::span<const std::uint64_t> MirroredTexts::Part::words(std::uint64_t first, std::uint64_t last,
                                                          std::vector<std::uint64_t>& scratch) {
  const std::string_view* const texts = texts_.strings().strings(first);
  scratch.clear();
  for (std::uint64_t i = 0; i < last - first; ++i) {
    const std::string_view text = texts[i];
    scratch.push_back(number_ == 1 ? text.size()
                                   : word_of_text(text, number_ == 0 ? 0 : number_ - 1));
  }
  return scratch;
}

}  // namespace gorgo::engine
