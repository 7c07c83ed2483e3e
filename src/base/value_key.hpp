#pragma once

#include <bit>
#include <cstdint>
#include <string>

#include "base/arithmetic.hpp"
#include "gorgo/value.hpp"

namespace gorgo {

/// Appends a text that two values of one type share exactly when they are one key (language.md §4):
/// all NaN are one, and so are 0.0 and -0.0. Precondition: there is a value.
inline void append_value_key(const Datum& value, std::string& key) {
  const auto append_word = [&key](std::uint64_t word) {
    key.append(reinterpret_cast<const char*>(&word), sizeof word);
  };
  switch (value.tag) {
    case Datum::Tag::string:
      append_word(value.text().size());
      key += value.text();
      break;
    case Datum::Tag::floating:
      append_word(std::bit_cast<std::uint64_t>(arithmetic::canonical(value).floating + 0.0));
      break;
    case Datum::Tag::boolean:
      key += value.boolean ? '1' : '0';
      break;
    default:
      append_word(std::bit_cast<std::uint64_t>(value.integer));
  }
}

}  // namespace gorgo
