#include "base/thread_name.hpp"

#include <pthread.h>

#include <algorithm>
#include <array>
#include <cstddef>

namespace gorgo {
namespace {

constexpr std::size_t kRoom = 15;

}  // namespace

void name_thread(std::string_view name) noexcept {
  std::array<char, kRoom + 1> text{};
  std::copy_n(name.data(), std::min(name.size(), kRoom), text.data());
  pthread_setname_np(pthread_self(), text.data());
}

void name_thread(std::string_view name, std::string_view which) noexcept {
  std::array<char, kRoom> text{};
  const std::size_t room = kRoom - 1 - std::min<std::size_t>(which.size(), 10);
  char* end = std::copy_n(name.data(), std::min(name.size(), room), text.data());
  *end++ = ' ';
  const auto left = static_cast<std::size_t>(text.data() + kRoom - end);
  end = std::copy_n(which.data(), std::min(which.size(), left), end);
  name_thread({text.data(), static_cast<std::size_t>(end - text.data())});
}

}  // namespace gorgo
