#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gorgo/diagnostics.hpp"
#include "protocol/trex/packets.hpp"

/// What packets say, in the spelling of rules and subscriptions (language.md §2).
namespace gorgo::protocol::trex {

/// The name that the event type with this number has here.
using TypeNames = std::function<std::string(std::int32_t)>;

/// The name of a type that nothing names: `T101`, and `T_5` for -5.
std::string default_name(std::int32_t type);
/// The number that `default_name` makes this name of, if there is one.
std::optional<std::int32_t> number_in(std::string_view name);

/// An attribute as a rule names it, or why no rule can.
Result<std::string> attribute_text(std::string_view latin1);
/// Floats that are no numbers have no spelling.
Result<std::string> literal_text(const Literal& value);
std::string_view comparison_text(Comparison comparison);
/// `value >= 45`
Result<std::string> condition_text(const Constraint& constraint);

/// `Type(condition, condition)`, where every condition stands once and in an order of its own, so
/// that equal subscriptions have one text.
Result<std::string> subscription_text(const Subscription& subscription, const TypeNames& names);

}  // namespace gorgo::protocol::trex
