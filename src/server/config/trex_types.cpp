#include "server/config/trex_types.hpp"

#include <charconv>

#include "codec/names.hpp"
#include "protocol/trex/condition_text.hpp"

namespace gorgo::server {

Result<std::map<std::int32_t, std::string>> parse_trex_types(
    const std::map<std::string, std::string>& table) {
  std::map<std::int32_t, std::string> types;
  std::map<std::string, std::string> numbers;
  for (const auto& [key, name] : table) {
    std::int32_t number = 0;
    const char* const end = key.data() + key.size();
    const auto [stopped, failure] = std::from_chars(key.data(), end, number);
    if (failure != std::errc() || stopped != end) {
      return Error{"'" + key + "' is no number of a type", "write 2001 = \"Temp\""};
    }
    if (auto problem = codec::problem_of_name(name, "a type")) return *problem;
    if (const auto [other, added] = numbers.emplace(name, key); !added) {
      return Error{"'" + name + "' has two numbers, " + other->second + " and " + key, ""};
    }
    if (const auto owner = protocol::trex::number_in(name); owner && *owner != number) {
      return Error{"'" + name + "' is what the type " + std::to_string(*owner) + " is called",
                   "choose another name"};
    }
    if (const auto [other, added] = types.emplace(number, name); !added) {
      return Error{"the type " + std::to_string(number) + " has two names, '" + other->second +
                       "' and '" + name + "'",
                   ""};
    }
  }
  return types;
}

std::map<std::string, std::string> trex_types_table(
    const std::map<std::int32_t, std::string>& types) {
  std::map<std::string, std::string> table;
  for (const auto& [number, name] : types) table[std::to_string(number)] = name;
  return table;
}

}  // namespace gorgo::server
