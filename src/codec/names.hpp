#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "gorgo/diagnostics.hpp"

/// What types, attributes, aliases and rules may be called (language.md §2). Events of types that
/// nobody declared may have other names, too: rules cannot read them, subscribers to `*` get them.
namespace gorgo::codec {

/// The most bytes that a name has, wherever it stands.
inline constexpr std::size_t kLongestName = 1024;
/// The most attributes that a type may have, an event, or the events of one table.
inline constexpr std::size_t kMostAttributes = 4096;

/// Letters, digits and `_`, no digit first.
bool is_word(std::string_view text);

/// Why this is no name. `what` is "a type", "an alias" or "a rule".
std::optional<Error> problem_of_name(std::string_view name, std::string_view what);
/// Why this is no name of an attribute. Attributes may be named by words that types may not.
std::optional<Error> problem_of_attribute_name(std::string_view name);
/// Why no event of a type with so many attributes could be published.
std::optional<Error> problem_of_attribute_count(std::string_view type, std::size_t count);

/// Whether an attribute of an event may have this name.
bool is_event_name(std::string_view name);
/// Whether the type of an event may have this name: `*` stands for all types.
bool is_event_type(std::string_view name);
/// What is said to those who gave a name that no event can have.
std::string what_event_names_are();
/// A name that stands more than once.
std::optional<std::string_view> repeated_name(std::span<const std::string_view> names);

}  // namespace gorgo::codec
