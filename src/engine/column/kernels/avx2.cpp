#include "engine/column/kernels/sets.hpp"

#if defined(__x86_64__)

#include <immintrin.h>

#include <algorithm>
#include <array>
#include <numeric>

#define GORGO_AVX2 __attribute__((target("avx2")))

// Loops are templates over whether the operands A and B are constants.

namespace gorgo::engine::kernels {
namespace {

// A comparison with a NaN holds for `!=` only, as the language has it.
constexpr std::array<int, 6> kPredicates = {_CMP_EQ_OQ, _CMP_NEQ_UQ, _CMP_LT_OQ,
                                            _CMP_LE_OQ, _CMP_GT_OQ,  _CMP_GE_OQ};

/// Four words of an operand; `constant` holds them where it is one.
template <bool Constant>
GORGO_AVX2 inline __m256i ints4(Words words, __m256i constant) {
  if constexpr (Constant) return constant;
  return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(words));
}
template <bool Constant>
GORGO_AVX2 inline __m256d floats4(Words words, __m256i constant) {
  return _mm256_castsi256_pd(ints4<Constant>(words, constant));
}
GORGO_AVX2 inline __m256i constant4(Words words) {
  return _mm256_set1_epi64x(static_cast<long long>(*words));
}
GORGO_AVX2 inline unsigned bits_of(__m256d passed) {
  return static_cast<unsigned>(_mm256_movemask_pd(passed));
}
GORGO_AVX2 inline unsigned bits_of(__m256i passed) { return bits_of(_mm256_castsi256_pd(passed)); }

template <std::size_t Index, bool A, bool B>
GORGO_AVX2 void compare_floats_avx2(BlockMask& mask, Words a, Words b, std::size_t words) {
  constexpr int kPredicate = kPredicates[Index];
  const __m256i one_a = constant4(a), one_b = constant4(b);
  for (std::size_t w = 0; w < words; ++w) {
    std::uint64_t passed = 0;
    for (std::size_t i = 0; i < 64; i += 4) {
      const __m256d four = _mm256_cmp_pd(floats4<A>(a + w * 64 + i, one_a),
                                         floats4<B>(b + w * 64 + i, one_b), kPredicate);
      passed |= static_cast<std::uint64_t>(bits_of(four)) << i;
    }
    mask[w] = passed;
  }
}

/// AVX2 has equality and `>` only: the others exchange the operands, or take the opposite.
template <std::size_t Index, bool A, bool B>
GORGO_AVX2 void compare_ints_avx2(BlockMask& mask, Words a, Words b, std::size_t words) {
  constexpr bool kEqual = Index < 2;
  constexpr bool kExchange = Index == 2 || Index == 5;
  constexpr bool kOpposite = Index == 1 || Index == 3 || Index == 5;
  const __m256i one_a = constant4(a), one_b = constant4(b);
  for (std::size_t w = 0; w < words; ++w) {
    std::uint64_t passed = 0;
    for (std::size_t i = 0; i < 64; i += 4) {
      const __m256i x = ints4<A>(a + w * 64 + i, one_a), y = ints4<B>(b + w * 64 + i, one_b);
      const unsigned four = kEqual      ? bits_of(_mm256_cmpeq_epi64(x, y))
                            : kExchange ? bits_of(_mm256_cmpgt_epi64(y, x))
                                        : bits_of(_mm256_cmpgt_epi64(x, y));
      passed |= static_cast<std::uint64_t>(four) << i;
    }
    mask[w] = kOpposite ? ~passed : passed;
  }
}

template <Arithmetic Operation, bool A, bool B>
GORGO_AVX2 void calculate_avx2(std::uint64_t* out, Words a, Words b, std::size_t words) {
  const __m256i one_a = constant4(a), one_b = constant4(b);
  for (std::size_t i = 0; i < 64 * words; i += 4) {
    const __m256d x = floats4<A>(a + i, one_a), y = floats4<B>(b + i, one_b);
    const __m256d four = Operation == Arithmetic::add        ? _mm256_add_pd(x, y)
                         : Operation == Arithmetic::subtract ? _mm256_sub_pd(x, y)
                         : Operation == Arithmetic::multiply ? _mm256_mul_pd(x, y)
                                                             : _mm256_div_pd(x, y);
    _mm256_storeu_pd(reinterpret_cast<double*>(out + i), four);
  }
}

/// The four lowest bits as lanes of all ones and zeros.
GORGO_AVX2 inline __m256i lanes_of(std::uint64_t bits) {
  const __m256i bit_of_lane = _mm256_setr_epi64x(1, 2, 4, 8);
  const __m256i all = _mm256_set1_epi64x(static_cast<long long>(bits & 15));
  return _mm256_cmpeq_epi64(_mm256_and_si256(all, bit_of_lane), bit_of_lane);
}

template <TermKind K>
GORGO_AVX2 inline __m256d term_avx2(const double* values, __m256d constant) {
  const __m256d value = _mm256_loadu_pd(values);
  if constexpr (K == TermKind::product) return _mm256_mul_pd(value, constant);
  const __m256d difference = _mm256_sub_pd(value, constant);
  return _mm256_mul_pd(difference, difference);
}

/// Adds up four vectors at a time, whose additions do not wait for each other.
template <TermKind K>
GORGO_AVX2 void sum_avx2(std::uint64_t* out, Terms terms, std::size_t words) {
  constexpr std::size_t kLanes = 4;
  for (std::size_t i = 0; i < 64 * words; i += 4 * kLanes) {
    const double* values = floats_at(terms[0].values, i);
    __m256d constant = _mm256_set1_pd(terms[0].constant);
    __m256d a = term_avx2<K>(values, constant);
    __m256d b = term_avx2<K>(values + kLanes, constant);
    __m256d c = term_avx2<K>(values + 2 * kLanes, constant);
    __m256d d = term_avx2<K>(values + 3 * kLanes, constant);
    for (std::size_t t = 1; t < terms.size(); ++t) {
      values = floats_at(terms[t].values, i);
      constant = _mm256_set1_pd(terms[t].constant);
      a = _mm256_add_pd(a, term_avx2<K>(values, constant));
      b = _mm256_add_pd(b, term_avx2<K>(values + kLanes, constant));
      c = _mm256_add_pd(c, term_avx2<K>(values + 2 * kLanes, constant));
      d = _mm256_add_pd(d, term_avx2<K>(values + 3 * kLanes, constant));
    }
    auto* const sums = reinterpret_cast<double*>(out + i);
    _mm256_storeu_pd(sums, a);
    _mm256_storeu_pd(sums + kLanes, b);
    _mm256_storeu_pd(sums + 2 * kLanes, c);
    _mm256_storeu_pd(sums + 3 * kLanes, d);
  }
}

GORGO_AVX2 std::uint64_t take_avx2(std::uint64_t* out, Words values, const BlockMask& mask,
                                   std::size_t words) {
  const __m256i without_sign = _mm256_set1_epi64x(static_cast<long long>(kWithoutSign));
  __m256i greatest = _mm256_setzero_si256();
  for (std::size_t i = 0; i < 64 * words; i += 4) {
    const __m256i all = ints4<false>(values + i, greatest);
    const __m256i four = _mm256_and_si256(all, lanes_of(mask[i / 64] >> i % 64));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + i), four);
    const __m256i size = _mm256_and_si256(four, without_sign);
    greatest = _mm256_blendv_epi8(greatest, size, _mm256_cmpgt_epi64(size, greatest));
  }
  alignas(32) std::array<std::uint64_t, 4> lanes;
  _mm256_store_si256(reinterpret_cast<__m256i*>(lanes.data()), greatest);
  return *std::max_element(lanes.begin(), lanes.end());
}

GORGO_AVX2 Extracted extract_avx2(std::uint64_t* values, double sigma, std::size_t words) {
  const __m256d sigmas = _mm256_set1_pd(sigma);
  const __m256d zero = _mm256_setzero_pd();
  __m256d sum = zero, rest = zero;
  for (std::size_t i = 0; i < 64 * words; i += 4) {
    auto* const four = reinterpret_cast<double*>(values + i);
    const __m256d value = _mm256_loadu_pd(four);
    const __m256d part = _mm256_sub_pd(_mm256_add_pd(value, sigmas), sigmas);
    const __m256d left = _mm256_sub_pd(value, part);
    _mm256_storeu_pd(four, left);
    sum = _mm256_add_pd(sum, part);
    rest = _mm256_or_pd(rest, _mm256_cmp_pd(left, zero, _CMP_NEQ_UQ));
  }
  alignas(32) std::array<double, 4> lanes;
  _mm256_store_pd(lanes.data(), sum);
  return {std::accumulate(lanes.begin(), lanes.end(), 0.0), bits_of(rest)};
}

template <std::size_t Index>
constexpr ByShape<Compare> kCompareFloatsAvx2 = {
    compare_floats_avx2<Index, false, false>, compare_floats_avx2<Index, true, false>,
    compare_floats_avx2<Index, false, true>, compare_floats_avx2<Index, true, true>};
template <std::size_t Index>
constexpr ByShape<Compare> kCompareIntsAvx2 = {
    compare_ints_avx2<Index, false, false>, compare_ints_avx2<Index, true, false>,
    compare_ints_avx2<Index, false, true>, compare_ints_avx2<Index, true, true>};
template <Arithmetic Operation>
constexpr ByShape<Calculate> kCalculateAvx2 = {
    calculate_avx2<Operation, false, false>, calculate_avx2<Operation, true, false>,
    calculate_avx2<Operation, false, true>, calculate_avx2<Operation, true, true>};

}  // namespace

const BlockKernels kAvx2 = {
    .name = "avx2",
    .add = kCalculateAvx2<Arithmetic::add>,
    .subtract = kCalculateAvx2<Arithmetic::subtract>,
    .multiply = kCalculateAvx2<Arithmetic::multiply>,
    .divide = kCalculateAvx2<Arithmetic::divide>,
    .sum_products = sum_avx2<TermKind::product>,
    .sum_squares = sum_avx2<TermKind::square>,
    .compare_floats = {kCompareFloatsAvx2<0>, kCompareFloatsAvx2<1>, kCompareFloatsAvx2<2>,
                       kCompareFloatsAvx2<3>, kCompareFloatsAvx2<4>, kCompareFloatsAvx2<5>},
    .compare_ints = {kCompareIntsAvx2<0>, kCompareIntsAvx2<1>, kCompareIntsAvx2<2>,
                     kCompareIntsAvx2<3>, kCompareIntsAvx2<4>, kCompareIntsAvx2<5>},
    .take = take_avx2,
    .extract = extract_avx2};

}  // namespace gorgo::engine::kernels

#undef GORGO_AVX2
#endif
