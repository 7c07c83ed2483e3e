#include "cuda/compiler_thread.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <thread>

namespace gorgo::gpu {
namespace {

TEST(CompilerThread, DoesJobsInTheirOrder) {
  std::promise<int> done;
  int last = 0;
  CompilerThread compiler;
  for (int i = 1; i <= 10; ++i) compiler.submit([&last, i] { last = last == i - 1 ? i : -1; });
  compiler.submit([&] { done.set_value(last); });
  EXPECT_EQ(done.get_future().get(), 10);
}

TEST(CompilerThread, EndsTheJobThatIsBeingDoneWhenItStopsAndDoesNoOther) {
  std::promise<void> begun;
  std::atomic<bool> ended = false, other = false;
  CompilerThread compiler;
  compiler.submit([&] {
    begun.set_value();
    std::this_thread::yield();
    ended = true;
  });
  begun.get_future().wait();
  compiler.stop();
  EXPECT_TRUE(ended);
  compiler.submit([&] { other = true; });
  compiler.stop();
  EXPECT_FALSE(other);
}

}  // namespace
}  // namespace gorgo::gpu
