#include "engine/cuda/mirrored_codes.hpp"

#include <algorithm>
#include <cstddef>

namespace gorgo::engine {

MirroredCodes::MirroredCodes(const MirrorContext& mirror, const Field& field)
    : MirroredField(mirror, field), codes_(mirror.positions.size()) {
  add_vector(*this);
}

MirroredCodes::~MirroredCodes() {
  for (const std::uint64_t code : codes_) release(code);
}

void MirroredCodes::extend() {
  MirroredField::extend();
  codes_.resize(mirror().positions.size());
}

void MirroredCodes::drop_before(std::uint64_t position) {
  MirroredField::drop_before(position);
  const auto gone = static_cast<std::ptrdiff_t>(position - mirror().positions.first());
  const auto end = codes_.begin() + gone;
  std::for_each(codes_.begin(), end, [this](std::uint64_t code) { release(code); });
  codes_.erase(codes_.begin(), end);
}

void MirroredCodes::drop_from(std::uint64_t position) {
  MirroredField::drop_from(position);
  for (; codes_.size() > mirror().positions.size(); codes_.pop_back()) release(codes_.back());
}

std::span<const std::uint64_t> MirroredCodes::words(std::uint64_t first, std::uint64_t last,
                                                    std::vector<std::uint64_t>& scratch) {
  scratch.clear();
  for (std::uint64_t p = first; p < last; ++p) scratch.push_back(code(p));
  return scratch;
}

std::uint64_t MirroredCodes::code(std::uint64_t position) {
  std::uint64_t& code = codes_[position - mirror().positions.first()];
  const Datum text = mirror().timeline.attribute(field().attribute)[position];
  if (code == 0 && text.exists()) code = mirror().codes.add(text.text());
  return code;
}

void MirroredCodes::release(std::uint64_t code) {
  if (code != 0) mirror().codes.release(code);
}

}  // namespace gorgo::engine
