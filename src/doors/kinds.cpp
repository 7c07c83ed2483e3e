#include <algorithm>

#include "doors/kind.hpp"
#include "doors/shown.hpp"

namespace gorgo::doors {

const std::vector<Kind>& kinds() {
  static const std::vector<Kind> all = {file_kind(),     http_kind(),          kafka_kind(),
                                        mqtt_kind(),     mqtt_listener_kind(), nats_kind(),
                                        postgres_kind(), stdin_kind(),         syslog_kind()};
  return all;
}

const Kind* find_kind(std::string_view name) {
  const auto found = std::ranges::find(kinds(), name, &Kind::name);
  return found == kinds().end() ? nullptr : &*found;
}

Result<void> check_from(const Settings& settings) {
  if (settings.from == "beginning" || settings.from == "end") return {};
  return Error{"from: '" + settings.from + "' is unknown", "one of beginning, end"};
}

Result<void> check_user(const Settings& settings) {
  if (settings.user.empty() == settings.password_file.empty()) return {};
  return Error{"user and password_file go together", "give both or neither"};
}

std::string Settings::target() const {
  const Kind* const known = find_kind(kind);
  if (known == nullptr) return broker;
  return known->target == &Settings::url ? without_values(url) : this->*known->target;
}

}  // namespace gorgo::doors
