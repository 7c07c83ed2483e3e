#include "tools/format_option.hpp"

#include <CLI/CLI.hpp>

#include "tools/option_checks.hpp"

namespace gorgo::tools {

void as_format(CLI::App* command, std::string& format) {
  auto* const option =
      command->add_option("--format", format, "Of what is printed on standard output")
          ->check(one_of({"text", "json"}))
          ->capture_default_str();
  command
      ->add_flag_callback(
          "--json", [&format] { format = "json"; }, "The same as --format json")
      ->excludes(option);
}

}  // namespace gorgo::tools
