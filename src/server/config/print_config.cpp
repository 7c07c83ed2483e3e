#include <algorithm>

#include "doors/shown.hpp"
#include "server/config/key.hpp"

namespace gorgo::server {
namespace {

/// Comments begin here, unless what stands before them is longer.
constexpr std::size_t kColumn = 31;

std::string line_of(const ConfigKey& key, const ServerOptions& options,
                    const ServerOptions& defaults) {
  const auto value = key.get(options);
  std::string line = value ? key.name + " = " + toml_text(*value)
                           : "# " + key.name + " = " + toml_text(*key.get(defaults));
  if (line.size() < kColumn - 1) line.resize(kColumn - 1, ' ');
  return line + " # " + key.about + "\n";
}

}  // namespace

std::string print_config(const ServerOptions& options) {
  ServerOptions defaults;
  defaults.cuda.emplace();
  std::string text, section;
  for (const ConfigKey& key : config_keys()) {
    if (key.section != section) text += "\n[" + key.section + "]\n";
    section = key.section;
    text += line_of(key, options, defaults);
  }
  const auto add = [&](const std::string& name, const auto& keys) {
    text += "\n[" + name + "]\n";
    for (const auto& [key, value] : keys) {
      text += key + " = " + toml_text(doors::shown(key, value)) + "\n";
    }
  };
  for (const auto& [name, door] : options.doors) add("doors." + name, door.given);
  for (const auto& [name, target] : options.actions) add("actions." + name, target.given);
  return text;
}

}  // namespace gorgo::server
