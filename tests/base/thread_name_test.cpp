#include "base/thread_name.hpp"

#include <gtest/gtest.h>
#include <pthread.h>

#include <array>
#include <string>
#include <thread>

namespace gorgo {
namespace {

/// The name that a thread has which does this.
template <class F>
std::string name_behind(F&& f) {
  std::array<char, 16> name{};
  std::thread([&] {
    f();
    pthread_getname_np(pthread_self(), name.data(), name.size());
  }).join();
  return name.data();
}

TEST(ThreadName, IsCutWhereThereIsNoRoom) {
  EXPECT_EQ(name_behind([] { name_thread("engine"); }), "engine");
  EXPECT_EQ(name_behind([] { name_thread("a thread with a long name"); }), "a thread with a");
  EXPECT_EQ(name_behind([] { name_thread("door", "plant"); }), "door plant");
  EXPECT_EQ(name_behind([] { name_thread("a-long-family", "63"); }), "a-long-famil 63");
  EXPECT_EQ(name_behind([] { name_thread("door", "with-a-long-name"); }), "door with-a-lon");
  EXPECT_EQ(name_behind([] { name_thread("", ""); }), " ");
}

}  // namespace
}  // namespace gorgo
