#pragma once

#include <span>
#include <string>
#include <string_view>

#include "journal/disk.hpp"

namespace gorgo::journal {

inline Bytes bytes_of(std::string_view text) { return std::as_bytes(std::span(text)); }

inline std::string text_of(Bytes bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace gorgo::journal
