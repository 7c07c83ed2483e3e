#include "server/security/secret_file.hpp"

#include <sys/stat.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "base/file.hpp"

namespace gorgo::server {
namespace {

constexpr std::size_t kMostSecrets = std::size_t{16} << 20;
/// What nobody but the owner may do, save that the group may read.
constexpr mode_t kTooWide = S_IWGRP | S_IXGRP | S_IRWXO;

}  // namespace

Result<void> check_secret_file(const std::string& path) {
  struct stat status {};
  if (stat(path.c_str(), &status) != 0) {
    return Error{"cannot read " + path + ": " + std::strerror(errno), ""};
  }
  if ((status.st_mode & kTooWide) != 0) {
    std::array<char, 8> mode{};
    std::snprintf(mode.data(), mode.size(), "%04o", status.st_mode & 07777u);
    return Error{
        path + " holds secrets and has the rights " + mode.data() + ", which let others in",
        "chmod 600 " + path + ", or 640 for a group of its own"};
  }
  return {};
}

Result<std::string> read_secret_file(const std::string& path) {
  if (auto checked = check_secret_file(path); !checked) return checked.error();
  return read_regular_file(path, kMostSecrets);
}

}  // namespace gorgo::server
