#include "engine/cuda/paged_vector.hpp"

#include <algorithm>
#include <utility>

namespace gorgo::engine {

PagedVector::PagedVector(const MirrorContext& mirror, WordSource& source)
    : mirror_(mirror), source_(source), pages_(mirror.positions.page_count()) {}

PagedVector::~PagedVector() {
  for (Page& page : pages_) forget(page);
}

void PagedVector::forget(Page& page) {
  if (page.frame != kAbsent) mirror_.pool.free(std::exchange(page.frame, kAbsent));
  if (page.copy != nullptr) mirror_.pool.free_pinned(std::exchange(page.copy, nullptr));
}

void PagedVector::drop_before(std::uint64_t page) {
  for (std::uint64_t i = mirror_.positions.first_page(); i < page; ++i) {
    forget(pages_.front());
    pages_.pop_front();
  }
}

void PagedVector::drop_from(std::uint64_t position) {
  while (pages_.size() > mirror_.positions.page_count()) {
    forget(pages_.back());
    pages_.pop_back();
  }
  if (pages_.empty()) return;
  Page& last = pages_.back();
  last.written = std::min(last.written, position);
  last.copied = std::min(last.copied, position);
}

void PagedVector::evict() {
  for (Page& page : pages_) {
    if (page.frame != kAbsent) mirror_.pool.free(std::exchange(page.frame, kAbsent));
  }
}

void PagedVector::evict(std::uint64_t number) {
  mirror_.pool.free(std::exchange(page(number).frame, kAbsent));
}

void PagedVector::need(PageRange pages) {
  std::size_t missing = 0;
  for (std::uint64_t at = pages.first; at < pages.last; ++at) {
    if (!source_.is_used(at)) continue;
    const Page& page = this->page(at);
    if (page.frame == kAbsent) {
      ++missing;
    } else if (mirror_.pool.use(page.frame)) {
      ++mirror_.pool.counters().hits;
    }
  }
  mirror_.pool.make_room(missing);
  for (std::uint64_t at = pages.first; at < pages.last; ++at) {
    if (!source_.is_used(at)) continue;
    const Page& page = this->page(at);
    if (page.frame == kAbsent) {
      load(at);
    } else if (page.written < mirror_.positions.end_of(at)) {
      // Events that left the timeline before they were written are gone.
      write(at, std::max(mirror_.positions.first(), page.written));
    }
  }
}

bool PagedVector::has(PageRange pages) const {
  for (std::uint64_t at = pages.first; at < pages.last; ++at) {
    if (!source_.is_used(at)) continue;
    const Page& page = this->page(at);
    if (page.frame == kAbsent || page.written < mirror_.positions.end_of(at)) return false;
  }
  return true;
}

/// Loads a page. One that has been there is likely to be needed again: it gets a copy in pinned
/// memory.
void PagedVector::load(std::uint64_t number) {
  Page& page = this->page(number);
  PageCounters& counters = mirror_.pool.counters();
  ++(page.was_there ? counters.swapped_in : counters.uploaded);
  if (page.was_there && source_.is_constant()) {
    fetch(number);
    mirror_.pool.use(page.frame);
  } else {
    page.frame = mirror_.pool.take(*this, number);
    page.was_there = true;
    mirror_.pool.use(page.frame);
    write(number, std::max(mirror_.positions.first(), mirror_.positions.begin_of(number)));
  }
}

void PagedVector::fetch(std::uint64_t number) {
  const std::uint64_t begin = mirror_.positions.begin_of(number);
  const std::uint64_t end = mirror_.positions.end_of(number);
  Page& page = this->page(number);
  if (page.copy == nullptr) {
    page.copy = mirror_.pool.take_pinned();
    page.copied = begin;
  }
  // Events that left the timeline before they were copied are gone.
  const std::uint64_t first = std::max(mirror_.positions.first(), page.copied);
  if (first < end) {
    std::ranges::copy(words(first, end), page.copy + (first - begin));
    page.copied = end;
  }
  page.frame = mirror_.pool.take(*this, number);
  page.was_there = true;
  page.written = end;
  mirror_.pool.order(page.frame, page.copy);
}

/// Writes the words of a page from a position on.
void PagedVector::write(std::uint64_t number, std::uint64_t first) {
  constexpr std::uint64_t kPart = 1 << 16;  // a device takes no more at a time
  const std::uint64_t begin = mirror_.positions.begin_of(number);
  const std::uint64_t end = mirror_.positions.end_of(number);
  Page& page = this->page(number);
  for (std::uint64_t last; first < end; first = last) {
    last = std::min(end, first + kPart);
    const auto offset = static_cast<std::uint32_t>(first - begin);
    mirror_.device.write(page.frame, offset, words(first, last));
  }
  page.written = end;
}

std::size_t PagedVector::absent(PageRange pages) const {
  std::size_t absent = 0;
  for (std::uint64_t at = pages.first; at < pages.last; ++at) {
    if (source_.is_used(at) && page(at).frame == kAbsent) ++absent;
  }
  return absent;
}

std::size_t PagedVector::missing(PageRange pages) const {
  if (!source_.is_constant()) return 0;
  return absent({pages.first, std::min(pages.last, mirror_.positions.full_until())});
}

std::size_t PagedVector::prefetch(PageRange pages, std::size_t most) {
  if (!source_.is_constant()) return 0;
  PageCounters& counters = mirror_.pool.counters();
  std::size_t done = 0;
  for (std::uint64_t at = pages.first; at < pages.last && done < most; ++at) {
    if (!mirror_.positions.is_full(at)) break;
    const Page& page = this->page(at);
    if (page.frame != kAbsent || !source_.is_used(at)) continue;
    if (page.was_there) ++counters.swapped_in;
    ++counters.prefetched;
    fetch(at);
    ++done;
  }
  return done;
}

void PagedVector::overwrite(std::uint64_t position, const std::uint64_t& word) {
  const std::uint64_t number = mirror_.positions.page_of(position);
  const Page& page = this->page(number);
  if (page.frame == kAbsent || position >= page.written) return;
  const auto offset = static_cast<std::uint32_t>(position - mirror_.positions.begin_of(number));
  mirror_.device.write(page.frame, offset, {&word, 1});
}

void PagedVector::write_table(std::uint32_t* to) const {
  for (const Page& page : pages_) *to++ = page.frame == kAbsent ? 0 : page.frame;
}

}  // namespace gorgo::engine
