#include "tools/event_stream.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace gorgo::tools {
namespace {

constexpr std::size_t kMaxLine = 16 << 20;
// Enough for a full batch of usual events. It bounds what events that have few attributes in common
// take in columns.
constexpr std::size_t kMaxBytes = 16 << 20;

}  // namespace

EventStream::~EventStream() {
  if (file_ > STDIN_FILENO) close(file_);
}

Result<void> EventStream::open(const std::string& path) {
  path_ = path == "-" ? "standard input" : path;
  file_ = path == "-" ? STDIN_FILENO : ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file_ < 0) return Error{"cannot open " + path_ + ": " + std::strerror(errno), ""};
  struct stat status = {};
  if (fstat(file_, &status) == 0 && S_ISREG(status.st_mode)) {
    size_ = static_cast<std::uint64_t>(status.st_size);
  }
  return {};
}

ReadEvents EventStream::take() { return std::exchange(gathered_, {}); }

bool EventStream::is_full() const {
  const BatchBuilder& events = gathered_.events;
  return events.events() >= most_ || events.bytes() >= kMaxBytes || events.full();
}

// Each function below that returns a bool returns false when a callback wants no more.

Result<bool> EventStream::take_line(std::string_view line, const Callbacks& callbacks) {
  using Kind = codec::LineContent::Kind;
  const auto read = reader_->next(line, gathered_.events);
  if (!read && reader_->broken()) {
    return Error{path_ + ": " + read.error().message, read.error().hint};
  }
  if (!read) return callbacks.bad_line(read.error());
  if (read->kind == Kind::tick) return callbacks.tick(read->timestamp);
  if (read->kind == Kind::nothing) return true;
  gathered_.lines.push_back(reader_->line());
  return !is_full() || callbacks.full();
}

Result<bool> EventStream::read_block(const Callbacks& callbacks) {
  while (const auto line = lines_.next()) {
    const auto taken = take_line(*line, callbacks);
    if (!taken || !*taken) return taken;
  }
  if (lines_.open() > kMaxLine) {
    return Error{path_ + ": a line is longer than 16 MiB", "is it a file of event lines?"};
  }
  return callbacks.pause();
}

Result<void> EventStream::read(const Callbacks& callbacks) {
  const auto more = read_all(callbacks);
  if (!more || *more) callbacks.pause();
  if (!more) return more.error();
  return {};
}

Result<bool> EventStream::read_all(const Callbacks& callbacks) {
  while (true) {
    const auto space = lines_.space();
    const auto size = ::read(file_, space.data, space.size);
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) return Error{"cannot read " + path_ + ": " + std::strerror(errno), ""};
    if (size == 0) break;
    lines_.fill(static_cast<std::size_t>(size));
    read_ += static_cast<std::uint64_t>(size);
    const auto more = read_block(callbacks);
    if (!more || !*more) return more;
  }
  if (const auto rest = lines_.rest()) {
    const auto taken = take_line(*rest, callbacks);
    if (!taken || !*taken) return taken;
  }
  const auto end = reader_->finish();
  return end || callbacks.bad_line(end.error());
}

}  // namespace gorgo::tools
