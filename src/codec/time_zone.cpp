#include "codec/time_zone.hpp"

#include <date/tz.h>

#include <exception>

namespace gorgo::codec {

Result<const date::time_zone*> find_zone(const std::string& name) {
  if (name.empty() || name == "UTC" || name == "Z") return {std::in_place, nullptr};
  try {
    return {std::in_place, date::locate_zone(name)};
  } catch (const std::exception&) {
    return Error{"there is no time zone '" + name + "'",
                 "they are called as in /usr/share/zoneinfo: Europe/Rome, America/New_York"};
  }
}

}  // namespace gorgo::codec
