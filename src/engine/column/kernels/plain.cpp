#include <algorithm>
#include <array>
#include <bit>
#include <functional>

#include "engine/column/kernels/sets.hpp"

// Loops are templates over whether the operands A and B are constants.

namespace gorgo::engine::kernels {
namespace {

template <bool Constant>
std::uint64_t at(Words words, std::size_t i) {
  return words[Constant ? 0 : i];
}

template <class F, class T, bool A, bool B>
void compare_plain(BlockMask& mask, Words a, Words b, std::size_t words) {
  for (std::size_t w = 0; w < words; ++w) {
    std::uint64_t passed = 0;
    for (std::size_t i = 0; i < 64; ++i) {
      const bool holds =
          F()(std::bit_cast<T>(at<A>(a, w * 64 + i)), std::bit_cast<T>(at<B>(b, w * 64 + i)));
      passed |= static_cast<std::uint64_t>(holds) << i;
    }
    mask[w] = passed;
  }
}

template <class F, bool A, bool B>
void calculate_plain(std::uint64_t* out, Words a, Words b, std::size_t words) {
  for (std::size_t i = 0; i < 64 * words; ++i) {
    out[i] = std::bit_cast<std::uint64_t>(
        F()(std::bit_cast<double>(at<A>(a, i)), std::bit_cast<double>(at<B>(b, i))));
  }
}

template <TermKind K>
double term_of(std::uint64_t word, double constant) {
  const auto value = std::bit_cast<double>(word);
  return K == TermKind::product ? value * constant : (value - constant) * (value - constant);
}

template <TermKind K>
void sum_plain(std::uint64_t* out, Terms terms, std::size_t words) {
  for (std::size_t i = 0; i < 64 * words; ++i) {
    double sum = term_of<K>(terms[0].values[i], terms[0].constant);
    for (const auto& term : terms.subspan(1)) sum += term_of<K>(term.values[i], term.constant);
    out[i] = std::bit_cast<std::uint64_t>(sum);
  }
}

std::uint64_t take_plain(std::uint64_t* out, Words values, const BlockMask& mask,
                         std::size_t words) {
  std::uint64_t greatest = 0;
  for (std::size_t i = 0; i < 64 * words; ++i) {
    out[i] = (mask[i / 64] >> i % 64 & 1) != 0 ? values[i] : 0;
    greatest = std::max(greatest, out[i] & kWithoutSign);
  }
  return greatest;
}

Extracted extract_plain(std::uint64_t* values, double sigma, std::size_t words) {
  double sum = 0;
  std::uint64_t rest = 0;
  for (std::size_t i = 0; i < 64 * words; ++i) {
    const auto value = std::bit_cast<double>(values[i]);
    const double part = (value + sigma) - sigma;
    values[i] = std::bit_cast<std::uint64_t>(value - part);
    rest |= values[i] & kWithoutSign;
    sum += part;
  }
  return {sum, rest};
}

template <class F, class T>
constexpr ByShape<Compare> kComparePlain = {
    compare_plain<F, T, false, false>, compare_plain<F, T, true, false>,
    compare_plain<F, T, false, true>, compare_plain<F, T, true, true>};

template <class T>
constexpr std::array<ByShape<Compare>, 6> kComparisonsPlain = {
    kComparePlain<std::equal_to<>, T>, kComparePlain<std::not_equal_to<>, T>,
    kComparePlain<std::less<>, T>,     kComparePlain<std::less_equal<>, T>,
    kComparePlain<std::greater<>, T>,  kComparePlain<std::greater_equal<>, T>};

template <class F>
constexpr ByShape<Calculate> kCalculatePlain = {
    calculate_plain<F, false, false>, calculate_plain<F, true, false>,
    calculate_plain<F, false, true>, calculate_plain<F, true, true>};

}  // namespace

const BlockKernels kPlain = {.name = "plain",
                             .add = kCalculatePlain<std::plus<>>,
                             .subtract = kCalculatePlain<std::minus<>>,
                             .multiply = kCalculatePlain<std::multiplies<>>,
                             .divide = kCalculatePlain<std::divides<>>,
                             .sum_products = sum_plain<TermKind::product>,
                             .sum_squares = sum_plain<TermKind::square>,
                             .compare_floats = kComparisonsPlain<double>,
                             .compare_ints = kComparisonsPlain<std::int64_t>,
                             .take = take_plain,
                             .extract = extract_plain};

}  // namespace gorgo::engine::kernels
