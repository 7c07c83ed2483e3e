#include "engine/cuda/mirror.hpp"

#include <algorithm>
#include <utility>

namespace gorgo::engine {

Mirror::Mirror(std::shared_ptr<Session> session, const history::EventStore& store,
               std::shared_ptr<const history::Timeline> timeline)
    : session_(std::move(session)),
      store_(store),
      timeline_(std::move(timeline)),
      shift_(session_->device().page_shift()) {}

Mirror::~Mirror() {
  const std::lock_guard lock(session_->mutex());
  evict();
  const auto it = session_->mirrors_.find(timeline_.get());
  if (it != session_->mirrors_.end() && it->second == this) session_->mirrors_.erase(it);
}

std::uint32_t Mirror::add(std::uint32_t index) {
  const auto known = std::ranges::find(attributes_, index, &Attribute::index);
  const auto number = static_cast<std::uint32_t>(known - attributes_.begin());
  if (known != attributes_.end()) return number;
  Attribute attribute{.index = index};
  if (index != kTimestamps && index != kRoots) {
    attribute.is_string = store_.attribute_type(index) == ValueType::string;
    attribute.is_nullable = store_.is_nullable();
  }
  return place_in(number, std::move(attribute));
}

std::uint32_t Mirror::add_marks() {
  const auto unused = std::ranges::find(attributes_, kUnused, &Attribute::index);
  return place_in(static_cast<std::uint32_t>(unused - attributes_.begin()), {.index = kMarks});
}

void Mirror::remove_marks(std::uint32_t number) {
  Attribute& attribute = attributes_[number];
  while (!attribute.pages.empty()) free_back(attribute.pages);
  attribute = {.index = kUnused};
}

std::uint32_t Mirror::place_in(std::uint32_t number, Attribute attribute) {
  // All attributes stand in as many pages. Those that a round refers to stay.
  const bool in_use = used_in_ == session_->round() && holds_pages();
  if (!in_use) evict();
  if (number == attributes_.size()) attributes_.emplace_back();
  attributes_[number] = std::move(attribute);
  if (!in_use) return number;
  make_room(attributes_[number]);
  append(attributes_[number], first_, end());
  return number;
}

void Mirror::sync() {
  used_in_ = session_->round();
  const std::uint64_t begin = timeline_->begin();
  if (mirrored_.empty() || end() <= begin) {
    evict();
    first_ = begin;
  }
  drop_before(begin);
  drop_from(changed_from());
  append_until(timeline_->end());
}

/// An event that is inserted moves all that stand behind it, and no event stands at two positions:
/// so what differs differs up to the end, and what agrees agrees from the beginning.
std::uint64_t Mirror::changed_from() const {
  const auto agrees = [&](std::uint64_t position) {
    return position < timeline_->end() && mirrored_[position - first_] == timeline_->slot(position);
  };
  if (mirrored_.empty() || agrees(end() - 1)) return end();
  std::uint64_t low = first_, high = end() - 1;  // the change is in [low, high]
  while (low < high) {
    const std::uint64_t middle = low + (high - low) / 2;
    if (agrees(middle)) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

void Mirror::drop_before(std::uint64_t position) {
  const std::uint64_t old_page = page_of(first_);
  while (first_ < position) {
    mirrored_.pop_front();
    for (Attribute& attribute : attributes_) {
      if (!attribute.has_words()) continue;
      if (attribute.is_string) release_code(attribute.words.front());
      attribute.words.pop_front();
    }
    ++first_;
  }
  for (std::uint64_t page = old_page; page < page_of(first_); ++page) {
    for (Attribute& attribute : attributes_) {
      free_front(attribute.pages);
      free_front(attribute.present);
    }
  }
}

void Mirror::drop_from(std::uint64_t position) {
  while (end() > position) {
    mirrored_.pop_back();
    for (Attribute& attribute : attributes_) {
      if (!attribute.has_words()) continue;
      if (attribute.is_string) release_code(attribute.words.back());
      attribute.words.pop_back();
    }
  }
  const std::uint64_t pages = mirrored_.empty() ? 0 : page_of(end() - 1) - page_of(first_) + 1;
  for (Attribute& attribute : attributes_) {
    while (attribute.pages.size() > pages) free_back(attribute.pages);
    while (attribute.present.size() > pages) free_back(attribute.present);
    attribute.fresh = std::min(attribute.fresh, position);
  }
}

std::uint64_t Mirror::pages_needed() const {
  if (timeline_->begin() == timeline_->end()) return 0;
  std::uint64_t vectors = 0;
  for (const Attribute& attribute : attributes_) {
    vectors += attribute.index == kUnused ? 0 : attribute.is_nullable ? 2 : 1;
  }
  return vectors * (page_of(timeline_->end() - 1) - page_of(timeline_->begin()) + 1);
}

void Mirror::evict() { drop_from(first_); }

void Mirror::append_until(std::uint64_t position) {
  const std::uint64_t first = end();
  if (first == position) return;
  for (std::uint64_t p = first; p < position; ++p) {
    mirrored_.push_back(timeline_->slot(p));
  }
  // All of them first: appending fails where memory is short.
  for (Attribute& attribute : attributes_) make_room(attribute);
  for (Attribute& attribute : attributes_) append(attribute, first, position);
}

void Mirror::make_room(Attribute& attribute) const {
  if (!attribute.has_words()) return;
  attribute.words.resize(mirrored_.size(), attribute.is_string ? 0 : kUnmarked);
}

void Mirror::append(Attribute& attribute, std::uint64_t first, std::uint64_t last) {
  if (attribute.index == kMarks || attribute.index == kUnused) return;
  // In parts, so that strings and the like need little memory here.
  constexpr std::uint64_t kPart = 1 << 16;
  for (std::uint64_t p = first; p < last; p += kPart) {
    const std::uint64_t end = std::min(last, p + kPart);
    write(attribute.pages, p, words(attribute, p, end));
    if (attribute.is_nullable) write(attribute.present, p, present(attribute, p, end));
  }
}

std::span<const std::uint64_t> Mirror::words(Attribute& attribute, std::uint64_t first,
                                             std::uint64_t last) {
  const bool own = attribute.index != kTimestamps && attribute.index != kRoots;
  if (own && !attribute.is_string) {
    return {timeline_->attribute(attribute.index).words(first), last - first};
  }
  scratch_.clear();
  for (std::uint64_t p = first; p < last; ++p) {
    if (attribute.index == kTimestamps) {
      scratch_.push_back(static_cast<std::uint64_t>(timeline_->timestamp(p)));
    } else if (attribute.index == kRoots) {
      scratch_.push_back(store_.root(timeline_->slot(p)));
    } else {
      const Datum text = timeline_->attribute(attribute.index)[p];
      const std::uint64_t code = text.exists() ? session_->codes().add(text.text()) : 0;
      attribute.words[p - first_] = code;
      scratch_.push_back(code);
    }
  }
  return scratch_;
}

void Mirror::mark(std::uint32_t number, std::uint64_t position, std::uint64_t word) {
  Attribute& attribute = attributes_[number];
  std::uint64_t& known = attribute.words[position - first_];
  if (known == word) return;
  known = word;
  if (position < attribute.fresh) attribute.marked.push_back(position);
}

void Mirror::upload_marks(std::uint32_t number) {
  constexpr std::uint64_t kPart = 1 << 16;
  Attribute& attribute = attributes_[number];
  // Upwards within a page, as a device wants them.
  std::ranges::sort(attribute.marked);
  for (const std::uint64_t p : attribute.marked) {
    if (p < first_ || p >= attribute.fresh) continue;
    write(attribute.pages, p, {&attribute.words[p - first_], 1});
  }
  attribute.marked.clear();
  for (std::uint64_t p = fresh_marks(number); p < end(); p += scratch_.size()) {
    const auto first = attribute.words.begin() + static_cast<std::ptrdiff_t>(p - first_);
    const auto count = static_cast<std::ptrdiff_t>(std::min(end() - p, kPart));
    scratch_.assign(first, first + count);
    write(attribute.pages, p, scratch_);
  }
  attribute.fresh = end();
}

std::span<const std::uint64_t> Mirror::present(const Attribute& attribute, std::uint64_t first,
                                               std::uint64_t last) {
  const std::uint8_t* const present = timeline_->attribute(attribute.index).present(first);
  scratch_.assign(present, present + (last - first));
  return scratch_;
}

void Mirror::write(Pages& pages, std::uint64_t first, std::span<const std::uint64_t> words) {
  const std::uint64_t page_size = std::uint64_t{1} << shift_;
  while (!words.empty()) {
    const std::uint64_t page = page_of(first) - page_of(first_);
    while (pages.size() <= page) pages.push_back(session_->allocate_page());
    const std::uint64_t offset = first & (page_size - 1);
    const auto part = words.first(std::min<std::size_t>(words.size(), page_size - offset));
    session_->device().write(pages[page], static_cast<std::uint32_t>(offset), part);
    words = words.subspan(part.size());
    first += part.size();
  }
}

cuda::Attribute Mirror::place(std::uint32_t number, cuda::Round& round) const {
  const Attribute& attribute = attributes_[number];
  cuda::Attribute placed{.first_page = page_of(first_),
                         .pages = static_cast<std::uint32_t>(round.pages.size())};
  round.pages.insert(round.pages.end(), attribute.pages.begin(), attribute.pages.end());
  if (attribute.is_nullable) {
    placed.present = static_cast<std::uint32_t>(round.pages.size());
    round.pages.insert(round.pages.end(), attribute.present.begin(), attribute.present.end());
  }
  return placed;
}

void Mirror::release_code(std::uint64_t code) {
  if (code != 0) session_->codes().release(code);
}

void Mirror::free_front(Pages& pages) {
  if (pages.empty()) return;
  session_->free_page(pages.front());
  pages.pop_front();
}

void Mirror::free_back(Pages& pages) {
  session_->free_page(pages.back());
  pages.pop_back();
}

}  // namespace gorgo::engine
