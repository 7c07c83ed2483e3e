#pragma once

#include <string_view>
#include <vector>

#include "TeslaParser.h"
#include "language/layout.hpp"

namespace gorgo::language {

/// An item without its `;`, each word in its canonical spelling. `text` is the text that was
/// parsed.
std::vector<Piece> pieces_of(grammar::TeslaParser::ItemContext* item, std::string_view text);

/// The first and the last token of an item, without the end that stands for its `;`.
struct Extent {
  std::size_t begin = 0, end = 0;  ///< bytes
};
Extent extent_of(grammar::TeslaParser::ItemContext* item);

}  // namespace gorgo::language
