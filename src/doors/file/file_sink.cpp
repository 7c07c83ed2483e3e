#include "doors/file/file_sink.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace gorgo::doors {
namespace {

bool is_same_file(const std::string& path, int file) {
  struct stat named = {}, open = {};
  return stat(path.c_str(), &named) == 0 && fstat(file, &open) == 0 &&
         named.st_dev == open.st_dev && named.st_ino == open.st_ino;
}

/// Whether a line that has no end may be one of ours, which a crash has cut off.
bool is_ours(std::string_view line) {
  constexpr std::string_view kBegin = R"({"id":")";
  return line.substr(0, kBegin.size()) == kBegin.substr(0, line.size());
}

}  // namespace

FileSink::~FileSink() {
  if (file_ >= 0) close(file_);
}

Error FileSink::failed(const std::string& what) const {
  return {"cannot " + what + " " + path_ + ": " + std::strerror(errno), ""};
}

Result<void> FileSink::open() {
  if (file_ >= 0 && is_same_file(path_, file_)) return {};
  if (file_ >= 0) close(file_);
  file_ = ::open(path_.c_str(), O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC, 0640);
  if (file_ < 0) return failed("open");
  auto found = find_end();
  if (found) return {};
  close(file_);
  file_ = -1;
  return found;
}

Result<void> FileSink::find_end() {
  constexpr off_t kStep = 64 << 10;
  struct stat status = {};
  if (fstat(file_, &status) != 0) return failed("read");
  std::string tail;
  off_t begin = status.st_size;
  // Back to the line end before the last whole line.
  while (begin > 0 && std::ranges::count(tail, '\n') < 2) {
    const off_t size = std::min(kStep, begin);
    std::string part(static_cast<std::size_t>(size), '\0');
    begin -= size;
    if (pread(file_, part.data(), part.size(), begin) != size) return failed("read");
    tail.insert(0, part);
  }
  const std::size_t end = tail.rfind('\n');
  const std::size_t whole = end == tail.npos ? 0 : end + 1;
  if (!is_ours(std::string_view(tail).substr(whole))) {
    return Error{path_ + " ends within a line that no door has written",
                 "give the line an end, or the door another file"};
  }
  if (whole < tail.size() && ftruncate(file_, begin + static_cast<off_t>(whole)) != 0) {
    return failed("cut");
  }
  if (whole == 0) return {};
  const std::size_t before = end == 0 ? tail.npos : tail.rfind('\n', end - 1);
  const std::size_t first = before == tail.npos ? 0 : before + 1;
  const auto place = place_in(std::string_view(tail).substr(first, end - first));
  if (place && (!last_ || *last_ < *place)) last_ = place;
  return {};
}

Result<void> FileSink::send(const Departing& events) {
  if (auto opened = open(); !opened) return opened;
  std::string text;
  for (const Departing::Row& row : events.rows) {
    if (repeated_ == Repeated::left_out && last_ && row.place <= *last_) continue;
    append_line(text, row);
    text += '\n';
  }
  if (text.empty()) return {};
  struct stat before = {};
  if (fstat(file_, &before) != 0) return failed("read");
  auto written = write(text);
  if (!written) {
    // Once the file has another name, nobody would remove a part of a line.
    if (ftruncate(file_, before.st_size) != 0) written = failed("cut");
    close(file_);  // and what stands in it is found out anew
    file_ = -1;
    return written;
  }
  last_ = events.rows.back().place;
  return {};
}

Result<void> FileSink::write(std::string_view text) {
  while (!text.empty()) {
    const auto size = ::write(file_, text.data(), text.size());
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) return failed("write to");
    text.remove_prefix(static_cast<std::size_t>(size));
  }
  if (fdatasync(file_) != 0) return failed("sync");
  return {};
}

}  // namespace gorgo::doors
