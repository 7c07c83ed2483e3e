#include "engine/cuda/mirrored_marks.hpp"

#include <cstddef>

namespace gorgo::engine {

MirroredMarks::MirroredMarks(const MirrorContext& mirror)
    : MirroredField(mirror, {.kind = Field::Kind::consumer}),
      marks_(mirror.positions.size(), kUnmarked) {
  add_vector(*this);
}

void MirroredMarks::extend() {
  MirroredField::extend();
  marks_.resize(mirror().positions.size(), kUnmarked);
}

void MirroredMarks::drop_before(std::uint64_t position) {
  MirroredField::drop_before(position);
  const auto gone = static_cast<std::ptrdiff_t>(position - mirror().positions.first());
  marks_.erase(marks_.begin(), marks_.begin() + gone);
}

void MirroredMarks::drop_from(std::uint64_t position) {
  MirroredField::drop_from(position);
  marks_.resize(mirror().positions.size());
  fresh_from_ = std::min(fresh_from_, position);
}

std::span<const std::uint64_t> MirroredMarks::words(std::uint64_t first, std::uint64_t last,
                                                    std::vector<std::uint64_t>& scratch) {
  const auto begin =
      marks_.begin() + static_cast<std::ptrdiff_t>(first - mirror().positions.first());
  scratch.assign(begin, begin + static_cast<std::ptrdiff_t>(last - first));
  return scratch;
}

void MirroredMarks::mark(std::uint64_t position, std::uint64_t word) {
  std::uint64_t& known = marks_[position - mirror().positions.first()];
  if (known == word) return;
  known = word;
  changed_.push_back(position);
}

void MirroredMarks::upload() {
  const MirroredPositions& positions = mirror().positions;
  // A device wants the words of a page in ascending order.
  std::ranges::sort(changed_);
  changed_.erase(std::unique(changed_.begin(), changed_.end()), changed_.end());
  for (const std::uint64_t p : changed_) {
    if (p < positions.first() || p >= positions.end()) continue;
    vector(0).overwrite(p, marks_[p - positions.first()]);
  }
  changed_.clear();
  fresh_from_ = positions.end();
}

}  // namespace gorgo::engine
