#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

namespace gorgo {

/// Nanoseconds since the Unix epoch; negative values are legal, arithmetic on them saturates.
using Timestamp = std::int64_t;
/// Nanoseconds.
using Duration = std::int64_t;

/// The value types of the language (language.md §1).
enum class ValueType : std::uint8_t { integer, floating, boolean, string };

/// The spelling of a type in rules and messages: "int", "float", "bool", "string".
std::string_view to_string(ValueType type);

/// An owned attribute value. `std::monostate` is "no value" (language.md §5).
using Value = std::variant<std::monostate, std::int64_t, double, bool, std::string>;

inline bool has_value(const Value& value) { return value.index() != 0; }

/// Precondition: `has_value(value)`.
inline ValueType type_of(const Value& value) { return static_cast<ValueType>(value.index() - 1); }

/// A value as engines and codecs pass it: 16 bytes, trivially copyable, strings by reference.
/// Whoever hands out a string datum says how long its bytes stay valid.
struct Datum {
  enum class Tag : std::uint8_t { none, integer, floating, boolean, string };

  Tag tag = Tag::none;
  std::uint32_t length = 0;  ///< bytes of a string, else 0
  union {
    std::int64_t integer = 0;
    double floating;
    bool boolean;
    const char* bytes;
  };

  static Datum none() { return {}; }
  static Datum of(std::int64_t v) {
    Datum d;
    d.tag = Tag::integer;
    d.integer = v;
    return d;
  }
  static Datum of(double v) {
    Datum d;
    d.tag = Tag::floating;
    d.floating = v;
    return d;
  }
  static Datum of(bool v) {
    Datum d;
    d.tag = Tag::boolean;
    d.boolean = v;
    return d;
  }
  static Datum of(std::string_view v) {
    Datum d;
    d.tag = Tag::string;
    d.length = static_cast<std::uint32_t>(v.size());
    d.bytes = v.data();
    return d;
  }
  /// A string literal would otherwise convert to bool.
  static Datum of(const char* v) { return of(std::string_view(v)); }

  bool exists() const { return tag != Tag::none; }
  /// Precondition: `exists()`.
  ValueType type() const { return static_cast<ValueType>(static_cast<int>(tag) - 1); }
  /// Precondition: a string.
  std::string_view text() const { return {bytes, length}; }
};
static_assert(sizeof(Datum) == 16);

/// Refers into `value`, which must outlive the result.
Datum to_datum(const Value& value);
Value to_value(const Datum& datum);

}  // namespace gorgo
