#include "tools/output.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

namespace gorgo::tools {

Error cannot_write_output(int code) {
  const std::string why = code == 0 ? "an earlier part was lost" : std::strerror(code);
  return {"cannot write to standard output: " + why, ""};
}

Result<void> flush_output() {
  errno = 0;
  const bool flushed = std::fflush(stdout) == 0;
  if (flushed && std::ferror(stdout) == 0) return {};
  // When an earlier write failed, most files say once more why, even when nothing is written.
  const bool untold = errno == 0;
  if (untold && write(STDOUT_FILENO, "", 0) == 0) errno = 0;
  return cannot_write_output(errno);
}

}  // namespace gorgo::tools
