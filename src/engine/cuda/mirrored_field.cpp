#include "engine/cuda/mirrored_field.hpp"

#include <algorithm>

namespace gorgo::engine {

std::span<const std::uint64_t> PresenceWords::words(std::uint64_t first, std::uint64_t last,
                                                    std::vector<std::uint64_t>& scratch) {
  const std::uint8_t* const present = timeline_.attribute(attribute_).present(first);
  scratch.assign(present, present + (last - first));
  return scratch;
}

MirroredField::MirroredField(const MirrorContext& mirror, const Field& field)
    : mirror_(mirror), field_(field) {
  if (!field.is_attribute() || !mirror.store.is_nullable()) return;
  presence_words_.emplace(mirror.timeline, field.attribute);
  presence_.emplace(mirror, *presence_words_);
}

template <class F>
std::size_t MirroredField::sum(F f) const {
  std::size_t sum = presence_ ? f(*presence_) : 0;
  for (const PagedVector& vector : values_) sum += f(vector);
  return sum;
}

void MirroredField::need(PageRange pages) {
  mirror_.schedule.use();
  for_vectors([&](PagedVector& vector) { vector.need(pages); });
}

bool MirroredField::has(PageRange pages) const {
  const auto there = [&](const PagedVector& vector) { return vector.has(pages); };
  return std::ranges::all_of(values_, there) && (!presence_ || there(*presence_));
}

std::size_t MirroredField::absent(PageRange pages) const {
  return sum([&](const PagedVector& vector) { return vector.absent(pages); });
}

std::size_t MirroredField::missing(PageRange pages) const {
  return sum([&](const PagedVector& vector) { return vector.missing(pages); });
}

std::size_t MirroredField::prefetch(PageRange pages, std::size_t most) {
  std::size_t done = 0;
  for_vectors([&](PagedVector& vector) { done += vector.prefetch(pages, most - done); });
  return done;
}

gpu::Attribute MirroredField::place(gpu::Round& round) const {
  const std::size_t pages = mirror_.positions.page_count();
  gpu::Attribute placed{.first_page = mirror_.positions.first_page(),
                        .pages = static_cast<std::uint32_t>(round.pages.size()),
                        .stride = static_cast<std::uint32_t>(pages)};
  round.pages.resize(round.pages.size() + values_.size() * pages);
  if (presence_) {
    placed.present = static_cast<std::uint32_t>(round.pages.size());
    round.pages.resize(round.pages.size() + pages);
  }
  return placed;
}

void MirroredField::write_table(const gpu::Attribute& placed, gpu::Round& round) const {
  std::uint32_t* to = round.pages.data() + placed.pages;
  for (const PagedVector& vector : values_) {
    vector.write_table(to);
    to += placed.stride;
  }
  if (presence_) presence_->write_table(round.pages.data() + placed.present);
}

void MirroredField::evict() {
  for_vectors([](PagedVector& vector) { vector.evict(); });
}

void MirroredField::extend() {
  for_vectors([](PagedVector& vector) { vector.extend(); });
}

void MirroredField::drop_before(std::uint64_t position) {
  const std::uint64_t page = mirror_.positions.page_of(position);
  for_vectors([&](PagedVector& vector) { vector.drop_before(page); });
}

void MirroredField::drop_from(std::uint64_t position) {
  for_vectors([&](PagedVector& vector) { vector.drop_from(position); });
}

}  // namespace gorgo::engine
