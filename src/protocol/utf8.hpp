#pragma once

#include <string_view>

namespace gorgo::protocol {

/// Whether the bytes are well-formed UTF-8 (no surrogates, no overlong forms, up to U+10FFFF).
bool is_utf8(std::string_view bytes);

}  // namespace gorgo::protocol
