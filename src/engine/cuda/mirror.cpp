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
  drop_from(first_);
  const auto it = session_->mirrors_.find(timeline_.get());
  if (it != session_->mirrors_.end() && it->second == this) session_->mirrors_.erase(it);
}

std::uint32_t Mirror::add(std::uint32_t index) {
  const auto known = std::ranges::find(attributes_, index, &Attribute::index);
  const auto number = static_cast<std::uint32_t>(known - attributes_.begin());
  if (known != attributes_.end()) return number;
  Attribute attribute{.index = index};
  if (index != kTimestamps && index != kRoots) {
    attribute.is_string = !is_text(index) && store_.attribute_type(index) == ValueType::string;
    attribute.is_nullable = store_.is_nullable();
  }
  attribute.values.push_back(add_vector(number, 0));
  if (attribute.is_nullable) attribute.presence = add_vector(number, kPresence);
  attributes_.push_back(std::move(attribute));
  make_room(number);
  return number;
}

std::uint32_t Mirror::add_vector(std::uint32_t attribute, std::uint32_t part) {
  vectors_.push_back({.attribute = attribute, .part = part});
  vectors_.back().pages.resize(page_count());
  return static_cast<std::uint32_t>(vectors_.size() - 1);
}

std::uint32_t Mirror::add_marks() {
  const auto unused = std::ranges::find(attributes_, kUnused, &Attribute::index);
  const auto number = static_cast<std::uint32_t>(unused - attributes_.begin());
  if (unused == attributes_.end()) {
    attributes_.push_back({.index = kUnused, .values = {add_vector(number, 0)}});
  }
  attributes_[number].index = kMarks;
  make_room(number);
  return number;
}

void Mirror::remove_marks(std::uint32_t number) {
  Attribute& attribute = attributes_[number];
  for (Page& page : vectors_[attribute.values[0]].pages) {
    forget(page);
    page = {};
  }
  attribute = {.index = kUnused, .values = std::move(attribute.values)};
}

void Mirror::sync() {
  const std::uint64_t begin = timeline_->begin();
  if (mirrored_.empty() || end() <= begin) {
    drop_from(first_);
    first_ = begin;
  }
  drop_before(begin);
  drop_from(changed_from());
  append_until(timeline_->end());
}

/// An inserted event moves all that stand behind it, and no event stands at two positions. So all
/// positions agree up to the change, and none do from there on.
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
  if (first_ >= position) return;
  const auto gone = static_cast<std::ptrdiff_t>(position - first_);
  mirrored_.erase(mirrored_.begin(), mirrored_.begin() + gone);
  for (Attribute& attribute : attributes_) {
    if (!attribute.has_words()) continue;
    const auto end = attribute.words.begin() + gone;
    if (attribute.is_string) {
      std::for_each(attribute.words.begin(), end,
                    [this](std::uint64_t code) { release_code(code); });
    }
    attribute.words.erase(attribute.words.begin(), end);
  }
  first_ = position;
  for (Attribute& attribute : attributes_) {
    auto& too_long = attribute.too_long;
    while (!too_long.empty() && too_long.front() < first_) too_long.pop_front();
    const std::uint64_t pages = std::min(page_of(first_) - old_page, attribute.parts.size());
    attribute.parts.erase(attribute.parts.begin(),
                          attribute.parts.begin() + static_cast<std::ptrdiff_t>(pages));
  }
  for (std::uint64_t number = old_page; number < page_of(first_); ++number) {
    for (Vector& vector : vectors_) {
      forget(vector.pages.front());
      vector.pages.pop_front();
    }
  }
}

void Mirror::drop_from(std::uint64_t position) {
  if (position == end()) return;
  while (end() > position) {
    mirrored_.pop_back();
    for (Attribute& attribute : attributes_) {
      if (!attribute.has_words()) continue;
      if (attribute.is_string) release_code(attribute.words.back());
      attribute.words.pop_back();
    }
  }
  for (Attribute& attribute : attributes_) {
    attribute.fresh = std::min(attribute.fresh, position);
    if (is_text(attribute.index)) forget_texts_from(attribute, position);
  }
  for (Vector& vector : vectors_) {
    while (vector.pages.size() > page_count()) {
      forget(vector.pages.back());
      vector.pages.pop_back();
    }
    if (vector.pages.empty()) continue;
    Page& last = vector.pages.back();
    last.written = std::min(last.written, position);
    last.copied = std::min(last.copied, position);
  }
}

void Mirror::append_until(std::uint64_t position) {
  if (end() == position) return;
  for (std::uint64_t p = end(); p < position; ++p) mirrored_.push_back(timeline_->slot(p));
  for (Vector& vector : vectors_) vector.pages.resize(page_count());
  for (std::uint32_t i = 0; i < attributes_.size(); ++i) make_room(i);
}

void Mirror::make_room(std::uint32_t number) {
  Attribute& attribute = attributes_[number];
  if (is_text(attribute.index)) note_texts(number);
  if (!attribute.has_words()) return;
  attribute.words.resize(mirrored_.size(), attribute.is_string ? 0 : kUnmarked);
}

void Mirror::forget(Page& page) {
  if (page.frame != kAbsent) session_->free_frame(std::exchange(page.frame, kAbsent));
  if (page.copy != nullptr) session_->free_pinned(std::exchange(page.copy, nullptr));
}

void Mirror::evict() {
  for (Vector& vector : vectors_) {
    for (Page& page : vector.pages) {
      if (page.frame != kAbsent) session_->free_frame(std::exchange(page.frame, kAbsent));
    }
  }
}

void Mirror::evict(std::uint32_t vector, std::uint64_t number) {
  session_->free_frame(std::exchange(page(vectors_[vector], number).frame, kAbsent));
}

void Mirror::expect(std::uint64_t step, PageRange pages) {
  while (!expected_.empty() && expected_.front().step < session_->step()) expected_.pop_front();
  expected_.push_back({step, pages});
}

std::uint64_t Mirror::needed_in(std::uint64_t page) const {
  for (const Expected& expected : expected_) {
    if (expected.step >= session_->step() && expected.pages.contains(page)) return expected.step;
  }
  return kNever;
}

void Mirror::need(std::uint32_t attribute, PageRange pages) {
  used_in_ = session_->round();
  for_vectors(attribute,
              [&](std::uint32_t number, Vector& vector) { need(number, vector, pages); });
}

void Mirror::need(std::uint32_t number, Vector& vector, PageRange pages) {
  std::size_t missing = 0;
  for (std::uint64_t at = pages.first; at < pages.last; ++at) {
    if (!is_used(vector, at)) continue;
    const Page& page = this->page(vector, at);
    if (page.frame == kAbsent) {
      ++missing;
    } else if (session_->use(page.frame)) {
      ++session_->counters().hits;
    }
  }
  session_->make_room(missing);
  for (std::uint64_t at = pages.first; at < pages.last; ++at) {
    if (!is_used(vector, at)) continue;
    const Page& page = this->page(vector, at);
    if (page.frame == kAbsent) {
      load(number, vector, at);
    } else if (page.written < end_of(at)) {
      // Events that left the timeline before they were written are gone.
      write(vector, at, std::max(first_, page.written));
    }
  }
}

bool Mirror::has(std::uint32_t attribute, PageRange pages) const {
  for (const Vector& vector : vectors_) {
    if (vector.attribute != attribute) continue;
    for (std::uint64_t at = pages.first; at < pages.last; ++at) {
      if (!is_used(vector, at)) continue;
      const Page& there = page(vector, at);
      if (there.frame == kAbsent || there.written < end_of(at)) return false;
    }
  }
  return true;
}

/// Loads a page. One that has been there is likely to be needed again: it gets a copy in pinned
/// memory.
void Mirror::load(std::uint32_t number, Vector& vector, std::uint64_t at) {
  Page& page = this->page(vector, at);
  ++(page.was_there ? session_->counters().swapped_in : session_->counters().uploaded);
  if (page.was_there && attributes_[vector.attribute].index != kMarks) {
    fetch(number, vector, at);
    session_->use(page.frame);
  } else {
    page.frame = session_->take_frame(*this, number, at);
    page.was_there = true;
    session_->use(page.frame);
    write(vector, at, std::max(first_, at << shift_));
  }
}

void Mirror::fetch(std::uint32_t number, Vector& vector, std::uint64_t at) {
  Page& page = this->page(vector, at);
  if (page.copy == nullptr) {
    page.copy = session_->take_pinned();
    page.copied = at << shift_;
  }
  // Events that left the timeline before they were copied are gone.
  const std::uint64_t first = std::max(first_, page.copied);
  if (first < end_of(at)) {
    std::ranges::copy(words(vector, first, end_of(at)), page.copy + (first - (at << shift_)));
    page.copied = end_of(at);
  }
  page.frame = session_->take_frame(*this, number, at);
  page.was_there = true;
  page.written = end_of(at);
  session_->order(page.frame, page.copy);
}

std::size_t Mirror::absent(std::uint32_t attribute, PageRange pages) const {
  std::size_t absent = 0;
  for (const Vector& vector : vectors_) {
    if (vector.attribute != attribute) continue;
    for (std::uint64_t at = pages.first; at < pages.last; ++at) {
      if (is_used(vector, at) && page(vector, at).frame == kAbsent) ++absent;
    }
  }
  return absent;
}

std::size_t Mirror::missing(std::uint32_t attribute, PageRange pages) const {
  if (attributes_[attribute].index == kMarks) return 0;
  return absent(attribute, {pages.first, std::min(pages.last, end() >> shift_)});
}

std::size_t Mirror::prefetch(std::uint32_t attribute, PageRange pages, std::size_t most) {
  if (attributes_[attribute].index == kMarks) return 0;
  std::size_t done = 0;
  for_vectors(attribute, [&](std::uint32_t number, Vector& vector) {
    for (std::uint64_t at = pages.first; at < pages.last && is_full(at) && done < most; ++at) {
      const Page& page = this->page(vector, at);
      if (page.frame != kAbsent || !is_used(vector, at)) continue;
      if (page.was_there) ++session_->counters().swapped_in;
      ++session_->counters().prefetched;
      fetch(number, vector, at);
      ++done;
    }
  });
  return done;
}

/// Writes the words of a page from a position on.
void Mirror::write(Vector& vector, std::uint64_t at, std::uint64_t first) {
  constexpr std::uint64_t kPart = 1 << 16;  // a device takes no more at a time
  Page& page = this->page(vector, at);
  for (std::uint64_t last; first < end_of(at); first = last) {
    last = std::min(end_of(at), first + kPart);
    const auto offset = static_cast<std::uint32_t>(first - (at << shift_));
    session_->device().write(page.frame, offset, words(vector, first, last));
  }
  page.written = end_of(at);
}

/// Valid until the next call.
std::span<const std::uint64_t> Mirror::words(const Vector& vector, std::uint64_t first,
                                             std::uint64_t last) {
  Attribute& attribute = attributes_[vector.attribute];
  if (vector.part == kPresence) {
    const std::uint8_t* const present = timeline_->attribute(attribute.of_type()).present(first);
    scratch_.assign(present, present + (last - first));
    return scratch_;
  }
  if (is_text(attribute.index)) return text_words(vector, first, last);
  if (attribute.index == kMarks) {
    const auto words = attribute.words.begin() + static_cast<std::ptrdiff_t>(first - first_);
    scratch_.assign(words, words + static_cast<std::ptrdiff_t>(last - first));
    return scratch_;
  }
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
      scratch_.push_back(code(attribute, p));
    }
  }
  return scratch_;
}

/// The code of the string at a position, in use for as long as the string stands there.
std::uint64_t Mirror::code(Attribute& attribute, std::uint64_t position) {
  std::uint64_t& code = attribute.words[position - first_];
  const Datum text = timeline_->attribute(attribute.index)[position];
  if (code == 0 && text.exists()) code = session_->codes().add(text.text());
  return code;
}

void Mirror::mark(std::uint32_t number, std::uint64_t position, std::uint64_t word) {
  Attribute& attribute = attributes_[number];
  std::uint64_t& known = attribute.words[position - first_];
  if (known == word) return;
  known = word;
  attribute.marked.push_back(position);
}

void Mirror::upload_marks(std::uint32_t number) {
  Attribute& attribute = attributes_[number];
  // A device wants the words of a page in ascending order.
  std::sort(attribute.marked.begin(), attribute.marked.end());
  attribute.marked.erase(std::unique(attribute.marked.begin(), attribute.marked.end()),
                         attribute.marked.end());
  for (const std::uint64_t p : attribute.marked) {
    if (p < first_ || p >= end()) continue;
    const Page& page = this->page(vectors_[attribute.values[0]], page_of(p));
    if (page.frame == kAbsent || p >= page.written) continue;
    const auto offset = static_cast<std::uint32_t>(p - (page_of(p) << shift_));
    session_->device().write(page.frame, offset, {&attribute.words[p - first_], 1});
  }
  attribute.marked.clear();
  attribute.fresh = end();
}

gpu::Attribute Mirror::place(std::uint32_t number, gpu::Round& round) const {
  const Attribute& attribute = attributes_[number];
  gpu::Attribute placed{.first_page = page_of(first_),
                        .pages = static_cast<std::uint32_t>(round.pages.size()),
                        .stride = static_cast<std::uint32_t>(page_count())};
  round.pages.resize(round.pages.size() + attribute.values.size() * page_count());
  if (attribute.is_nullable) {
    placed.present = static_cast<std::uint32_t>(round.pages.size());
    round.pages.resize(round.pages.size() + page_count());
  }
  return placed;
}

/// Names any page where there is none: no search looks at it, but threads may load from it.
void Mirror::write_table(std::uint32_t number, const gpu::Attribute& placed,
                         gpu::Round& round) const {
  const Attribute& attribute = attributes_[number];
  const auto write = [&](const Vector& vector, std::uint32_t to) {
    for (const Page& page : vector.pages)
      round.pages[to++] = page.frame == kAbsent ? 0 : page.frame;
  };
  std::uint32_t to = placed.pages;
  for (const std::uint32_t vector : attribute.values) {
    write(vectors_[vector], to);
    to += placed.stride;
  }
  if (attribute.is_nullable) write(vectors_[attribute.presence], placed.present);
}

void Mirror::release_code(std::uint64_t code) {
  if (code != 0) session_->codes().release(code);
}

}  // namespace gorgo::engine
