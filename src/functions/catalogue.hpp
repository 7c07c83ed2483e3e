#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "gorgo/function.hpp"

/// The functions of the language: how they are called and what they take. Everything here is
/// constant.
namespace gorgo::functions {

/// What an argument may be.
enum class Parameter : std::uint8_t {
  number,     ///< int or float
  floating,   ///< float; an int is converted to nearest
  integer,    ///< int
  text,       ///< string
  condition,  ///< bool
  any,
  pattern,  ///< a literal string, read once when the rule is bound
  zone,     ///< a literal name of a time zone
  instant,  ///< a literal instant in RFC 3339
};

/// What a function gives.
enum class Gives : std::uint8_t {
  integer,
  floating,
  boolean,
  text,
  same,    ///< the type of the first argument
  common,  ///< the type that all arguments of kind `number` or `any` share
};

struct Signature {
  Function function;
  std::string_view name;
  std::span<const Parameter> parameters;
  std::size_t required;  ///< the first so many parameters must be given
  bool repeats;          ///< the last parameter may be given more than once
  Gives result;
  std::string_view usage;  ///< "mod(a, b)"
  std::string_view says;   ///< what it gives, one line

  /// The kind of the argument at this position. Precondition: there may be so many.
  Parameter at(std::size_t position) const;
  std::size_t most() const;
};

/// In the order in which documents list them.
std::span<const Signature> catalogue();
const Signature& signature_of(Function function);
/// The function of this name, in any case of letters; null: there is none.
const Signature* find(std::string_view name);
std::vector<std::string> names();

}  // namespace gorgo::functions
