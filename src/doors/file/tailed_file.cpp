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
// File systems have coarse clocks, some of two seconds: a file that is written to twice within a
// step of them has the same time of change.
constexpr std::chrono::seconds kClockStep{2};

/// The first bytes of the file, as many as there are.
std::string head_of(int file, std::uint64_t bytes) {
  std::array<char, kHead> head{};
  const auto read = pread(file, head.data(), std::min<std::uint64_t>(bytes, kHead), 0);
  return {head.data(), static_cast<std::size_t>(std::max<ssize_t>(read, 0))};
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
  const bool goes_on = position.identity == opened->position_.identity && opened->is_known();
  if (auto begun = opened->begin(goes_on ? position.offset : 0); !begun) return begun.error();
  return {std::in_place, std::move(opened)};
}

TailedFile::~TailedFile() { close(file_); }

Result<TailedFile::Look> TailedFile::look() const {
  struct stat status = {};
  if (fstat(file_, &status) != 0) return failed("read", position_.path);
  return Look{static_cast<std::uint64_t>(status.st_size),
              {status.st_ctim.tv_sec, status.st_ctim.tv_nsec}};
}

bool TailedFile::is_known() const {
  const auto there = look();
  return there && there->size >= position_.offset &&
         hash(head_of(file_, position_.head_bytes)) == position_.head;
}

/// Nobody can set back the time of change, as one can that of writing.
bool TailedFile::is_replaced(const Look& look) {
  const auto now = Clock::now();
  if (std::exchange(changed_, look.changed) != look.changed) settled_ = now + kClockStep;
  if (look.size == filled_ && compared_ >= settled_) return false;
  compared_ = now;
  return look.size < filled_ || head_of(file_, head_.size()) != head_;
}

Result<void> TailedFile::begin(std::uint64_t offset) {
  lines_ = {};
  head_ = head_of(file_, offset);
  skips_ = false;
  refused_header.reset();
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
  const auto bytes = static_cast<std::size_t>(size);
  if (head_.size() == filled_) head_.append(space.data, std::min(bytes, kHead - head_.size()));
  lines_.fill(bytes);
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
    const auto there = look();
    if (!there) return there.error();
    if (is_replaced(*there)) {
      if (auto begun = begin(0); !begun) return begun.error();
    }
    // A file of /proc has more than it says, and would be read for ever.
    if (there->size == filled_) return Read::end;
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
  const std::uint64_t known = std::min<std::uint64_t>(position_.offset, head_.size());
  if (known > position_.head_bytes) {
    position_.head = hash(std::string_view(head_).substr(0, known));
    position_.head_bytes = known;
  }
  return position_;
}

}  // namespace gorgo::doors
