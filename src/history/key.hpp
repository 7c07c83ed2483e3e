#pragma once

#include <bit>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>

#include "base/arithmetic.hpp"
#include "gorgo/value.hpp"

/// Values as keys of hash tables: two values have the same word, or hash, when `=` holds between
/// them (language.md §5), and a value that equals nothing has none.
namespace gorgo::history {

/// The value as one of type `type`, if any value of the type equals it: 3.0 as the int 3, but
/// neither 3.5 nor NaN. -0.0 becomes 0.0.
inline std::optional<Datum> as_key(const Datum& value, ValueType type) {
  if (!value.exists()) return std::nullopt;
  if (value.tag == Datum::Tag::floating) {
    const double v = value.floating;
    if (!(v == v)) return std::nullopt;
    if (type == ValueType::floating) return Datum::of(v + 0.0);
    const Datum whole = type == ValueType::integer ? arithmetic::to_int(value) : Datum::none();
    if (!whole.exists() || !arithmetic::compare(Op::equal, whole, value)) return std::nullopt;
    return whole;
  }
  if (value.tag == Datum::Tag::integer && type == ValueType::floating) {
    const Datum converted = arithmetic::to_float(value);
    if (!arithmetic::compare(Op::equal, converted, value)) return std::nullopt;
    return converted;
  }
  if (value.type() != type) return std::nullopt;
  return value;
}

/// Precondition: a result of `as_key`, no string. Different values of one type have different
/// words.
inline std::uint64_t key_word(const Datum& value) {
  if (value.tag == Datum::Tag::boolean) return value.boolean ? 1 : 0;
  return std::bit_cast<std::uint64_t>(value.integer);
}

/// Whether the words of an AttributeVector of the type are those of its values as keys.
inline bool has_words_of_keys(ValueType type) {
  return type == ValueType::integer || type == ValueType::boolean;
}

/// The word of the value as one of type `type`, if any value of the type equals it. Precondition:
/// `type` is not string.
inline std::optional<std::uint64_t> word_as(const Datum& value, ValueType type) {
  if (value.tag == Datum::Tag::integer && type == ValueType::integer) return key_word(value);
  const auto key = as_key(value, type);
  if (!key) return std::nullopt;
  return key_word(*key);
}

/// Spreads a word over all bits: the finalizer of SplitMix64 (Steele, Lea and Flood, "Fast
/// splittable pseudorandom number generators", OOPSLA 2014).
inline std::uint64_t mix(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EB;
  return x ^ (x >> 31);
}

/// Precondition: results of `as_key`. Values that are not all equal may share a hash.
inline std::uint64_t key_hash(std::span<const Datum> values) {
  std::uint64_t hash = values.size();
  for (const Datum& value : values) {
    const bool text = value.tag == Datum::Tag::string;
    const std::uint64_t part = text ? std::hash<std::string_view>()(value.text()) : key_word(value);
    hash = mix(hash ^ part) + 0x9E3779B97F4A7C15;
  }
  return hash;
}

}  // namespace gorgo::history
