#pragma once

#include <cstdio>
#include <string>

namespace gorgo::bench {

/// What std::printf would print, up to 199 bytes.
template <class... Arguments>
std::string print(const char* format, Arguments... arguments) {
  char text[200];
  std::snprintf(text, sizeof text, format, arguments...);
  return text;
}

}  // namespace gorgo::bench
