#include "tools/text_file.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>

#include "base/file.hpp"

namespace gorgo::tools {

Result<std::string> read_text(const std::string& path) {
  return path == "-" ? read_open_file(STDIN_FILENO, "standard input") : read_file(path);
}

Result<void> write_text_file(const std::string& path, std::string_view text) {
  errno = 0;
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file.write(text.data(), static_cast<std::streamsize>(text.size()));
  file.close();
  if (!file) return Error{"cannot write " + path + ": " + std::strerror(errno), ""};
  return {};
}

}  // namespace gorgo::tools
