#include "doors/lines/stdin_source.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace gorgo::doors {

StdinSource::StdinSource(const Settings& settings, const Types& types, int file)
    : file_(file),
      wake_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      reader_(settings, types, "stdin") {}

StdinSource::~StdinSource() { close(wake_); }

void StdinSource::wake() { eventfd_write(wake_, 1); }

bool StdinSource::wait(std::chrono::milliseconds patience) const {
  pollfd files[] = {{wake_, POLLIN, 0}, {file_, POLLIN, 0}};
  const nfds_t count = has_ended_ ? 1 : 2;
  ::poll(files, count, static_cast<int>(patience.count()));
  eventfd_t calls = 0;
  eventfd_read(wake_, &calls);
  return count == 2 && files[1].revents != 0;
}

Result<void> StdinSource::fill() {
  const auto space = lines_.space();
  const auto size = read(file_, space.data, space.size);
  if (size < 0 && (errno == EINTR || errno == EAGAIN)) return {};
  if (size < 0)
    return Error{std::string("cannot read the standard input: ") + std::strerror(errno), ""};
  lines_.fill(static_cast<std::size_t>(size));
  has_ended_ = size == 0;
  return {};
}

Result<Arrived> StdinSource::poll(std::chrono::milliseconds patience) {
  Arrived arrived;
  reader_.begin_batch();
  const auto take = [&] {
    while (!arrived.full()) {
      const auto line = lines_.next();
      if (!line) return;
      reader_.take(*line, arrived);
    }
  };
  take();
  if (arrived.empty() && wait(patience)) {
    if (auto filled = fill(); !filled) return filled.error();
    take();
    if (lines_.open() > kMostLine || has_ended_) {
      if (const auto rest = lines_.rest()) reader_.take(*rest, arrived);
      lines_ = {};
    }
    if (has_ended_) reader_.end(arrived);
  }
  return {std::in_place, std::move(arrived)};
}

}  // namespace gorgo::doors
