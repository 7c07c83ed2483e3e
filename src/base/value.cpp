#include "gorgo/value.hpp"

#include <type_traits>

namespace gorgo {

std::string_view to_string(ValueType type) {
  switch (type) {
    case ValueType::integer:
      return "int";
    case ValueType::floating:
      return "float";
    case ValueType::boolean:
      return "bool";
    case ValueType::string:
      return "string";
  }
  return "?";
}

Datum to_datum(const Value& value) {
  return std::visit(
      [](const auto& v) {
        if constexpr (std::is_same_v<std::decay_t<decltype(v)>, std::monostate>) {
          return Datum::none();
        } else if constexpr (std::is_same_v<std::decay_t<decltype(v)>, std::string>) {
          return Datum::of(std::string_view(v));
        } else {
          return Datum::of(v);
        }
      },
      value);
}

Value to_value(const Datum& datum) {
  switch (datum.tag) {
    case Datum::Tag::none:
      return {};
    case Datum::Tag::integer:
      return datum.integer;
    case Datum::Tag::floating:
      return datum.floating;
    case Datum::Tag::boolean:
      return datum.boolean;
    case Datum::Tag::string:
      return std::string(datum.text());
  }
  return {};
}

}  // namespace gorgo
