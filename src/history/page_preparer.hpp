#pragma once

#include <cstddef>

/// A thread that takes pages from the kernel before they are written. Thread-safe. Allocates
/// nothing, because it is asked when memory is short, too.
namespace gorgo::history::page_preparer {

/// Takes these pages, one after the other. What was asked for may be forgotten where there is much.
void add(std::byte* memory, std::size_t bytes);
/// Returns when the thread has no more to do with the pages.
void forget(std::byte* memory, std::size_t bytes);

}  // namespace gorgo::history::page_preparer
