#include "tools/stop_signals.hpp"

#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "tools/output.hpp"

namespace gorgo::tools {
namespace {

sigset_t stop_signals() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGINT);
  sigaddset(&set, SIGTERM);
  return set;
}

}  // namespace

StopSignals::StopSignals() {
  const sigset_t set = stop_signals();
  sigprocmask(SIG_BLOCK, &set, nullptr);
  signals_ = signalfd(-1, &set, SFD_CLOEXEC);
  signal(SIGPIPE, SIG_IGN);
}

StopSignals::~StopSignals() {
  close(signals_);
  const sigset_t set = stop_signals();
  sigprocmask(SIG_UNBLOCK, &set, nullptr);
  signal(SIGPIPE, SIG_DFL);
}

bool StopSignals::wait(Duration duration) {
  const timespec time = {.tv_sec = duration / 1'000'000'000, .tv_nsec = duration % 1'000'000'000};
  pollfd watched = {.fd = signals_, .events = POLLIN, .revents = 0};
  ppoll(&watched, 1, &time, nullptr);
  return watched.revents == 0;
}

Result<bool> StopSignals::write(std::string_view bytes) {
  while (!bytes.empty()) {
    pollfd watched[] = {{.fd = signals_, .events = POLLIN, .revents = 0},
                        {.fd = STDOUT_FILENO, .events = POLLOUT, .revents = 0}};
    if (poll(watched, 2, -1) < 0) return false;
    if (watched[0].revents != 0) return false;
    // A pipe that is ready takes this much without blocking, so a signal is never kept waiting.
    const auto written =
        ::write(STDOUT_FILENO, bytes.data(), std::min<std::size_t>(bytes.size(), PIPE_BUF));
    if (written < 0 && errno == EPIPE) return false;
    if (written < 0) return cannot_write_output(errno);
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

}  // namespace gorgo::tools
