#include "tools/event_stream.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "codec/event_line.hpp"

namespace gorgo::tools {
namespace {

constexpr std::size_t kMaxLine = 16 << 20;

}  // namespace

EventStream::~EventStream() {
  if (file_ > STDIN_FILENO) close(file_);
}

Result<void> EventStream::open(const std::string& path) {
  path_ = path == "-" ? "standard input" : path;
  file_ = path == "-" ? STDIN_FILENO : ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file_ < 0) return Error{"cannot open " + path_ + ": " + std::strerror(errno), ""};
  return {};
}

/// False: a callback wants no more.
Result<bool> EventStream::take(std::string_view line, const Callbacks& callbacks) {
  const auto read = reader_->next(line, event_);
  if (read && !*read) return true;
  if (read)
    return codec::is_tick(event_) ? callbacks.tick(*event_.timestamp) : callbacks.event(event_);
  if (reader_->broken()) return Error{path_ + ": " + read.error().message, read.error().hint};
  return callbacks.bad_line(read.error());
}

Result<bool> EventStream::read_block(const Callbacks& callbacks) {
  while (const auto line = lines_.next()) {
    const auto taken = take(*line, callbacks);
    if (!taken || !*taken) return taken;
  }
  if (lines_.open() > kMaxLine) {
    return Error{path_ + ": a line is longer than 16 MiB", "is it a file of event lines?"};
  }
  return callbacks.pause();
}

Result<void> EventStream::read(const Callbacks& callbacks) {
  while (true) {
    const auto space = lines_.space();
    const auto size = ::read(file_, space.data, space.size);
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) return Error{"cannot read " + path_ + ": " + std::strerror(errno), ""};
    if (size == 0) break;
    lines_.fill(static_cast<std::size_t>(size));
    const auto more = read_block(callbacks);
    if (!more) return more.error();
    if (!*more) return {};
  }
  if (const auto rest = lines_.rest()) {
    const auto taken = take(*rest, callbacks);
    if (!taken) return taken.error();
    if (!*taken) return {};
  }
  if (const auto end = reader_->finish(); !end && !callbacks.bad_line(end.error())) return {};
  callbacks.pause();
  return {};
}

}  // namespace gorgo::tools
