#include "tools/option_checks.hpp"

#include <algorithm>

#include "server/options.hpp"

namespace gorgo::tools {
namespace {

std::string joined(const std::vector<std::string>& words, const char* between) {
  std::string all;
  for (const std::string& word : words) all += (all.empty() ? "" : between) + word;
  return all;
}

std::string not_negative(const std::string& text) {
  return text.starts_with('-') ? text + " is negative" : "";
}

}  // namespace

CLI::Validator one_of(std::vector<std::string> choices) {
  const std::string description = "{" + joined(choices, ",") + "}";
  return {[choices = std::move(choices)](std::string& text) {
            if (std::ranges::find(choices, text) != choices.end()) return std::string();
            return text + " is none of " + joined(choices, ", ");
          },
          description};
}

CLI::Validator positive() {
  return {[](std::string& text) {
            double number = 0;
            const bool is_zero = CLI::detail::lexical_cast(text, number) && number == 0;
            return is_zero ? text + " is not above 0" : not_negative(text);
          },
          "POSITIVE"};
}

void refuse_negative_numbers(CLI::App& command) {
  for (CLI::Option* option : command.get_options()) {
    if (option->get_type_name().starts_with("UINT")) option->check(not_negative);
  }
  for (CLI::App* below : command.get_subcommands({})) refuse_negative_numbers(*below);
}

CLI::Validator number_of_threads() { return CLI::Range(0U, server::kMostThreads); }

}  // namespace gorgo::tools
