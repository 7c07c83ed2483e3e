#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

namespace gorgo::language {

/// The words and signs around a place of a text, from the beginning of its item to its end. The
/// item need not be right: it may be in the making.
struct WordsAround {
  std::vector<std::string_view> before;  ///< those that end before the place
  std::string_view begun;  ///< the word that ends at the place or around it, up to the place
  std::vector<std::string_view> after;  ///< those that begin behind the place
  bool in_text = false;                 ///< the place is in a comment or a string
};

/// `offset` is at most the length of `text`, which must outlive the result.
WordsAround words_around(std::string_view text, std::size_t offset);

}  // namespace gorgo::language
