#include "tools/unknown_word.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <string_view>
#include <vector>

#include "gorgo/diagnostics.hpp"

namespace gorgo::tools {
namespace {

std::vector<std::string> commands_of(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands({})) names.push_back(command->get_name());
  return names;
}

/// The long names of those that the command takes, with the hyphens.
std::vector<std::string> option_names(const CLI::App& app) {
  std::vector<std::string> names;
  if (app.get_fallthrough()) names = option_names(*app.get_parent());
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames())
      if (std::ranges::find(names, "--" + name) == names.end()) names.push_back("--" + name);
  }
  return names;
}

std::string message(const std::string& what, const std::string& word,
                    const std::vector<std::string>& known) {
  std::string text = "unknown " + what + " '" + word + "'";
  const auto closest = closest_name(word, known);
  if (!closest.empty()) text += ", did you mean '" + std::string(closest) + "'?";
  text += "\nknown " + what + "s:";
  for (const std::string& name : known) text += " " + name;
  return text;
}

/// The option of the command, or of the one that it leaves unknown ones to; null: there is none.
const CLI::Option* find_option(const CLI::App& command, const std::string& name) {
  const CLI::Option* const option = command.get_option_no_throw(name);
  if (option != nullptr || !command.get_fallthrough()) return option;
  return find_option(*command.get_parent(), name);
}

}  // namespace

std::optional<std::string> unknown_word(const CLI::App& app, std::span<char* const> words) {
  const CLI::App* command = &app;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string word = words[i];
    if (word == "--") return std::nullopt;
    if (word.starts_with("--")) {
      const auto end = word.find('=');
      const std::string name = word.substr(0, end);
      const CLI::Option* const option = find_option(*command, name);
      if (option == nullptr) return message("option", name, option_names(*command));
      if (end == word.npos && option->get_items_expected_min() > 0) ++i;  // its value follows
    } else if (word.size() > 1 && word[0] == '-') {
      const CLI::Option* const option = find_option(*command, word.substr(0, 2));
      if (option != nullptr && word.size() == 2 && option->get_items_expected_min() > 0) ++i;
    } else {
      const auto known = commands_of(*command);
      if (std::ranges::find(known, word) != known.end()) {
        command = command->get_subcommand(word);
      } else if (command->get_require_subcommand_min() > 0) {
        return message("command", word, known);
      }
    }
  }
  return std::nullopt;
}

}  // namespace gorgo::tools
