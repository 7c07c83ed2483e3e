#pragma once

#include "base/number.hpp"
#include "cuda/layout.hpp"
#include "cuda/text.hpp"

#ifdef __CUDACC__
#define GORGO_NOINLINE __noinline__
#else
#define GORGO_NOINLINE __attribute__((noinline))
#endif

/// Decides whether an event is found, for the device and, compiled by the host's compiler, for the
/// CPU in its stead: the text is the same, so the answer is.
namespace gorgo::gpu {

GORGO_HD inline double as_float(std::uint64_t word) {
#ifdef __CUDA_ARCH__
  return __longlong_as_double(static_cast<long long>(word));
#else
  return __builtin_bit_cast(double, word);
#endif
}

GORGO_HD inline std::uint64_t as_word(double value) {
#ifdef __CUDA_ARCH__
  return static_cast<std::uint64_t>(__double_as_longlong(value));
#else
  return __builtin_bit_cast(std::uint64_t, value);
#endif
}

GORGO_HD inline std::int64_t as_integer(std::uint64_t word) {
  return static_cast<std::int64_t>(word);
}

GORGO_HD inline bool compare(Kind kind, Op op, std::uint64_t a, std::uint64_t b) {
  using arithmetic::order;
  using arithmetic::satisfies;
  switch (kind) {
    case Kind::integers:
      return satisfies(order(as_integer(a), as_integer(b)), op);
    case Kind::floats:
      return satisfies(order(as_float(a), as_float(b)), op);
    case Kind::integer_float:
      return satisfies(order(as_integer(a), as_float(b)), op);
    case Kind::float_integer:
      return satisfies(order(as_float(a), as_integer(b)), op);
    case Kind::words:
      return (a == b) == (op == Op::equal);
  }
  return false;
}

GORGO_HD inline std::uint64_t load(const View& view, std::uint32_t table, std::uint64_t first_page,
                                   std::uint64_t position) {
  const std::uint64_t entry = (position >> view.page_shift) - first_page;
  const std::uint64_t page = view.pages[table + entry];
  const std::uint64_t offset = position & ((std::uint64_t{1} << view.page_shift) - 1);
  return view.arena[(page << view.page_shift) + offset];
}

GORGO_HD inline Cell load(const View& view, const Attribute& attribute, std::uint64_t position) {
  const bool exists = attribute.present == kNone ||
                      load(view, attribute.present, attribute.first_page, position) != 0;
  if (!exists) return {};
  return {load(view, attribute.pages, attribute.first_page, position), 1};
}

/// A condition that has no value does not hold.
GORGO_HD inline bool holds(const Cell& condition) { return condition.exists && condition.bits; }
GORGO_HD inline Cell boolean(bool value) { return {value ? std::uint64_t{1} : 0, 1}; }

GORGO_HD inline Cell apply(const Instruction& i, const Cell& a) {
  std::int64_t integer = 0;
  switch (i.code) {
    case Code::logical_not:
      return boolean(!holds(a));
    case Code::negate_float:
      return {as_word(-as_float(a.bits)), a.exists};
    case Code::to_float:
      return {as_word(static_cast<double>(as_integer(a.bits))), a.exists};
    case Code::negate_integer:
      if (!arithmetic::calculate(Op::subtract, std::int64_t{0}, as_integer(a.bits), integer)) {
        return {};
      }
      return {static_cast<std::uint64_t>(integer), a.exists};
    case Code::to_integer:
      if (!arithmetic::truncate(as_float(a.bits), integer)) return {};
      return {static_cast<std::uint64_t>(integer), a.exists};
    default:
      return {};
  }
}

GORGO_HD inline Cell apply(const Instruction& i, const Cell& a, const Cell& b) {
  if (i.code == Code::logical_and) return boolean(holds(a) && holds(b));
  if (i.code == Code::logical_or) return boolean(holds(a) || holds(b));
  const bool exist = a.exists && b.exists;
  if (i.code == Code::compare) return boolean(exist && compare(i.kind, i.op, a.bits, b.bits));
  if (!exist) return {};
  if (i.code == Code::floats) {
    return {as_word(arithmetic::calculate(i.op, as_float(a.bits), as_float(b.bits))), 1};
  }
  std::int64_t result = 0;
  if (!arithmetic::calculate(i.op, as_integer(a.bits), as_integer(b.bits), result)) return {};
  return {static_cast<std::uint64_t>(result), 1};
}

/// A string as text.
struct Text {
  std::uint64_t first = 0;               ///< its first word
  const Attribute* attribute = nullptr;  ///< null: of a search
  std::uint64_t at = 0;                  ///< position, or number of the cell
  bool exists = false;
};
GORGO_HD inline Text text_of(const View& view, const Attribute* attribute, std::uint64_t position) {
  const Cell first = load(view, *attribute, position);
  return {first.bits, attribute, position, first.exists != 0};
}

/// Reads the parts of a text that exists.
struct TextParts {
  const View& view;
  const Text& text;

  GORGO_HD std::uint64_t part(std::uint64_t i) const {
    if (text.attribute == nullptr) return view.texts[view.cells[text.at].exists - 1 + i];
    const Attribute& attribute = *text.attribute;
    const auto table = static_cast<std::uint32_t>(attribute.pages + i * attribute.stride);
    return load(view, table, attribute.first_page, text.at);
  }
  GORGO_HD std::uint64_t length() const { return part(1); }
  GORGO_HD std::uint64_t word(std::uint64_t i) const { return i == 0 ? text.first : part(i + 1); }
};

/// Whether `a op b` holds where their first words do not decide. It is not inlined: few texts come
/// to that, and it is large.
GORGO_HD GORGO_NOINLINE inline bool compare_parts(const View& view, Op op, Text a, Text b) {
  const TextParts left{view, a}, right{view, b};
  if (op == Op::contains) return contains(left, right);
  return arithmetic::satisfies(order_of_texts(left, right), op);
}

GORGO_HD inline Cell compare(const View& view, Op op, const Text& a, const Text& b) {
  if (!a.exists || !b.exists) return boolean(false);
  if (op == Op::contains || a.first == b.first) return boolean(compare_parts(view, op, a, b));
  return boolean(arithmetic::satisfies(arithmetic::order(a.first, b.first), op));
}

/// Whether `a op b` may hold as far as their first words tell: false only where it does not hold.
GORGO_HD inline Cell compare_first(Op op, const Text& a, const Text& b) {
  const bool below = op == Op::less || op == Op::less_equal;
  const bool above = op == Op::greater || op == Op::greater_equal;
  const bool may_hold = below ? a.first <= b.first : !above || a.first >= b.first;
  return boolean(a.exists & b.exists & may_hold);
}

/// The chosen event of a scan that is no negation's: no instruction asks for it.
struct NothingChosen {
  GORGO_HD Cell operator()(const View&, std::uint32_t) const { return {}; }
  GORGO_HD Text text(const View&, std::uint32_t) const { return {}; }
};
/// What a negation is tested on: an event of the search's column.
struct Chosen {
  const Attribute* attributes;
  std::uint64_t position;

  GORGO_HD Cell operator()(const View& view, std::uint32_t attribute) const {
    return load(view, attributes[attribute], position);
  }
  GORGO_HD Text text(const View& view, std::uint32_t attribute) const {
    return text_of(view, attributes + attribute, position);
  }
};

/// Finds the texts that the instructions of a program read.
template <class ChosenEvent>
struct TextsOf {
  const View& view;
  const Attribute* attributes;
  const Cell* cells;
  std::uint64_t position;
  const ChosenEvent& chosen;

  GORGO_HD Text operator()(Source source, std::uint32_t operand) const {
    if (source == Source::candidate) return text_of(view, attributes + operand, position);
    if (source == Source::chosen) return chosen.text(view, operand);
    const auto cell = static_cast<std::uint64_t>(cells - view.cells) + operand;
    return {view.cells[cell].bits, nullptr, cell, view.cells[cell].exists != 0};
  }
};

/// Whether the candidate passes the scan's program.
template <class ChosenEvent>
GORGO_HD bool runs(const View& view, const Scan& scan, const Cell* cells, std::uint64_t position,
                   const ChosenEvent& chosen) {
  const Attribute* attributes = view.attributes + scan.attributes;
  const Instruction* code = view.instructions + scan.first_instruction;
  const TextsOf<ChosenEvent> text{view, attributes, cells, position, chosen};
  Cell stack[kStack];
  Cell top;  // the stack's last, which most instructions read
  int below = 0;
  for (std::uint32_t pc = 0; pc < scan.instructions; ++pc) {
    const Instruction i = code[pc];
    switch (i.code) {
      case Code::attribute:
      case Code::present:
        stack[below++] = top;
        top = load(view, attributes[i.operand], position);
        if (i.code == Code::present) top = boolean(top.exists);
        break;
      case Code::cell:
        stack[below++] = top;
        top = cells[i.operand];
        break;
      case Code::chosen:
        stack[below++] = top;
        top = chosen(view, i.operand);
        break;
      case Code::compare_texts:
        stack[below++] = top;
        top = compare(view, i.op, text(i.left, i.operand), text(i.right, i.other));
        break;
      case Code::require:
        if (!holds(top)) return false;
        top = stack[--below];
        break;
      case Code::negate_integer:
      case Code::negate_float:
      case Code::to_float:
      case Code::to_integer:
      case Code::logical_not:
        top = apply(i, top);
        break;
      default:
        top = apply(i, stack[--below], top);
    }
  }
  return true;
}

/// Both bounds are compared in any case: threads that go different ways wait for each other.
GORGO_HD inline bool passes(const Test& test, const Bounds& bounds, std::uint64_t word) {
  const bool above = test.floats ? as_float(word) >= as_float(bounds.low)
                                 : as_integer(word) >= as_integer(bounds.low);
  const bool below = test.floats ? as_float(word) <= as_float(bounds.high)
                                 : as_integer(word) <= as_integer(bounds.high);
  return (above & below) != test.negated;
}

/// Whether the event at a position is found by a search that has these bounds and cells.
template <class ChosenEvent = NothingChosen>
GORGO_HD bool passes(const View& view, const Scan& scan, const Bounds* bounds, const Cell* cells,
                     std::uint64_t position, const ChosenEvent& chosen = {}) {
  const Test* tests = view.tests + scan.first_test;
  for (std::uint32_t i = 0; i < scan.tests; ++i) {
    const Cell value = load(view, view.attributes[scan.attributes + tests[i].attribute], position);
    if (!value.exists || !passes(tests[i], bounds[i], value.bits)) return false;
  }
  return scan.instructions == 0 || runs(view, scan, cells, position, chosen);
}

/// The open interval of a negation for an event of this time.
struct OpenInterval {
  std::int64_t after, before;
};
GORGO_HD inline OpenInterval interval_for(const NegationInterval& interval, std::int64_t time) {
  constexpr std::int64_t kLeast = arithmetic::kLeastInteger;
  const std::int64_t begin = time < kLeast + interval.width ? kLeast : time - interval.width;
  return {interval.after < begin ? interval.after : begin,
          interval.before > time ? interval.before : time};
}

/// Keys of words: as unsigned words they have the order of the values. Precondition: no value is a
/// NaN.
GORGO_HD inline std::uint64_t key_of(bool floats, std::uint64_t word) {
  constexpr std::uint64_t kSign = std::uint64_t{1} << 63;
  return floats && (word & kSign) != 0 ? ~word : word ^ kSign;
}
GORGO_HD inline std::uint64_t word_of_key(bool floats, std::uint64_t key) {
  constexpr std::uint64_t kSign = std::uint64_t{1} << 63;
  return floats && (key & kSign) == 0 ? ~key : key ^ kSign;
}

GORGO_HD inline void merge(Reduction& to, const Reduction& from) {
  to.count += from.count;
  to.numbers += from.numbers;
  to.low += from.low;
  to.high += from.high;
  to.least = from.least > to.least ? from.least : to.least;
  to.greatest = from.greatest > to.greatest ? from.greatest : to.greatest;
}

/// A float's magnitude as `mantissa` * 2^(bit - 1074). Precondition: it is no NaN and no infinity.
struct Magnitude {
  std::uint64_t mantissa;
  std::uint32_t bit;
};
GORGO_HD inline Magnitude magnitude_of(std::uint64_t word) {
  const auto exponent = static_cast<std::uint32_t>(word >> 52 & 0x7ff);
  const std::uint64_t fraction = word & ((std::uint64_t{1} << 52) - 1);
  if (exponent == 0) return {fraction, 0};
  return {fraction | std::uint64_t{1} << 52, exponent - 1};
}
GORGO_HD inline bool is_finite(std::uint64_t word) { return (word >> 52 & 0x7ff) != 0x7ff; }

/// Calls `add(limb, number)` for each limb of a `FloatSum` that changes when `value` * 2^(32 first
/// - 1074) is added. The number, which is signed, is what the limb changes by.
template <class Add>
GORGO_HD void add_to_limbs(std::uint32_t first, Int128 value, Add add) {
  const auto bits = static_cast<UInt128>(value);
  for (std::uint32_t i = 0; i < 3; ++i) {
    const auto part = static_cast<std::uint64_t>(bits >> (32 * i)) & 0xffffffffu;
    if (part != 0) add(first + i, part);
  }
  const auto last = static_cast<std::uint64_t>(static_cast<std::int64_t>(value >> 96));
  if (last != 0) add(first + 3, last);
}

/// A finite float as a number of units of 2^(32 first - 1074). Precondition: its lowest bit is not
/// below that unit's, and at most 63 above.
GORGO_HD inline Int128 units_of(std::uint64_t word, const Magnitude& magnitude,
                                std::uint32_t first) {
  const Int128 value = static_cast<Int128>(magnitude.mantissa) << (magnitude.bit - 32 * first);
  return word >> 63 != 0 ? -value : value;
}

GORGO_HD inline void add(FloatSum& to, std::uint64_t word) {
  ++to.count;
  if (!is_finite(word)) {
    ++(as_float(word) != as_float(word) ? to.nans
       : word >> 63 != 0                ? to.negative_infinities
                                        : to.infinities);
    return;
  }
  const Magnitude magnitude = magnitude_of(word);
  const std::uint32_t first = magnitude.bit / 32;
  add_to_limbs(first, units_of(word, magnitude, first),
               [&](std::uint32_t limb, std::uint64_t number) { to.limbs[limb] += number; });
}

/// How a range lies in a tile, whose positions stand in at most 32 rows. Precondition: the two have
/// a position in common.
struct RowsOfRange {
  std::uint64_t first, last;     ///< positions of the range that are in the tile
  unsigned whole;                ///< a bit for each row that the range covers
  unsigned first_row, last_row;  ///< those that it begins and ends in

  GORGO_HD bool covers(unsigned row) const { return (whole >> row & 1u) != 0; }
};
GORGO_HD inline RowsOfRange rows_of(std::uint64_t range_first, std::uint64_t range_last,
                                    std::uint64_t begin, std::uint64_t end, unsigned row) {
  RowsOfRange rows;
  rows.first = range_first > begin ? range_first : begin;
  rows.last = range_last < end ? range_last : end;
  rows.first_row = static_cast<unsigned>((rows.first - begin) / row);
  rows.last_row = static_cast<unsigned>((rows.last - 1 - begin) / row);
  const bool begins = rows.first == begin + std::uint64_t{rows.first_row} * row;
  const bool ends =
      rows.last == end || rows.last == begin + (rows.last_row + std::uint64_t{1}) * row;
  const std::uint64_t from = rows.first_row + (begins ? 0u : 1u);
  const std::uint64_t to = rows.last_row + (ends ? 1u : 0u);
  const std::uint64_t below = (std::uint64_t{1} << to) - 1;
  rows.whole = static_cast<unsigned>(from < to ? below >> from << from : 0);
  return rows;
}

/// What one passing event adds to a reduction.
GORGO_HD inline Reduction reduction_of(const View& view, const Scan& scan, std::uint64_t position) {
  Reduction one = {};
  if (scan.reduced == kNone) {
    one.count = 1;
    return one;
  }
  const Cell value = load(view, view.attributes[scan.attributes + scan.reduced], position);
  if (!value.exists) return one;
  one.count = 1;
  if (scan.reduced_floats && !(as_float(value.bits) == as_float(value.bits))) return one;
  one.numbers = 1;
  one.greatest = key_of(scan.reduced_floats, value.bits);
  one.least = ~one.greatest;
  if (scan.reduced_floats) return one;
  one.low = value.bits & 0xffffffffu;
  one.high = static_cast<std::uint64_t>(as_integer(value.bits) >> 32);
  return one;
}

}  // namespace gorgo::gpu
