#include "tools/progress.hpp"

#include <unistd.h>

#include <cstdio>
#include <string>

#include "tools/number_text.hpp"

namespace gorgo::tools {
namespace {

constexpr std::chrono::milliseconds kPause{250};

}  // namespace

Progress::Progress()
    : terminal_(isatty(STDERR_FILENO) == 1), start_(Clock::now()), next_(start_ + kPause) {}

bool Progress::is_due() {
  if (!terminal_) return false;
  const auto now = Clock::now();
  if (now < next_) return false;
  next_ = now + kPause;
  return true;
}

void Progress::show(double part, std::uint64_t events) {
  if (!is_due()) return;
  const int share = static_cast<int>(part * 100);
  std::string bar(static_cast<std::size_t>(share / 5), '#');
  bar.resize(20, '.');
  show("[" + bar + "] " + std::to_string(share) + " %  " + plural(events, "event"));
}

void Progress::show(std::uint64_t events) {
  if (!is_due()) return;
  const double seconds = std::chrono::duration<double>(Clock::now() - start_).count();
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
