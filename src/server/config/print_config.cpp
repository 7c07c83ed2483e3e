#include <algorithm>

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
  for (const auto& [name, door] : options.doors) {
    text += "\n[doors." + name + "]\n";
    for (const auto& [key, value] : door.given) text += key + " = " + toml_text(value) + "\n";
  }
  return text;
}

}  // namespace gorgo::server
