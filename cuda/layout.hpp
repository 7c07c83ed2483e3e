#pragma once

#include <cstdint>

#include "gorgo/op.hpp"

/// What host and device share: the searches of a round and the programs that they run, as plain
/// arrays. A value is a word of 64 bits: an int, the bits of a float, a bool as 0 or 1, a string as
/// its code in a dictionary, 0 for one that stands in no column. Where strings are compared by
/// order or part they are text: parts of a word each, which are the first word, the length in bytes
/// and the further words (cuda/text.hpp).
namespace gorgo::gpu {

inline constexpr std::uint32_t kNone = ~std::uint32_t{0};

/// How words are compared.
enum class Kind : std::uint8_t { integers, floats, integer_float, float_integer, words };

/// Tests whether an attribute lies in an interval of the search, or does not. Fails for an event
/// that lacks it. Every comparison of an attribute with a value is a test; the host finds its
/// bounds.
struct Test {
  std::uint16_t attribute = 0;  ///< of the scan
  bool floats = false;          ///< else as ints
  bool negated = false;
};

/// A closed interval; empty when low > high. As floats it holds no NaN.
struct Bounds {
  std::uint64_t low, high;
};

/// Where a value comes from.
enum class Source : std::uint8_t {
  candidate,
  search,
  chosen  ///< the event that a negation is tested on
};

/// Instructions of a stack machine for what is no plain comparison.
enum class Code : std::uint8_t {
  attribute,  ///< push attribute `operand` of the candidate
  cell,       ///< push cell `operand` of the search
  chosen,     ///< in a negation: push attribute `operand` of the event that it is tested on
  present,    ///< push whether the candidate has attribute `operand`
  integers,   ///< `op` on two ints
  floats,     ///< `op` on two floats
  negate_integer,
  negate_float,
  to_float,
  to_integer,
  compare,        ///< `op` by `kind`
  compare_texts,  ///< push whether `op` holds for text `operand` of `left` and `other` of `right`
  logical_and,
  logical_or,
  logical_not,
  require,  ///< pop; the candidate fails unless it holds
};

struct Instruction {
  Code code = Code::require;
  Op op = Op::constant;
  Kind kind = Kind::integers;
  std::uint16_t operand = 0;
  Source left = Source::candidate, right = Source::candidate;
  std::uint16_t other = 0;
};
/// How many values a program may hold on its stack.
inline constexpr std::uint32_t kStack = 16;

/// An attribute of a column, in pages of the arena.
struct Attribute {
  std::uint64_t first_page = 0;   ///< position / page size of the first entry
  std::uint32_t pages = 0;        ///< first entry in `View::pages`
  std::uint32_t stride = 0;       ///< of text: entries from a part to the next
  std::uint32_t present = kNone;  ///< first entry of the words that say whether events have it
};

/// Says which events of a column pass: those that all tests and the program let pass.
struct Scan {
  std::uint32_t attributes = 0;  ///< first, in `View::attributes`
  std::uint32_t first_test = 0, tests = 0;
  std::uint32_t first_instruction = 0, instructions = 0;
  std::uint32_t reduced = kNone;  ///< attribute that `Want::reduction` is about; kNone: events
  bool reduced_floats = false;    ///< its type: float, or int and others
  std::uint32_t time = kNone;     ///< attribute that is the events' time, where negations read it
  std::uint32_t negations = 0;    ///< of each of its searches
  std::uint32_t shape = 0;        ///< shape whose kernels test it, from `Device::add_shape`; 0: any
};

enum class Want : std::uint8_t {
  oldest,     ///< the first `limit` passing positions, ascending
  newest,     ///< the last `limit`, descending
  every,      ///< all, ascending
  reduction,  ///< a `Reduction` over all
  sum         ///< a `FloatSum` over all
};

/// The positions [first, last) of a column, tested by a scan.
struct Search {
  std::uint64_t first = 0, last = 0;
  std::uint32_t scan = 0;
  std::uint32_t bounds = 0;          ///< first, in `View::bounds`: one for each test
  std::uint32_t cells = 0;           ///< first, in `View::cells`
  std::uint32_t limit = 0;           ///< oldest, newest
  std::uint32_t output = 0;          ///< oldest, newest: where its offsets begin in the answer
  std::uint32_t first_negation = 0;  ///< in `View::negations`: one for each of the scan's
};

/// An open interval of times for an event of time t: (min(after, t - width), max(before, t)).
struct NegationInterval {
  std::int64_t after = 0, before = 0;
  std::int64_t width = 0;  ///< not negative
};

/// A negation of a search, which finds no event that has another in this column and interval.
struct NegationSearch {
  std::uint64_t first = 0, last = 0;  ///< positions that may lie in the interval; none: never
  std::uint32_t scan = 0;             ///< if it has no `time`, all of these positions lie in it
  std::uint32_t bounds = 0, cells = 0;
  NegationInterval interval;
};

/// Searches of one scan that stand side by side.
struct Group {
  std::uint64_t base = 0, end = 0;  ///< positions of all of them
  std::uint32_t first = 0, count = 0;
};
/// The most searches of a group: one for each lane of a warp.
inline constexpr std::uint32_t kMostGrouped = 32;

/// A match of a search for every position.
struct Match {
  std::uint32_t search, offset;
};

/// A value that a program reads and that is the same for a whole search.
struct Cell {
  std::uint64_t bits = 0;  ///< for text, its first word
  /// 0 or 1; for a search's text, 1 + where its parts begin in `View::texts`.
  std::uint64_t exists = 0;
};

/// COUNT, SUM, MIN and MAX of words at once, in the form in which parts of them are put together by
/// additions and maxima alone, whatever their order; all zeros are the reduction of nothing. The
/// sum is of ints and exact for up to 2^32 of them: `low` + `high` * 2^32. Extremes are keys, whose
/// order as unsigned words is that of the values.
struct Reduction {
  std::uint64_t count;     ///< passing events that have the attribute
  std::uint64_t numbers;   ///< those of them that are no NaN; extremes are among these
  std::uint64_t low;       ///< of the ints, the lower halves
  std::uint64_t high;      ///< the upper halves, as of a signed sum
  std::uint64_t least;     ///< the complement of the least key
  std::uint64_t greatest;  ///< the greatest key
};

/// The exact sum of floats, put together by additions alone, whatever their order; all zeros are
/// the sum of none. Limb i counts 2^(32 i - 1074), as a signed number, for up to 2^31 floats.
struct FloatSum {
  static constexpr std::uint32_t kLimbs = 67;  ///< 64 that floats begin in, and three more

  std::uint64_t count;  ///< passing events that have the attribute
  std::uint64_t nans, infinities, negative_infinities;
  std::uint64_t limbs[kLimbs];
};

/// Where all of a round is found, in the memory of whoever runs it.
struct View {
  const std::uint64_t* arena = nullptr;
  std::uint32_t page_shift = 0;  ///< log2 of the words of a page
  const std::uint32_t* pages = nullptr;
  const Attribute* attributes = nullptr;
  const Test* tests = nullptr;
  const Instruction* instructions = nullptr;
  const Scan* scans = nullptr;
  const Bounds* bounds = nullptr;
  const Cell* cells = nullptr;
  const std::uint64_t* texts = nullptr;
  const NegationSearch* negations = nullptr;
};

}  // namespace gorgo::gpu
