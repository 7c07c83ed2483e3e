#pragma once

/// Memory that the process sets aside for the time when the system has no more. Whoever allocates
/// then, on any thread, gets it: so an evaluation, a delivery or a change of rules that has begun
/// comes to its end. Until the memory is set aside again, nothing new should be begun.
///
/// One for the process, because the allocator is. Thread-safe; allocates nothing.
namespace gorgo::server::memory_reserve {

/// Sets the memory aside unless it is, from now on for whoever fails to allocate. False: the system
/// has too little.
bool take();

/// Whether it was given up, and could not be set aside again since.
bool is_given_up();

}  // namespace gorgo::server::memory_reserve
