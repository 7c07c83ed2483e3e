#include "engine/column/block_kernels.hpp"

#include <bit>
#include <functional>
#include <vector>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace gorgo::engine {
namespace {

using Words = const std::uint64_t*;

template <class F, class T>
void compare_plain(BlockMask& mask, Words a, Words b, std::size_t words) {
  for (std::size_t w = 0; w < words; ++w, a += 64, b += 64) {
    std::uint64_t passed = 0;
    for (std::size_t i = 0; i < 64; ++i) {
      const bool holds = F()(std::bit_cast<T>(a[i]), std::bit_cast<T>(b[i]));
      passed |= static_cast<std::uint64_t>(holds) << i;
    }
    mask[w] = passed;
  }
}

template <class F>
void calculate_plain(std::uint64_t* out, Words a, Words b, std::size_t words) {
  for (std::size_t i = 0; i < 64 * words; ++i) {
    out[i] =
        std::bit_cast<std::uint64_t>(F()(std::bit_cast<double>(a[i]), std::bit_cast<double>(b[i])));
  }
}

template <class T>
constexpr std::array<BlockKernels::Compare, 6> kComparePlain = {
    compare_plain<std::equal_to<>, T>, compare_plain<std::not_equal_to<>, T>,
    compare_plain<std::less<>, T>,     compare_plain<std::less_equal<>, T>,
    compare_plain<std::greater<>, T>,  compare_plain<std::greater_equal<>, T>};

constexpr BlockKernels kPlain = {.name = "plain",
                                 .add = calculate_plain<std::plus<>>,
                                 .subtract = calculate_plain<std::minus<>>,
                                 .multiply = calculate_plain<std::multiplies<>>,
                                 .divide = calculate_plain<std::divides<>>,
                                 .compare_floats = kComparePlain<double>,
                                 .compare_ints = kComparePlain<std::int64_t>};

#if defined(__x86_64__)

#define GORGO_AVX2 __attribute__((target("avx2")))
#define GORGO_AVX512 __attribute__((target("avx512f")))

// A comparison with a NaN holds for `!=` only, as the language has it.
constexpr std::array<int, 6> kFloatPredicates = {_CMP_EQ_OQ, _CMP_NEQ_UQ, _CMP_LT_OQ,
                                                 _CMP_LE_OQ, _CMP_GT_OQ,  _CMP_GE_OQ};
constexpr std::array<int, 6> kIntPredicates = {_MM_CMPINT_EQ, _MM_CMPINT_NE,  _MM_CMPINT_LT,
                                               _MM_CMPINT_LE, _MM_CMPINT_NLE, _MM_CMPINT_NLT};

GORGO_AVX2 inline __m256i ints4(Words words) {
  return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(words));
}
GORGO_AVX2 inline __m256d floats4(Words words) { return _mm256_castsi256_pd(ints4(words)); }
GORGO_AVX2 inline unsigned bits_of(__m256d passed) {
  return static_cast<unsigned>(_mm256_movemask_pd(passed));
}
GORGO_AVX2 inline unsigned greater4(Words a, Words b) {
  return bits_of(_mm256_castsi256_pd(_mm256_cmpgt_epi64(ints4(a), ints4(b))));
}
GORGO_AVX2 inline unsigned equal4(Words a, Words b) {
  return bits_of(_mm256_castsi256_pd(_mm256_cmpeq_epi64(ints4(a), ints4(b))));
}

template <std::size_t Index>
GORGO_AVX2 void compare_floats_avx2(BlockMask& mask, Words a, Words b, std::size_t words) {
  constexpr int kPredicate = kFloatPredicates[Index];
  for (std::size_t w = 0; w < words; ++w, a += 64, b += 64) {
    std::uint64_t passed = 0;
    for (std::size_t i = 0; i < 64; i += 4) {
      const __m256d four = _mm256_cmp_pd(floats4(a + i), floats4(b + i), kPredicate);
      passed |= static_cast<std::uint64_t>(bits_of(four)) << i;
    }
    mask[w] = passed;
  }
}

/// AVX2 has equality and `>` only: the others exchange the operands, or take the opposite.
template <std::size_t Index>
GORGO_AVX2 void compare_ints_avx2(BlockMask& mask, Words a, Words b, std::size_t words) {
  constexpr bool kEqual = Index < 2;
  constexpr bool kExchange = Index == 2 || Index == 5;
  constexpr bool kOpposite = Index == 1 || Index == 3 || Index == 5;
  if (kExchange) std::swap(a, b);
  for (std::size_t w = 0; w < words; ++w, a += 64, b += 64) {
    std::uint64_t passed = 0;
    for (std::size_t i = 0; i < 64; i += 4) {
      const unsigned four = kEqual ? equal4(a + i, b + i) : greater4(a + i, b + i);
      passed |= static_cast<std::uint64_t>(four) << i;
    }
    mask[w] = kOpposite ? ~passed : passed;
  }
}

enum class Arithmetic { add, subtract, multiply, divide };

template <Arithmetic Operation>
GORGO_AVX2 void calculate_avx2(std::uint64_t* out, Words a, Words b, std::size_t words) {
  for (std::size_t i = 0; i < 64 * words; i += 4) {
    const __m256d x = floats4(a + i), y = floats4(b + i);
    const __m256d four = Operation == Arithmetic::add        ? _mm256_add_pd(x, y)
                         : Operation == Arithmetic::subtract ? _mm256_sub_pd(x, y)
                         : Operation == Arithmetic::multiply ? _mm256_mul_pd(x, y)
                                                             : _mm256_div_pd(x, y);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + i), _mm256_castpd_si256(four));
  }
}

GORGO_AVX512 inline __m512d floats8(Words words) {
  return _mm512_castsi512_pd(_mm512_loadu_si512(words));
}

template <std::size_t Index>
GORGO_AVX512 void compare_floats_avx512(BlockMask& mask, Words a, Words b, std::size_t words) {
  constexpr int kPredicate = kFloatPredicates[Index];
  for (std::size_t w = 0; w < words; ++w, a += 64, b += 64) {
    std::uint64_t passed = 0;
    for (std::size_t i = 0; i < 64; i += 8) {
      const __mmask8 eight = _mm512_cmp_pd_mask(floats8(a + i), floats8(b + i), kPredicate);
      passed |= static_cast<std::uint64_t>(eight) << i;
    }
    mask[w] = passed;
  }
}

template <std::size_t Index>
GORGO_AVX512 void compare_ints_avx512(BlockMask& mask, Words a, Words b, std::size_t words) {
  constexpr auto kPredicate = kIntPredicates[Index];
  for (std::size_t w = 0; w < words; ++w, a += 64, b += 64) {
    std::uint64_t passed = 0;
    for (std::size_t i = 0; i < 64; i += 8) {
      const __mmask8 eight =
          _mm512_cmp_epi64_mask(_mm512_loadu_si512(a + i), _mm512_loadu_si512(b + i), kPredicate);
      passed |= static_cast<std::uint64_t>(eight) << i;
    }
    mask[w] = passed;
  }
}

template <Arithmetic Operation>
GORGO_AVX512 void calculate_avx512(std::uint64_t* out, Words a, Words b, std::size_t words) {
  for (std::size_t i = 0; i < 64 * words; i += 8) {
    const __m512d x = floats8(a + i), y = floats8(b + i);
    const __m512d eight = Operation == Arithmetic::add        ? _mm512_add_pd(x, y)
                          : Operation == Arithmetic::subtract ? _mm512_sub_pd(x, y)
                          : Operation == Arithmetic::multiply ? _mm512_mul_pd(x, y)
                                                              : _mm512_div_pd(x, y);
    _mm512_storeu_si512(out + i, _mm512_castpd_si512(eight));
  }
}

constexpr BlockKernels kAvx2 = {
    .name = "avx2",
    .add = calculate_avx2<Arithmetic::add>,
    .subtract = calculate_avx2<Arithmetic::subtract>,
    .multiply = calculate_avx2<Arithmetic::multiply>,
    .divide = calculate_avx2<Arithmetic::divide>,
    .compare_floats = {compare_floats_avx2<0>, compare_floats_avx2<1>, compare_floats_avx2<2>,
                       compare_floats_avx2<3>, compare_floats_avx2<4>, compare_floats_avx2<5>},
    .compare_ints = {compare_ints_avx2<0>, compare_ints_avx2<1>, compare_ints_avx2<2>,
                     compare_ints_avx2<3>, compare_ints_avx2<4>, compare_ints_avx2<5>}};

constexpr BlockKernels kAvx512 = {
    .name = "avx512f",
    .add = calculate_avx512<Arithmetic::add>,
    .subtract = calculate_avx512<Arithmetic::subtract>,
    .multiply = calculate_avx512<Arithmetic::multiply>,
    .divide = calculate_avx512<Arithmetic::divide>,
    .compare_floats = {compare_floats_avx512<0>, compare_floats_avx512<1>, compare_floats_avx512<2>,
                       compare_floats_avx512<3>, compare_floats_avx512<4>,
                       compare_floats_avx512<5>},
    .compare_ints = {compare_ints_avx512<0>, compare_ints_avx512<1>, compare_ints_avx512<2>,
                     compare_ints_avx512<3>, compare_ints_avx512<4>, compare_ints_avx512<5>}};

#endif

}  // namespace

std::span<const BlockKernels* const> block_kernels() {
  static const std::vector<const BlockKernels*> runnable = [] {
    std::vector<const BlockKernels*> list;
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512f")) list.push_back(&kAvx512);
    if (__builtin_cpu_supports("avx2")) list.push_back(&kAvx2);
#endif
    list.push_back(&kPlain);
    return list;
  }();
  return runnable;
}

}  // namespace gorgo::engine
