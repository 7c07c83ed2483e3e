#pragma once

#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

namespace gorgo::tools {

enum class Color : std::uint8_t { red, green, yellow, bold };

/// Whether text for a stream may have colours: it goes to a terminal that knows them, and the
/// environment has no NO_COLOR (https://no-color.org).
bool takes_colors(std::FILE* stream);
/// The text in a colour, or as it is where the stream takes none.
std::string colored(Color color, std::string_view text, std::FILE* stream);

/// A text that others have written, as a terminal may have it: control characters, which could move
/// its cursor or do worse, are spelt out where the stream goes to one. Line ends and tabs stay.
std::string harmless(std::string_view text, std::FILE* stream);

}  // namespace gorgo::tools
