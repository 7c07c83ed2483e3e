#include "codec/time_zone.hpp"

#include <date/tz.h>

#include <exception>
#include <vector>

#include "gorgo/diagnostics.hpp"

namespace gorgo::codec {
namespace {

std::string hint_for(const std::string& name) {
  std::vector<std::string> known;
  for (const date::time_zone& zone : date::get_tzdb().zones) known.push_back(zone.name());
  const std::string_view meant = closest_name(name, known);
  if (!meant.empty()) return "did you mean `" + std::string(meant) + "`?";
  return "they are called as in /usr/share/zoneinfo: Europe/Rome, America/New_York";
}

}  // namespace

Result<const date::time_zone*> find_zone(const std::string& name) {
  if (name.empty() || name == "UTC" || name == "Z") return {std::in_place, nullptr};
  try {
    return {std::in_place, date::locate_zone(name)};
  } catch (const std::exception&) {
    return Error{"there is no time zone '" + name + "'", hint_for(name)};
  }
}

}  // namespace gorgo::codec
