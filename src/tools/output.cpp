#include "tools/output.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "tools/color.hpp"
#include "tools/commands.hpp"

namespace gorgo::tools {
namespace {

void say(Color color, const std::string& message) {
  std::fprintf(stderr, "%s %s\n", colored(color, "gorgo:", stderr).c_str(),
               harmless(message, stderr).c_str());
}

/// The rendered text, in which the severity stands out.
std::string with_colors(const Diagnostic& diagnostic) {
  std::string text = harmless(render(diagnostic), stderr);
  const bool is_error = diagnostic.severity == Severity::error;
  const std::string word = is_error ? " error: " : " warning: ";
  if (const auto at = text.find(word); at != text.npos) {
    const Color color = is_error ? Color::red : Color::yellow;
    text.replace(at, word.size(), colored(color, word, stderr));
  }
  return text;
}

}  // namespace

int fail(const std::string& message) {
  say(Color::red, message);
  return kFailure;
}

void note(const std::string& message) { say(Color::yellow, message); }

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
      std::fputs(with_colors(diagnostic).c_str(), stderr);
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
