#pragma once

#include "base/number.hpp"

/// Strings as words of 8 bytes, the first byte in the highest place, zeros behind the end: words as
/// unsigned numbers have the order of their bytes. A string is a type with
///
///   length()   in bytes
///   word(i)    for i < words_of(length()), and the first in any case
namespace gorgo::cuda {

GORGO_HD inline std::uint64_t words_of(std::uint64_t bytes) { return bytes / 8 + (bytes % 8 != 0); }

/// By bytes, one that is the beginning of another before it (TESLA.md section 1).
template <class A, class B>
GORGO_HD arithmetic::Ordering order_of_texts(const A& a, const B& b) {
  const std::uint64_t length_of_a = a.length(), length_of_b = b.length();
  const std::uint64_t words = words_of(length_of_a < length_of_b ? length_of_a : length_of_b);
  for (std::uint64_t i = 0; i < words; ++i) {
    const std::uint64_t word_of_a = a.word(i), word_of_b = b.word(i);
    if (word_of_a != word_of_b) return arithmetic::order(word_of_a, word_of_b);
  }
  // What stands behind the shorter one's end are zeros in both words, whether they are bytes or
  // not.
  return arithmetic::order(length_of_a, length_of_b);
}

/// The 8 bytes from byte `at` on, zeros behind the end.
template <class Text>
GORGO_HD std::uint64_t word_at_byte(const Text& text, std::uint64_t length, std::uint64_t at) {
  const std::uint64_t i = at / 8, bits = at % 8 * 8;
  std::uint64_t word = text.word(i) << bits;
  if (bits != 0 && i + 1 < words_of(length)) word |= text.word(i + 1) >> (64 - bits);
  return word;
}

/// Whether `part`, which is not empty, stands in `text` at byte `at`. Precondition: it ends there,
/// too.
template <class A, class B>
GORGO_HD bool stands_at(const A& text, std::uint64_t length, const B& part,
                        std::uint64_t length_of_part, std::uint64_t at) {
  for (std::uint64_t i = 0; 8 * i < length_of_part; ++i) {
    const std::uint64_t rest = length_of_part - 8 * i;
    const std::uint64_t compared =
        rest < 8 ? ~std::uint64_t{0} << (64 - 8 * rest) : ~std::uint64_t{0};
    if ((word_at_byte(text, length, at + 8 * i) & compared) != part.word(i)) return false;
  }
  return true;
}

/// Whether `part` stands anywhere in `text`, as the empty string does.
template <class A, class B>
GORGO_HD bool contains(const A& text, const B& part) {
  const std::uint64_t length = text.length(), length_of_part = part.length();
  if (length_of_part == 0) return true;
  for (std::uint64_t at = 0; at + length_of_part <= length; ++at) {
    if (stands_at(text, length, part, length_of_part, at)) return true;
  }
  return false;
}

}  // namespace gorgo::cuda
