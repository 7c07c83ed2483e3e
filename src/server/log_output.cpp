#include "server/log_output.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>

namespace gorgo::server {
namespace {

/// Waits for nothing. The system has taken less than it was given where it has room for less.
ssize_t write_some(int file, std::string_view bytes) {
  const ssize_t sent = send(file, bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
  if (sent >= 0 || errno != ENOTSOCK) return sent;
  // A pipe with any room takes so many bytes at once, and a file or a terminal all.
  return ::write(file, bytes.data(), std::min<std::size_t>(bytes.size(), PIPE_BUF));
}

}  // namespace

void LogOutput::write(std::string_view line) {
  constexpr int kPatience = 100;  // milliseconds
  if (put(line)) return;
  if (is_stuck_ || !await_room(kPatience)) {
    is_stuck_ = true;
    lost_.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  put(line);
}

std::uint64_t LogOutput::take_lost() {
  if (lost_.load(std::memory_order_relaxed) == 0 || !await_room(0)) return 0;
  return lost_.exchange(0, std::memory_order_relaxed);
}

bool LogOutput::await_room(int milliseconds) const {
  pollfd watched{.fd = file_, .events = POLLOUT, .revents = 0};
  return poll(&watched, 1, milliseconds) == 1 && (watched.revents & POLLOUT) != 0;
}

/// Returns false where there is no room for the beginning of the line. Where there is none for the
/// rest, or the reader has gone, the rest is lost.
bool LogOutput::put(std::string_view line) {
  bool begun = false;
  while (!line.empty()) {
    if (!await_room(0)) return begun;
    const ssize_t written = write_some(file_, line);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno != EAGAIN && errno != EWOULDBLOCK;
    line.remove_prefix(static_cast<std::size_t>(written));
    begun = true;
    is_stuck_ = false;
  }
  return true;
}

}  // namespace gorgo::server
