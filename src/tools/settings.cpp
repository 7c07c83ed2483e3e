#include "tools/settings.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>

#include "gorgo/diagnostics.hpp"

namespace gorgo::tools {

void Settings::add_option(CLI::App* command) {
  command
      ->add_option_function<std::vector<std::string>>(
          "--set",
          [this](const std::vector<std::string>& texts) {
            for (const std::string& text : texts) {
              if (auto added = add(text); !added) {
                throw CLI::ValidationError("--set", added.error().to_string());
              }
            }
          },
          "Give a constant of the rules another value; may be given several times")
      ->option_text("NAME=VALUE");
}

Result<void> Settings::add(const std::string& text) {
  const auto equal = text.find('=');
  if (equal == text.npos || equal == 0 || equal + 1 == text.size()) {
    return Error{"'" + text + "' is no setting", "write for example --set limit=45"};
  }
  const std::string name = text.substr(0, equal);
  if (std::ranges::find(settings_, name, &Setting::name) != settings_.end()) {
    return Error{name + " is given twice", ""};
  }
  // Its text takes the literal's place in the rules, so that it must be one.
  const std::string value =
      text.substr(std::min(text.find_first_not_of(' ', equal + 1), text.size()));
  constexpr std::string_view kBefore = "const x = ";
  language::Source probe;
  probe.text = std::string(kBefore) + value + ";";
  const auto constants = language::constants_of(probe);
  const bool is_literal = constants.size() == 1 && constants.front().begin == kBefore.size() &&
                          constants.front().size == value.size();
  if (!is_literal) {
    return Error{"'" + value + "' is no literal",
                 "write a number, a duration such as 10s, true, false, or a text in quotes"};
  }
  settings_.push_back({.name = name, .value = value});
  return {};
}

void Settings::apply(language::Source& source) {
  if (settings_.empty()) return;
  const auto constants = language::constants_of(source);
  for (const auto& constant : constants) known_.push_back(constant.name);
  // From behind, so that the places before stay right.
  for (auto constant = constants.rbegin(); constant != constants.rend(); ++constant) {
    const auto setting = std::ranges::find(settings_, constant->name, &Setting::name);
    if (setting == settings_.end()) continue;
    setting->used = true;
    source.text.replace(constant->begin, constant->size, setting->value);
  }
}

Result<void> Settings::check_used() const {
  for (const Setting& setting : settings_) {
    if (setting.used) continue;
    const std::string near(closest_name(setting.name, known_));
    return Error{"the rules have no constant " + setting.name,
                 near.empty() ? "declare it: const " + setting.name + " = " + setting.value + ";"
                              : "did you mean " + near + "?"};
  }
  return {};
}

}  // namespace gorgo::tools
