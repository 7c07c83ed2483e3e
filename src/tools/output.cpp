#include "tools/output.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "tools/commands.hpp"

namespace gorgo::tools {

int fail(const std::string& message) {
  std::fprintf(stderr, "gorgo: %s\n", message.c_str());
  return kFailure;
}

int fail(const Error& error) { return fail(error.to_string()); }

int misuse(const Error& error) {
  fail(error);
  return kUsage;
}

void print_diagnostics(const Diagnostics& diagnostics, const std::string& format) {
  for (const Diagnostic& diagnostic : diagnostics.list) {
    if (format == "json") {
      std::puts(render_json(diagnostic).c_str());
    } else {
      std::fputs(render(diagnostic).c_str(), stderr);
    }
  }
}

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
