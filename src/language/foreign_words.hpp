#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "language/syntax_error.hpp"

namespace gorgo::language {

/// What is written in TESLA for something that other languages have, where the error stands at it;
/// else empty.
std::string hint_for_foreign(const SyntaxError& error, const ItemTokens& item);
/// Says what is meant by a word that stands where a unit of time is due; empty if that is unknown.
std::string hint_for_unit(std::string_view word);
/// Says which value type is meant by one of another language; empty if that is unknown.
std::string hint_for_value_type(std::string_view word);
/// Says what is meant by a word of another language that reads like an attribute; empty if that is
/// unknown.
std::string hint_for_name(std::string_view word);
/// Says which function or form is meant by a function of another language; empty if that is
/// unknown.
std::string hint_for_function(std::string_view word);

}  // namespace gorgo::language
