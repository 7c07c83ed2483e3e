#include "history/page_range.hpp"

#include <sys/mman.h>

#include <atomic>
#include <cassert>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <exception>
#include <new>

#include "history/page_preparer.hpp"

namespace gorgo::history {
namespace {

constexpr std::size_t kPage = PageRange::kPage;

/// Addresses that begin at a multiple of a page, or null. They take memory when they are written.
std::byte* find_region(std::size_t bytes) {
  const std::size_t all = bytes + kPage;
  void* const found = mmap(nullptr, all, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (found == MAP_FAILED) return nullptr;
  auto* const begin = static_cast<std::byte*>(found);
  const std::size_t before = (kPage - reinterpret_cast<std::uintptr_t>(begin) % kPage) % kPage;
  if (before > 0) munmap(begin, before);
  munmap(begin + before + bytes, all - before - bytes);
  // What is read here and there then misses the address cache of the processor less often.
  madvise(begin + before, bytes, MADV_HUGEPAGE);
  return begin + before;
}

/// Tries as `operator new` does: whoever can free memory is asked to.
template <class Attempt>
void insist(Attempt attempt) {
  while (!attempt()) {
    const auto handler = std::get_new_handler();
    if (handler == nullptr) throw std::bad_alloc();
    handler();
  }
}

void clear(std::byte* memory, std::size_t bytes) { madvise(memory, bytes, MADV_DONTNEED); }

/// Has the page stand at other addresses of ours, and leaves empty ones. Returns whether the kernel
/// did so; the other addresses are usable in any case.
bool move_page(std::byte* from, std::byte* to) {
  if (mremap(from, kPage, kPage, MREMAP_MAYMOVE | MREMAP_FIXED | MREMAP_DONTUNMAP, to) == to) {
    return true;
  }
  // The kernel may have unmapped the addresses before it failed. Another thread can have them by
  // now only where the kernel ran out of memory for itself at that moment.
  if (msync(to, kPage, MS_ASYNC) == 0 || errno != ENOMEM) return false;
  void* const again =
      mmap(to, kPage, PROT_READ | PROT_WRITE,
           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
  if (again != to) std::terminate();
  return false;
}

void move_content(std::byte* from, std::byte* to, std::size_t bytes) {
  for (std::size_t at = 0; at < bytes; at += kPage) {
    if (move_page(from + at, to + at)) continue;
    std::memcpy(to + at, from + at, kPage);
    clear(from + at, kPage);
  }
}

}  // namespace

std::size_t PageRange::next_beginning() {
  constexpr std::size_t kPlaces = 16;
  static std::atomic<std::size_t> ranges = 0;
  return ranges++ % kPlaces * (kPage / kPlaces);
}

PageRange::PageRange(std::size_t bytes) {
  assert(bytes > 0 && bytes % kPage == 0);
  insist([&] { return try_move_for(bytes) || try_relocate(bytes); });
  size_ = bytes;
}

PageRange::~PageRange() {
  page_preparer::forget(region_, region_bytes_);
  munmap(region_, region_bytes_);
}

void PageRange::grow(std::size_t bytes) {
  assert(bytes % kPage == 0 && bytes > size_);
  if (!has_room_for(bytes)) insist([&] { return try_move_for(bytes) || try_relocate(bytes); });
  page_preparer::add(begin() + size_, bytes - size_);
  size_ = bytes;
}

bool PageRange::turn(std::size_t bytes) {
  assert(bytes % kPage == 0 && bytes <= size_);
  if (!has_room_for(size_ + bytes) && !try_move_for(size_ + bytes)) return false;
  page_preparer::forget(begin(), bytes);
  for (std::size_t at = 0; at < bytes; at += kPage) {
    if (!move_page(begin() + at, begin() + size_ + at)) clear(begin() + at, kPage);
  }
  first_ += bytes;
  return true;
}

void PageRange::drop_front(std::size_t bytes) {
  assert(bytes % kPage == 0 && bytes < size_);
  page_preparer::forget(begin(), bytes);
  clear(begin(), bytes);
  first_ += bytes;
  size_ -= bytes;
}

void PageRange::drop_back(std::size_t bytes) {
  assert(bytes % kPage == 0 && bytes < size_);
  page_preparer::forget(begin(), region_bytes_ - first_);
  size_ -= bytes;
  munmap(begin() + size_, region_bytes_ - first_ - size_);
  if (first_ > 0) munmap(region_, first_);
  region_ += first_;
  region_bytes_ = size_;
  first_ = 0;
}

void PageRange::prepare(std::size_t place) {
  assert(place % kPage == 0 && place < size_);
  page_preparer::add(begin() + place, kPage);
}

/// Moves the range to where so many bytes have room, and half as many to slide by: then each page
/// is moved a few times only while the range slides by its size. Returns whether there is such a
/// place.
bool PageRange::try_move_for(std::size_t bytes) {
  if (bytes + bytes / 4 > region_bytes_) return try_relocate(bytes + in_pages(bytes / 2));
  slide_down();
  return true;
}

/// Moves the range to the beginning of its region.
void PageRange::slide_down() {
  page_preparer::forget(begin(), size_);
  move_content(begin(), region_, size_);
  first_ = 0;
}

/// Moves the range to another region, of so many bytes.
bool PageRange::try_relocate(std::size_t bytes) {
  std::byte* const region = find_region(bytes);
  if (region == nullptr) return false;
  if (region_ != nullptr) {
    page_preparer::forget(region_, region_bytes_);
    move_content(begin(), region, size_);
    munmap(region_, region_bytes_);
  }
  region_ = region;
  region_bytes_ = bytes;
  first_ = 0;
  return true;
}

}  // namespace gorgo::history
