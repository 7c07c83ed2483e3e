#include "engine/column/kernels/sets.hpp"

#if defined(__x86_64__)

#include <immintrin.h>

#include <algorithm>
#include <array>
#include <numeric>

#define GORGO_AVX512 __attribute__((target("avx512f")))

// Loops are templates over whether the operands A and B are constants.

namespace gorgo::engine::kernels {
namespace {

// A comparison with a NaN holds for `!=` only, as the language has it.
constexpr std::array<int, 6> kFloatPredicates = {_CMP_EQ_OQ, _CMP_NEQ_UQ, _CMP_LT_OQ,
                                                 _CMP_LE_OQ, _CMP_GT_OQ,  _CMP_GE_OQ};
constexpr std::array<int, 6> kIntPredicates = {_MM_CMPINT_EQ, _MM_CMPINT_NE,  _MM_CMPINT_LT,
                                               _MM_CMPINT_LE, _MM_CMPINT_NLE, _MM_CMPINT_NLT};

template <bool Constant>
GORGO_AVX512 inline __m512i ints8(Words words, __m512i constant) {
  if constexpr (Constant) return constant;
  return _mm512_loadu_si512(words);
}
template <bool Constant>
GORGO_AVX512 inline __m512d floats8(Words words, __m512i constant) {
  return _mm512_castsi512_pd(ints8<Constant>(words, constant));
}
GORGO_AVX512 inline __m512i constant8(Words words) {
  return _mm512_set1_epi64(static_cast<long long>(*words));
}

template <std::size_t Index, bool A, bool B>
GORGO_AVX512 void compare_floats_avx512(BlockMask& mask, Words a, Words b, std::size_t words) {
  constexpr int kPredicate = kFloatPredicates[Index];
  const __m512i one_a = constant8(a), one_b = constant8(b);
  for (std::size_t w = 0; w < words; ++w) {
    std::uint64_t passed = 0;
    for (std::size_t i = 0; i < 64; i += 8) {
      const __mmask8 eight = _mm512_cmp_pd_mask(floats8<A>(a + w * 64 + i, one_a),
                                                floats8<B>(b + w * 64 + i, one_b), kPredicate);
      passed |= static_cast<std::uint64_t>(eight) << i;
    }
    mask[w] = passed;
  }
}

template <std::size_t Index, bool A, bool B>
GORGO_AVX512 void compare_ints_avx512(BlockMask& mask, Words a, Words b, std::size_t words) {
  constexpr auto kPredicate = kIntPredicates[Index];
  const __m512i one_a = constant8(a), one_b = constant8(b);
  for (std::size_t w = 0; w < words; ++w) {
    std::uint64_t passed = 0;
    for (std::size_t i = 0; i < 64; i += 8) {
      const __mmask8 eight = _mm512_cmp_epi64_mask(ints8<A>(a + w * 64 + i, one_a),
                                                   ints8<B>(b + w * 64 + i, one_b), kPredicate);
      passed |= static_cast<std::uint64_t>(eight) << i;
    }
    mask[w] = passed;
  }
}

template <Arithmetic Operation, bool A, bool B>
GORGO_AVX512 void calculate_avx512(std::uint64_t* out, Words a, Words b, std::size_t words) {
  const __m512i one_a = constant8(a), one_b = constant8(b);
  for (std::size_t i = 0; i < 64 * words; i += 8) {
    const __m512d x = floats8<A>(a + i, one_a), y = floats8<B>(b + i, one_b);
    const __m512d eight = Operation == Arithmetic::add        ? _mm512_add_pd(x, y)
                          : Operation == Arithmetic::subtract ? _mm512_sub_pd(x, y)
                          : Operation == Arithmetic::multiply ? _mm512_mul_pd(x, y)
                                                              : _mm512_div_pd(x, y);
    _mm512_storeu_pd(out + i, eight);
  }
}

template <TermKind K>
GORGO_AVX512 inline __m512d term_avx512(const double* values, __m512d constant) {
  const __m512d value = _mm512_loadu_pd(values);
  if constexpr (K == TermKind::product) return _mm512_mul_pd(value, constant);
  const __m512d difference = _mm512_sub_pd(value, constant);
  return _mm512_mul_pd(difference, difference);
}

/// Adds up four vectors at a time, whose additions do not wait for each other.
template <TermKind K>
GORGO_AVX512 void sum_avx512(std::uint64_t* out, Terms terms, std::size_t words) {
  constexpr std::size_t kLanes = 8;
  for (std::size_t i = 0; i < 64 * words; i += 4 * kLanes) {
    const double* values = floats_at(terms[0].values, i);
    __m512d constant = _mm512_set1_pd(terms[0].constant);
    __m512d a = term_avx512<K>(values, constant);
    __m512d b = term_avx512<K>(values + kLanes, constant);
    __m512d c = term_avx512<K>(values + 2 * kLanes, constant);
    __m512d d = term_avx512<K>(values + 3 * kLanes, constant);
    for (std::size_t t = 1; t < terms.size(); ++t) {
      values = floats_at(terms[t].values, i);
      constant = _mm512_set1_pd(terms[t].constant);
      a = _mm512_add_pd(a, term_avx512<K>(values, constant));
      b = _mm512_add_pd(b, term_avx512<K>(values + kLanes, constant));
      c = _mm512_add_pd(c, term_avx512<K>(values + 2 * kLanes, constant));
      d = _mm512_add_pd(d, term_avx512<K>(values + 3 * kLanes, constant));
    }
    auto* const sums = reinterpret_cast<double*>(out + i);
    _mm512_storeu_pd(sums, a);
    _mm512_storeu_pd(sums + kLanes, b);
    _mm512_storeu_pd(sums + 2 * kLanes, c);
    _mm512_storeu_pd(sums + 3 * kLanes, d);
  }
}

GORGO_AVX512 std::uint64_t take_avx512(std::uint64_t* out, Words values, const BlockMask& mask,
                                       std::size_t words) {
  const __m512i without_sign = _mm512_set1_epi64(static_cast<long long>(kWithoutSign));
  __m512i greatest = _mm512_setzero_si512();
  for (std::size_t i = 0; i < 64 * words; i += 8) {
    const auto bits = static_cast<__mmask8>(mask[i / 64] >> i % 64);
    const __m512i eight = _mm512_maskz_loadu_epi64(bits, values + i);
    _mm512_storeu_si512(out + i, eight);
    const __m512i size = _mm512_and_si512(eight, without_sign);
    greatest = _mm512_mask_mov_epi64(greatest, _mm512_cmpgt_epu64_mask(size, greatest), size);
  }
  alignas(64) std::array<std::uint64_t, 8> lanes;
  _mm512_store_si512(lanes.data(), greatest);
  return *std::max_element(lanes.begin(), lanes.end());
}

GORGO_AVX512 Extracted extract_avx512(std::uint64_t* values, double sigma, std::size_t words) {
  const __m512d sigmas = _mm512_set1_pd(sigma);
  const __m512d zero = _mm512_setzero_pd();
  __m512d sum = zero;
  std::uint64_t rest = 0;
  for (std::size_t i = 0; i < 64 * words; i += 8) {
    const __m512d value = _mm512_loadu_pd(values + i);
    const __m512d part = _mm512_sub_pd(_mm512_add_pd(value, sigmas), sigmas);
    const __m512d left = _mm512_sub_pd(value, part);
    _mm512_storeu_pd(values + i, left);
    sum = _mm512_add_pd(sum, part);
    rest |= _mm512_cmp_pd_mask(left, zero, _CMP_NEQ_UQ);
  }
  alignas(64) std::array<double, 8> lanes;
  _mm512_store_pd(lanes.data(), sum);
  return {std::accumulate(lanes.begin(), lanes.end(), 0.0), rest};
}

template <std::size_t Index>
constexpr ByShape<Compare> kCompareFloatsAvx512 = {
    compare_floats_avx512<Index, false, false>, compare_floats_avx512<Index, true, false>,
    compare_floats_avx512<Index, false, true>, compare_floats_avx512<Index, true, true>};
template <std::size_t Index>
constexpr ByShape<Compare> kCompareIntsAvx512 = {
    compare_ints_avx512<Index, false, false>, compare_ints_avx512<Index, true, false>,
    compare_ints_avx512<Index, false, true>, compare_ints_avx512<Index, true, true>};
template <Arithmetic Operation>
constexpr ByShape<Calculate> kCalculateAvx512 = {
    calculate_avx512<Operation, false, false>, calculate_avx512<Operation, true, false>,
    calculate_avx512<Operation, false, true>, calculate_avx512<Operation, true, true>};

}  // namespace

const BlockKernels kAvx512 = {
    .name = "avx512f",
    .add = kCalculateAvx512<Arithmetic::add>,
    .subtract = kCalculateAvx512<Arithmetic::subtract>,
    .multiply = kCalculateAvx512<Arithmetic::multiply>,
    .divide = kCalculateAvx512<Arithmetic::divide>,
    .sum_products = sum_avx512<TermKind::product>,
    .sum_squares = sum_avx512<TermKind::square>,
    .compare_floats = {kCompareFloatsAvx512<0>, kCompareFloatsAvx512<1>, kCompareFloatsAvx512<2>,
                       kCompareFloatsAvx512<3>, kCompareFloatsAvx512<4>, kCompareFloatsAvx512<5>},
    .compare_ints = {kCompareIntsAvx512<0>, kCompareIntsAvx512<1>, kCompareIntsAvx512<2>,
                     kCompareIntsAvx512<3>, kCompareIntsAvx512<4>, kCompareIntsAvx512<5>},
    .take = take_avx512,
    .extract = extract_avx512};

}  // namespace gorgo::engine::kernels

#undef GORGO_AVX512
#endif
