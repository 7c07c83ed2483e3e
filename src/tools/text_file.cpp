#include "tools/text_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <system_error>

#include "base/file.hpp"

namespace gorgo::tools {
namespace {

namespace fs = std::filesystem;

/// What the system says of the call that has failed.
Error of_system() { return {std::strerror(errno), ""}; }

Result<void> write_into(const fs::path& file, std::string_view text) {
  errno = 0;
  std::ofstream open(file, std::ios::binary | std::ios::trunc);
  open.write(text.data(), static_cast<std::streamsize>(text.size()));
  open.close();
  if (!open) return of_system();
  return {};
}

/// Puts it on the disk with the permissions, and where possible the owner, of the file `like`.
Result<void> settle(const fs::path& file, const fs::path& like) {
  const int number = open(file.c_str(), O_RDONLY | O_CLOEXEC);
  if (number < 0) return of_system();
  struct stat before = {};
  bool done = true;
  if (stat(like.c_str(), &before) == 0) {
    [[maybe_unused]] const int owned = fchown(number, before.st_uid, before.st_gid);
    done = fchmod(number, before.st_mode & 07777) == 0;
  }
  done = done && fsync(number) == 0;
  const int code = errno;
  close(number);
  errno = code;
  if (!done) return of_system();
  return {};
}

/// Gives the name `target` to a new file.
Result<void> replace(const fs::path& target, std::string_view text) {
  const fs::path fresh = target.string() + "." + std::to_string(getpid()) + ".new";
  auto done = write_into(fresh, text);
  if (done) done = settle(fresh, target);
  if (done && std::rename(fresh.c_str(), target.c_str()) != 0) done = of_system();
  if (!done) unlink(fresh.c_str());
  return done;
}

}  // namespace

Result<std::string> read_text(const std::string& path) {
  return path == "-" ? read_open_file(STDIN_FILENO, "standard input") : read_file(path);
}

Result<void> write_text_file(const std::string& path, std::string_view text) {
  std::error_code unknown;
  const fs::path target = fs::weakly_canonical(path, unknown);
  const auto there = fs::status(path, unknown).type();
  const bool replaces = there == fs::file_type::not_found || there == fs::file_type::regular;
  const auto written = replaces ? replace(target, text) : write_into(path, text);
  if (written) return {};
  return Error{"cannot write " + path + ": " + written.error().message, ""};
}

}  // namespace gorgo::tools
