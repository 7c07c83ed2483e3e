#pragma once

#include "base/number.hpp"

/// Strings as words of 8 bytes, the first byte in the highest place, zeros behind the end: words as
/// unsigned numbers have the order of their bytes. A string is a type with
///
///   length()   in bytes
///   word(i)    for i < words_of(length()), and the first in any case
namespace gorgo::gpu {

GORGO_HD inline std::uint64_t words_of(std::uint64_t bytes) { return bytes / 8 + (bytes % 8 != 0); }

/// The order of strings by bytes: one that is the beginning of another comes before it (language.md
/// section 1).
template <class A, class B>
GORGO_HD arithmetic::Ordering order_of_texts(const A& a, const B& b) {
  const std::uint64_t length_of_a = a.length(), length_of_b = b.length();
  const std::uint64_t words = words_of(length_of_a < length_of_b ? length_of_a : length_of_b);
  for (std::uint64_t i = 0; i < words; ++i) {
    const std::uint64_t word_of_a = a.word(i), word_of_b = b.word(i);
    if (word_of_a != word_of_b) return arithmetic::order(word_of_a, word_of_b);
  }
  // The words agree, so behind the shorter one's end both have zeros, whether they are bytes or
  // not.
  return arithmetic::order(length_of_a, length_of_b);
}

/// The 8 bytes from byte `at` < 8 of a word on.
GORGO_HD inline std::uint64_t word_at_byte(std::uint64_t word, std::uint64_t next, unsigned at) {
  return at == 0 ? word : word << 8 * at | next >> (64 - 8 * at);
}

/// The bits of the first bytes of a word.
GORGO_HD inline std::uint64_t first_bytes(std::uint64_t bytes) {
  constexpr std::uint64_t kAll = ~std::uint64_t{0};
  return bytes < 8 ? kAll << (64 - 8 * bytes) : kAll;
}

/// Whether `part` stands in `text` at byte `at`, if its first word does. Precondition: `part` ends
/// in `text`, too.
template <class A, class B>
GORGO_HD bool goes_on(const A& text, std::uint64_t length, const B& part,
                      std::uint64_t length_of_part, std::uint64_t at) {
  for (std::uint64_t i = 1; 8 * i < length_of_part; ++i) {
    const std::uint64_t first = at / 8 + i;
    const std::uint64_t next = first + 1 < words_of(length) ? text.word(first + 1) : 0;
    const std::uint64_t word = word_at_byte(text.word(first), next, static_cast<unsigned>(at % 8));
    if ((word & first_bytes(length_of_part - 8 * i)) != part.word(i)) return false;
  }
  return true;
}

/// Whether `part` stands anywhere in `text`, as the empty string does.
template <class A, class B>
GORGO_HD bool contains(const A& text, const B& part) {
  const std::uint64_t length = text.length(), length_of_part = part.length();
  if (length_of_part > length) return false;
  if (length_of_part == 0) return true;
  const std::uint64_t last = length - length_of_part;
  const std::uint64_t first_of_part = part.word(0), compared = first_bytes(length_of_part);
  std::uint64_t word = text.word(0);
  for (std::uint64_t i = 0; 8 * i <= last; ++i) {
    const std::uint64_t next = i + 1 < words_of(length) ? text.word(i + 1) : 0;
    for (unsigned b = 0; b < 8; ++b) {
      if ((word_at_byte(word, next, b) & compared) != first_of_part || 8 * i + b > last) continue;
      if (goes_on(text, length, part, length_of_part, 8 * i + b)) return true;
    }
    word = next;
  }
  return false;
}

}  // namespace gorgo::gpu
