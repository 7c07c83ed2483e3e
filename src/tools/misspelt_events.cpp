#include "tools/misspelt_events.hpp"

#include <cstdint>
#include <string_view>

#include "language/reporter.hpp"

namespace gorgo::tools {
namespace {

using language::in_quotes;

std::string sentence_of(std::uint64_t events, const std::string& type, std::string_view meant) {
  return "no rule reads the " + std::to_string(events) + (events == 1 ? " event" : " events") +
         " of type " + in_quotes(type) + ", and " + in_quotes(meant) +
         ", which rules read, has none: is it meant?";
}

std::vector<std::string> misspelt_attributes(const TypeInfo& type) {
  std::vector<std::string> found;
  for (const std::string& missing : type.missing_attributes) {
    const auto near = closest_name(missing, type.unread_attributes);
    if (near.empty()) continue;
    found.push_back("no event of type " + in_quotes(type.name) + " has the attribute " +
                    in_quotes(missing) + ", which rules read; they have " + in_quotes(near) +
                    ": is it meant?");
  }
  return found;
}

}  // namespace

std::vector<std::string> misspelt_in(const std::vector<TypeInfo>& types) {
  std::vector<std::string> awaited, found;
  for (const TypeInfo& type : types) {
    if (!type.name.empty() && !type.is_unread && type.seen == 0) awaited.push_back(type.name);
  }
  for (const TypeInfo& type : types) {
    if (type.name.empty()) continue;
    if (!type.is_unread) {
      for (std::string& each : misspelt_attributes(type)) found.push_back(std::move(each));
    } else if (type.accepted > 0) {
      const auto meant = closest_name(type.name, awaited);
      if (!meant.empty()) found.push_back(sentence_of(type.accepted, type.name, meant));
    }
  }
  return found;
}

}  // namespace gorgo::tools
