#pragma once

#include <cstdio>
#include <string>

namespace gorgo {

/// A length of time for people, three digits and a unit: 950 ns, 1.25 us, 33.1 ms.
inline std::string time_text(double nanoseconds) {
  const char* unit = "ns";
  for (const char* larger : {"us", "ms", "s"}) {
    if (nanoseconds < 999.5) break;
    nanoseconds /= 1000;
    unit = larger;
  }
  const int decimals = nanoseconds < 9.995 ? 2 : nanoseconds < 99.95 ? 1 : 0;
  char text[40];
  std::snprintf(text, sizeof text, "%.*f %s", decimals, nanoseconds, unit);
  return text;
}

}  // namespace gorgo
