#include "doors/file/tailed_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "doors/hash.hpp"

namespace gorgo::doors {
namespace {

constexpr std::size_t kHead = 256;                        // bytes by which a file is known again
constexpr std::size_t kMostLine = std::size_t{16} << 20;  // bytes

std::uint64_t hash_of_head(int file, std::uint64_t bytes) {
  std::array<char, kHead> head{};
  const auto read = pread(file, head.data(), std::min<std::uint64_t>(bytes, kHead), 0);
  return hash({head.data(), static_cast<std::size_t>(std::max<ssize_t>(read, 0))});
}

Error failed(const std::string& what, const std::string& path) {
  return {"cannot " + what + " " + path + ": " + std::strerror(errno), ""};
}

}  // namespace

Result<std::unique_ptr<TailedFile>> TailedFile::open(const FilePosition& position,
                                                     std::unique_ptr<PayloadReader> reader) {
  const int file = ::open(position.path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0) return failed("open", position.path);
  std::unique_ptr<TailedFile> opened(new TailedFile(file, position, std::move(reader)));
  struct stat status = {};
  if (fstat(file, &status) != 0) return failed("read", position.path);
  if (!S_ISREG(status.st_mode)) return Error{position.path + " is no regular file", ""};
  opened->position_.identity = {status.st_dev, status.st_ino};
  const bool goes_on = position.identity == opened->position_.identity && opened->is_same();
  if (auto begun = opened->begin(goes_on ? position.offset : 0); !begun) return begun.error();
  return {std::in_place, std::move(opened)};
}

TailedFile::~TailedFile() { close(file_); }

Result<std::uint64_t> TailedFile::size() const {
  struct stat status = {};
  if (fstat(file_, &status) != 0) return failed("read", position_.path);
  return static_cast<std::uint64_t>(status.st_size);
}

bool TailedFile::is_same() const {
  const auto bytes = size();
  return bytes && *bytes >= position_.offset &&
         hash_of_head(file_, position_.head_bytes) == position_.head;
}

Result<void> TailedFile::begin(std::uint64_t offset) {
  lines_ = {};
  skips_ = false;
  position_.offset = next_line_ = filled_ = 0;
  position_.head = hash({});
  position_.head_bytes = 0;
  if (offset == 0 || !reader_->has_header()) {
    position_.offset = next_line_ = filled_ = offset;
    return {};
  }
  // The header is read again, because it says what the columns are.
  bool found = false;
  while (!found) {
    const auto more = fill();
    if (!more) return more.error();
    if (const auto line = lines_.next()) {
      found = true;
      if (const auto taken = reader_->header(*line); !taken) {
        return Error{position_.path + ": " + taken.error().message, taken.error().hint};
      }
    } else if (!*more) {
      return Error{position_.path + " has lost its header", ""};
    }
  }
  lines_ = {};
  position_.offset = next_line_ = filled_ = offset;
  return {};
}

Result<bool> TailedFile::fill() {
  const auto space = lines_.space();
  const auto size = pread(file_, space.data, space.size, static_cast<off_t>(filled_));
  if (size < 0 && errno == EINTR) return true;
  if (size < 0) return failed("read", position_.path);
  lines_.fill(static_cast<std::size_t>(size));
  filled_ += static_cast<std::uint64_t>(size);
  return size > 0;
}

Result<TailedFile::Read> TailedFile::read(const TakeLine& take,
                                          const std::function<bool()>& is_full) {
  while (true) {
    while (!is_full()) {
      const auto line = lines_.next();
      if (!line) break;
      take_line(*line, take);
    }
    if (is_full()) return Read::more;
    const auto bytes = size();
    if (!bytes) return bytes.error();
    if (*bytes != filled_ && (*bytes < filled_ || !is_same())) {
      if (auto begun = begin(0); !begun) return begun.error();
    }
    // A file of /proc has more than it says, and would be read for ever.
    if (*bytes == filled_) return Read::end;
    const auto more = fill();
    if (!more) return more.error();
    if (!*more) return Read::end;
    if (lines_.open() > kMostLine) {
      if (!skips_) take(*lines_.rest(), next_line_);
      skips_ = true;
      lines_ = {};
    }
  }
}

void TailedFile::take_line(std::string_view line, const TakeLine& take) {
  const std::uint64_t begin = next_line_;
  if (std::exchange(skips_, false)) {
    next_line_ = filled_ - lines_.open();
    position_.offset = next_line_;
    return;
  }
  next_line_ += line.size() + 1;
  if (take(line, begin) != PayloadReader::Outcome::open) position_.offset = next_line_;
}

void TailedFile::take_rest(const TakeLine& take) {
  const auto rest = lines_.rest();
  if (!rest || skips_) return;
  const std::uint64_t begin = next_line_;
  next_line_ += rest->size();
  take(*rest, begin);
  position_.offset = next_line_;
}

const FilePosition& TailedFile::position() {
  const std::uint64_t known = std::min<std::uint64_t>(position_.offset, kHead);
  if (known > position_.head_bytes) {
    position_.head = hash_of_head(file_, known);
    position_.head_bytes = known;
  }
  return position_;
}

}  // namespace gorgo::doors
