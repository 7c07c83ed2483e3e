#pragma once

#include <cstddef>

/// Memory that the kernel gives page by page when it is first written. Addresses and sizes are
/// multiples of `kPage`. Thread-safe, as long as each range is the business of one thread.
namespace gorgo::history::mapped_memory {

/// A huge page, where the kernel has some.
inline constexpr std::size_t kPage = 2 * 1024 * 1024;

/// The next multiple of a page.
constexpr std::size_t in_pages(std::size_t bytes) { return (bytes + kPage - 1) / kPage * kPage; }

/// Where in its first page the next range is best begun: sequences that grow together then come to
/// their next pages at different times.
std::size_t next_beginning();
/// A range of so many bytes, which are 0. Throws bad_alloc.
std::byte* map(std::size_t bytes);
/// Gives back a range, or a part of one at its beginning or end.
void unmap(std::byte* memory, std::size_t bytes);
/// Has a whole range stand at the beginning of a larger one. It is the pages that move, so that the
/// time hardly depends on how much there is. When it throws bad_alloc, nothing has changed.
std::byte* move(std::byte* memory, std::size_t bytes, std::size_t larger);
/// What is written from now on takes huge pages: what is read here and there then misses the
/// address cache of the processor less often. A hint.
void prefer_huge_pages(std::byte* memory, std::size_t bytes);
/// Has a thread of its own take these pages from the kernel before they are written, because a huge
/// page may take milliseconds. A hint, which is forgotten when the range moves or goes.
void prepare(std::byte* memory, std::size_t bytes);

}  // namespace gorgo::history::mapped_memory
