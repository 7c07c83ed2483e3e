#pragma once

#include <CLI/CLI.hpp>
#include <map>
#include <string>
#include <vector>

/// Checks of options whose errors are those of the house.
namespace gorgo::tools {

/// A check that the value is one of these. Help and completions list them.
CLI::Validator one_of(std::vector<std::string> choices);

/// The number of the value that stands for the text among the choices. For `transform` of an option
/// that is an enum.
template <class Enum>
CLI::Validator number_of(const std::map<std::string, Enum>& choices) {
  std::vector<std::string> names;
  for (const auto& [name, value] : choices) names.push_back(name);
  const CLI::Validator known = one_of(names);
  return {[choices, known](std::string& text) {
            std::string wrong = known(text);
            if (wrong.empty()) text = std::to_string(static_cast<int>(choices.at(text)));
            return wrong;
          },
          known.get_description()};
}

/// A check that a number is above 0.
CLI::Validator positive();

/// Has all options of the command and of those below it that are unsigned numbers refuse negative
/// ones, which the library would turn into large ones.
void refuse_negative_numbers(CLI::App& command);

/// Checks a number of threads that evaluate rules; 0 is as many as the machine runs at once.
CLI::Validator number_of_threads();

}  // namespace gorgo::tools
