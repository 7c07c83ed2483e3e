#pragma once

#include <cstdint>
#include <string_view>

namespace gorgo::doors {

/// FNV-1a. It is written down in positions, so it never changes.
inline std::uint64_t hash(std::string_view bytes,
                          std::uint64_t seed = 14'695'981'039'346'656'037u) {
  for (const char byte : bytes) {
    seed = (seed ^ static_cast<unsigned char>(byte)) * 1'099'511'628'211u;
  }
  return seed;
}

}  // namespace gorgo::doors
