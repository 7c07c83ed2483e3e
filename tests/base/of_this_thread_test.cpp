#include "base/of_this_thread.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cstdlib>
#include <string>
#include <thread>

namespace gorgo {
namespace {

TEST(OfThisThread, EachThreadHasItsOwn) {
  of_this_thread<std::string>() = "first";
  std::thread([] {
    EXPECT_EQ(of_this_thread<std::string>(), "");
    of_this_thread<std::string>() = "second";
    EXPECT_EQ(of_this_thread<std::string>(), "second");
  }).join();
  EXPECT_EQ(of_this_thread<std::string>(), "first");
}

struct WithDestructor {
  ~WithDestructor() { value = 0; }
  int value = 7;
};

/// Takes all memory that the process may have. Sanitizers leave its test out.
[[maybe_unused]] void take_all_memory() {
  const rlimit limit{std::size_t{256} << 20, std::size_t{256} << 20};
  setrlimit(RLIMIT_AS, &limit);
  void* volatile taken = nullptr;  // volatile, or the compiler takes the calls out
  for (std::size_t size = std::size_t{1} << 20; size >= 16; size /= 2) {
    do {
      taken = std::malloc(size);
    } while (taken != nullptr);
  }
}

TEST(OfThisThread, WithoutMemoryItThrows) {
#ifdef GORGO_SANITIZED
  GTEST_SKIP() << "sanitizers need more address space than that";
#else
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        take_all_memory();
        try {
          of_this_thread<WithDestructor>();
        } catch (const std::bad_alloc&) {
          _exit(3);
        }
        _exit(4);
      },
      testing::ExitedWithCode(3), "");
#endif
}

}  // namespace
}  // namespace gorgo
