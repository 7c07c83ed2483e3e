#include "cuda/workshop.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <thread>

namespace gorgo::gpu {
namespace {

TEST(Workshop, DoesJobsInTheirOrder) {
  std::promise<int> done;
  int last = 0;
  Workshop workshop;
  for (int i = 1; i <= 10; ++i) workshop.order([&last, i] { last = last == i - 1 ? i : -1; });
  workshop.order([&] { done.set_value(last); });
  EXPECT_EQ(done.get_future().get(), 10);
}

TEST(Workshop, EndsTheJobThatIsBeingDoneWhenItStopsAndDoesNoOther) {
  std::promise<void> begun;
  std::atomic<bool> ended = false, other = false;
  Workshop workshop;
  workshop.order([&] {
    begun.set_value();
    std::this_thread::yield();
    ended = true;
  });
  begun.get_future().wait();
  workshop.stop();
  EXPECT_TRUE(ended);
  workshop.order([&] { other = true; });
  workshop.stop();
  EXPECT_FALSE(other);
}

}  // namespace
}  // namespace gorgo::gpu
