#include "functions/call.hpp"

#include <algorithm>

#include "functions/numbers.hpp"
#include "functions/texts.hpp"
#include "functions/times.hpp"

namespace gorgo::functions {
namespace {

Datum first_value(std::span<const Datum> arguments) {
  const auto found = std::ranges::find_if(arguments, &Datum::exists);
  return found == arguments.end() ? Datum::none() : *found;
}

bool is_true(const Datum& condition) {
  return condition.tag == Datum::Tag::boolean && condition.boolean;
}

}  // namespace

Datum call(Function function, std::span<const Datum> arguments, const Prepared* prepared) {
  if (function == Function::exists) return Datum::of(arguments[0].exists());
  if (function == Function::coalesce) return first_value(arguments);
  if (function == Function::choose) return is_true(arguments[0]) ? arguments[1] : arguments[2];
  if (!std::ranges::all_of(arguments, &Datum::exists)) return Datum::none();
  if (function <= Function::geo_distance) return call_on_numbers(function, arguments);
  if (function <= Function::matches) return call_on_texts(function, arguments, prepared);
  return call_on_time(function, arguments, prepared == nullptr ? nullptr : prepared->zone);
}

}  // namespace gorgo::functions
