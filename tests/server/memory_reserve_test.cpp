#include "server/memory_reserve.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cstdlib>
#include <fstream>
#include <memory>
#include <new>
#include <vector>

namespace gorgo::server {
namespace {

constexpr std::size_t kMiB = std::size_t{1} << 20;

using Piece = std::unique_ptr<char[]>;

/// Calls the operator as a function, since a compiler may leave out what a new-expression
/// allocates.
Piece allocate(std::size_t bytes) { return Piece(static_cast<char*>(::operator new[](bytes))); }

/// Lets the process have so much more address space.
void limit_to(std::size_t more) {
  std::size_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  const rlim_t most = pages * 4096 + more;
  const rlimit limit{most, most};
  setrlimit(RLIMIT_AS, &limit);
}

/// Takes a reserve, then all other memory, then a piece that needs the most of `reserve`. Exits
/// with 0 if it gets the piece and with 1 if not.
[[noreturn]] void exhaust(std::size_t reserve, std::size_t piece) {
  limit_to(256 * kMiB);
  if (!memory_reserve::take(reserve)) std::_Exit(2);
  std::vector<Piece> others;
  others.reserve(256);
  // Pieces of this size come from the system one by one, as the reserve does.
  while (!memory_reserve::is_given_up()) others.push_back(allocate(kMiB));
  try {
    const Piece large = allocate(piece);
    std::_Exit(large == nullptr ? 2 : 0);
  } catch (const std::bad_alloc&) {
    std::_Exit(1);
  }
}

TEST(MemoryReserve, WhatHasBegunGetsThatManyBytesInOnePiece) {
#ifdef GORGO_SANITIZED
  GTEST_SKIP() << "sanitizers take terabytes of address space";
#endif
  EXPECT_EXIT(exhaust(96 * kMiB, 90 * kMiB), ::testing::ExitedWithCode(0), "");
  EXPECT_EXIT(exhaust(16 * kMiB, 90 * kMiB), ::testing::ExitedWithCode(1), "");
}

}  // namespace
}  // namespace gorgo::server
