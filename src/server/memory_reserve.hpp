#pragma once

#include <cstddef>

/// Memory that the process sets aside for the time when the system has no more. Whoever allocates
/// then, on any thread, gets it: so an evaluation, a delivery or a change of rules that has begun
/// comes to its end. Until the memory is set aside again, nothing new should be begun.
///
/// There is one reserve for the process, because there is one allocator. Thread-safe; allocates
/// nothing.
namespace gorgo::server::memory_reserve {

/// Sets so many bytes aside for whoever fails to allocate, unless some are set aside already.
/// False: the system has too little.
bool take(std::size_t bytes);

/// Whether it was given up, and could not be set aside again since.
bool is_given_up();

}  // namespace gorgo::server::memory_reserve
