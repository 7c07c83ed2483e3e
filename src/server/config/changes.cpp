#include "server/config/key.hpp"

namespace gorgo::server {
namespace {

std::string text_of(const std::optional<ConfigValue>& value) {
  return value ? toml_text(*value) : "";
}

}  // namespace

std::string ConfigChange::to_string() const {
  const auto shown = [](const std::string& text) { return text.empty() ? "unset" : text; };
  return key->full_name() + ": " + shown(before) + " -> " + shown(after);
}

std::vector<ConfigChange> changes_between(const ServerOptions& before, const ServerOptions& after) {
  std::vector<ConfigChange> changes;
  for (const ConfigKey& key : config_keys()) {
    ConfigChange change{&key, text_of(key.get(before)), text_of(key.get(after))};
    if (change.before != change.after) changes.push_back(std::move(change));
  }
  return changes;
}

}  // namespace gorgo::server
