#include "tools/progress.hpp"

#include <unistd.h>

#include <cstdio>

namespace gorgo::tools {
namespace {

constexpr std::chrono::milliseconds kPause{250};

}  // namespace

Progress::Progress()
    : terminal_(isatty(STDERR_FILENO) == 1), start_(Clock::now()), next_(start_ + kPause) {}

void Progress::show(std::uint64_t events) {
  if (!terminal_) return;
  const auto now = Clock::now();
  if (now < next_) return;
  next_ = now + kPause;
  const double seconds = std::chrono::duration<double>(now - start_).count();
  std::fprintf(stderr, "\r%llu events, %.0f/s\033[K", static_cast<unsigned long long>(events),
               static_cast<double>(events) / seconds);
  shown_ = true;
}

void Progress::show(std::string_view text) {
  if (!terminal_) return;
  std::fprintf(stderr, "\r%.*s\033[K", static_cast<int>(text.size()), text.data());
  shown_ = true;
}

void Progress::clear() {
  if (!shown_) return;
  std::fputs("\r\033[K", stderr);
  shown_ = false;
}

}  // namespace gorgo::tools
