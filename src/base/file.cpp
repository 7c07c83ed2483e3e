#include "base/file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

namespace gorgo {
namespace {

constexpr std::size_t kChunk = 64 << 10;

/// An open file, closed with the object.
class Descriptor {
 public:
  explicit Descriptor(int file) : file_(file) {}
  ~Descriptor() {
    if (file_ >= 0) close(file_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  int get() const { return file_; }

 private:
  int file_;
};

Error cannot_read(const std::string& name, const std::string& why, std::string hint = "") {
  return {"cannot read " + name + ": " + why, std::move(hint)};
}

Error cannot_open(const std::string& path, int code) {
  std::string why = std::strerror(code);
  std::error_code not_a_link;
  if (const auto target = std::filesystem::read_symlink(path, not_a_link); !not_a_link) {
    why += ", behind the link to " + target.string();
  }
  return cannot_read(path, why);
}

Result<std::string> read(const std::string& path, std::size_t most, bool only_regular) {
  // Opening a pipe waits for its other end unless it is told not to.
  const int flags = O_RDONLY | O_CLOEXEC | (only_regular ? O_NONBLOCK : 0);
  const Descriptor file(open(path.c_str(), flags));
  struct stat status = {};
  if (file.get() < 0 || fstat(file.get(), &status) != 0) return cannot_open(path, errno);
  if (S_ISDIR(status.st_mode)) return cannot_read(path, "it is a folder");
  if (only_regular && !S_ISREG(status.st_mode)) {
    return cannot_read(path, "it is no regular file", "copy its content into one");
  }
  return read_open_file(file.get(), path, most);
}

Error too_large(int file, const std::string& name, std::size_t most) {
  struct stat status = {};
  if (fstat(file, &status) == 0 && S_ISCHR(status.st_mode)) {
    return cannot_read(name, "it is a device that does not end");
  }
  return cannot_read(name, "it is larger than " + std::to_string(most) + " bytes");
}

}  // namespace

Result<std::string> read_open_file(int file, const std::string& name, std::size_t most) {
  std::string text;
  while (true) {
    const std::size_t size = text.size();
    text.resize(size + std::max(kChunk, size));
    const auto got = ::read(file, text.data() + size, text.size() - size);
    const int code = errno;
    text.resize(size + (got > 0 ? static_cast<std::size_t>(got) : 0));
    if (got < 0 && code != EINTR) return cannot_read(name, std::strerror(code));
    if (text.size() > most) return too_large(file, name, most);
    // A string could make an Error as well: say which of the two it is.
    if (got == 0) return {std::in_place, std::move(text)};
  }
}

Result<std::string> read_regular_file(const std::string& path, std::size_t most) {
  return read(path, most, true);
}

Result<std::string> read_file(const std::string& path, std::size_t most) {
  return read(path, most, false);
}

}  // namespace gorgo
