#include "tools/color.hpp"

#include <unistd.h>

#include <array>
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

std::string harmless(std::string_view text, std::FILE* stream) {
  if (isatty(fileno(stream)) != 1) return std::string(text);
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const auto next = static_cast<unsigned char>(i + 1 < text.size() ? text[i + 1] : 0);
    // U+0080 to U+009F, which have two bytes in UTF-8, are controls, too.
    const bool is_wide = byte == 0xC2 && next >= 0x80 && next < 0xA0;
    const bool is_control =
        is_wide || byte == 0x7F || (byte < 0x20 && byte != '\n' && byte != '\t');
    if (!is_control) {
      result += text[i];
      continue;
    }
    std::array<char, 8> spelt{};
    std::snprintf(spelt.data(), spelt.size(), "\\x%02x", is_wide ? next : byte);
    result += spelt.data();
    if (is_wide) ++i;
  }
  return result;
}

}  // namespace gorgo::tools
