#pragma once

#include <cstddef>
#include <new>

namespace gorgo {

/// Makes the object of `of_this_thread`.
template <class T>
[[gnu::noinline]] T& make_of_this_thread() {
  constexpr std::size_t kRoom = std::size_t{1} << 14;
  void* volatile room = ::operator new(kRoom);  // volatile, or the compiler takes both calls out
  ::operator delete(room);
  thread_local T object;
  return object;
}

/// The object of this type that the calling thread has. It is made when the thread first asks for
/// it, and ends with the thread. Throws what its constructor throws, and bad_alloc.
///
/// A plain `thread_local` with a destructor is no way to do that where memory may run out: the C
/// library ends the process when it finds none for noting the destructor. So some memory is taken
/// first and given back, from which the few bytes for that come. Another thread that shares the
/// same arena of the allocator could take it in between, which takes memory to end at that moment.
template <class T>
T& of_this_thread() {
  constinit thread_local T* object = nullptr;
  if (object == nullptr) object = &make_of_this_thread<T>();
  return *object;
}

}  // namespace gorgo
