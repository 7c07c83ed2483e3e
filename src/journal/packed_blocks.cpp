#include "journal/packed_blocks.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <vector>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace gorgo::journal {
namespace {

/// A function that is called while vectors are in registers is inlined, because a call would store
/// them.
#define GORGO_INLINE [[gnu::always_inline]] inline

/// `any`: all words or-ed.
GORGO_INLINE Kept kept_of(std::uint64_t any, bool differences) {
  if (any == 0) return {0, 0, differences};
  const auto below = static_cast<unsigned>(std::countr_zero(any)) / 8;
  const auto end = (static_cast<unsigned>(std::bit_width(any)) + 7) / 8;
  return {end - below, below, differences};
}

GORGO_INLINE Kept narrower(std::uint64_t any_word, std::uint64_t any_difference) {
  const Kept words = kept_of(any_word, false), differences = kept_of(any_difference, true);
  return differences.width < words.width ? differences : words;
}

std::uint64_t difference(std::uint64_t word, std::uint64_t before) {
  const std::uint64_t by = word - before;
  return by << 1 ^ (0 - (by >> 63));
}

std::uint64_t add(std::uint64_t before, std::uint64_t difference) {
  return before + (difference >> 1 ^ (0 - (difference & 1)));
}

std::byte* pack_plainly(const std::byte* from, const std::byte* end, std::byte* to) {
  std::uint64_t before = 0;
  for (; from != end; from += kBlockBytes) {
    Block words, differences;
    std::memcpy(words.data(), from, kBlockBytes);
    std::uint64_t any_word = 0, any_difference = 0;
    for (std::size_t i = 0; i < kBlockWords; ++i) {
      differences[i] = difference(words[i], before);
      before = words[i];
      any_word |= words[i];
      any_difference |= differences[i];
    }
    const Kept kept = narrower(any_word, any_difference);
    *to++ = kept.to_byte();
    for (const std::uint64_t word : kept.differences ? differences : words) {
      const std::uint64_t low = word >> kept.below * 8;
      std::memcpy(to, &low, kWordBytes);
      to += kept.width;
    }
  }
  return to;
}

#if defined(__x86_64__)

#define GORGO_AVX2 __attribute__((target("avx2")))

/// Which bytes of two words come to stand where, for each width and number of zeros below.
using Shuffle = std::array<std::uint8_t, 2 * kWordBytes>;
using Shuffles = std::array<std::array<Shuffle, kWordBytes>, kWordBytes + 1>;
constexpr Shuffles kShuffles = [] {
  Shuffles all = {};
  for (unsigned width = 1; width <= kWordBytes; ++width) {
    for (unsigned below = 0; below < kWordBytes; ++below) {
      Shuffle& shuffle = all[width][below];
      for (unsigned i = 0; i < 2 * width; ++i) {
        shuffle[i] = static_cast<std::uint8_t>(i / width * kWordBytes + below + i % width);
      }
    }
  }
  return all;
}();

GORGO_AVX2 inline __m256i four_words(const std::byte* from) {
  return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
}

GORGO_AVX2 inline std::uint64_t ored(__m256i four) {
  const __m128i two = _mm_or_si128(_mm256_castsi256_si128(four), _mm256_extracti128_si256(four, 1));
  return static_cast<std::uint64_t>(_mm_cvtsi128_si64(two) | _mm_extract_epi64(two, 1));
}

GORGO_AVX2 inline void put_two(std::byte* to, __m128i two) {
  _mm_storeu_si128(reinterpret_cast<__m128i*>(to), two);
}

/// Reads the word before `from`, too.
GORGO_AVX2 inline std::byte* pack_block_avx2(const std::byte* from, std::byte* to) {
  constexpr std::size_t kFours = kBlockWords / 4;
  const __m256i zero = _mm256_setzero_si256();
  __m256i words[kFours], differences[kFours], any_word = zero, any_difference = zero;
  for (std::size_t i = 0; i < kFours; ++i) {
    const std::byte* const at = from + i * 4 * kWordBytes;
    words[i] = four_words(at);
    const __m256i by = _mm256_sub_epi64(words[i], four_words(at - kWordBytes));
    differences[i] = _mm256_xor_si256(_mm256_add_epi64(by, by), _mm256_cmpgt_epi64(zero, by));
    any_word = _mm256_or_si256(any_word, words[i]);
    any_difference = _mm256_or_si256(any_difference, differences[i]);
  }
  const Kept kept = narrower(ored(any_word), ored(any_difference));
  if (kept.differences) std::ranges::copy(differences, words);
  *to++ = kept.to_byte();
  const auto* shuffle = reinterpret_cast<const __m128i*>(&kShuffles[kept.width][kept.below]);
  const __m256i how = _mm256_broadcastsi128_si256(_mm_loadu_si128(shuffle));
  for (std::size_t i = 0; i < kFours; ++i) {
    const __m256i four = _mm256_shuffle_epi8(words[i], how);
    put_two(to, _mm256_castsi256_si128(four));
    put_two(to + 2 * kept.width, _mm256_extracti128_si256(four, 1));
    to += 4 * kept.width;
  }
  return to;
}

GORGO_AVX2 std::byte* pack_avx2(const std::byte* from, const std::byte* end, std::byte* to) {
  if (from == end) return to;
  std::array<std::byte, kWordBytes + kBlockBytes> first = {};
  std::memcpy(first.data() + kWordBytes, from, kBlockBytes);
  to = pack_block_avx2(first.data() + kWordBytes, to);
  while ((from += kBlockBytes) != end) to = pack_block_avx2(from, to);
  return to;
}

#undef GORGO_AVX2

#endif

}  // namespace

Kept Kept::of(std::byte byte) {
  const auto bits = std::to_integer<unsigned>(byte);
  return {bits & 0xF, bits >> 4 & 0x7, (bits & 0x80) != 0};
}

std::span<const PackBlocks> ways_to_pack_blocks() {
  static const std::vector<PackBlocks> ways = [] {
    std::vector<PackBlocks> list;
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2")) list.push_back(pack_avx2);
#endif
    list.push_back(pack_plainly);
    return list;
  }();
  return ways;
}

Block unpack_block(Kept kept, const std::byte* from, std::uint64_t before) {
  const std::uint64_t mask =
      kept.width == 0 ? 0 : ~std::uint64_t{0} >> (kWordBytes - kept.width) * 8;
  Block words;
  for (std::uint64_t& word : words) {
    std::uint64_t low = 0;
    std::memcpy(&low, from, kWordBytes);
    word = (low & mask) << kept.below * 8;
    if (kept.differences) word = add(before, word);
    before = word;
    from += kept.width;
  }
  return words;
}

}  // namespace gorgo::journal
