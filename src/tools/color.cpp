#include "tools/color.hpp"

#include <unistd.h>

#include <cstdlib>

namespace gorgo::tools {
namespace {

const char* code_of(Color color) {
  switch (color) {
    case Color::red:
      return "31";
    case Color::green:
      return "32";
    case Color::yellow:
      return "33";
    case Color::bold:
      break;
  }
  return "1";
}

}  // namespace

bool takes_colors(std::FILE* stream) {
  const char* const unwanted = std::getenv("NO_COLOR");
  if (unwanted != nullptr && *unwanted != '\0') return false;
  const char* const terminal = std::getenv("TERM");
  if (terminal == nullptr || std::string_view(terminal) == "dumb") return false;
  return isatty(fileno(stream)) == 1;
}

std::string colored(Color color, std::string_view text, std::FILE* stream) {
  if (!takes_colors(stream)) return std::string(text);
  return std::string("\033[") + code_of(color) + "m" + std::string(text) + "\033[0m";
}

}  // namespace gorgo::tools
