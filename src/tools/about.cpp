#include <CLI/CLI.hpp>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "bench/report.hpp"
#include "gorgo/processor.hpp"
#include "tools/command_text.hpp"
#include "tools/commands.hpp"
#include "tools/format_option.hpp"
#include "tools/option_checks.hpp"
#include "tools/output.hpp"
#include "tools/print_json.hpp"
#include "tools/text_file.hpp"

// The commands that tell about the program itself.
namespace gorgo::tools {
namespace {

/// The words that lead to a command: `rules shadow list`. Empty for the program itself.
std::string words_of(const CLI::App& command) {
  if (command.get_parent() == nullptr) return {};
  const std::string before = words_of(*command.get_parent());
  return (before.empty() ? "" : before + " ") + command.get_name();
}

/// The command of this name, or the one that is asked where it is empty. Null: there is none.
const CLI::App* find(const CLI::App& app, const std::string& name) {
  if (name.empty()) return &app;
  for (const CLI::App* command : app.get_subcommands({})) {
    if (command->get_name() == name) return command;
  }
  return nullptr;
}

/// As `--help` of the command prints it. (`App::help` explains the command that runs.)
std::string help_of(const CLI::App& command) {
  const std::string words = words_of(command);
  return command.get_formatter()->make_help(&command, words.empty() ? "gorgo" : "gorgo " + words,
                                            CLI::AppFormatMode::Normal);
}

int no_command(const CLI::App& app, const std::string& name) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands({})) names.push_back(command->get_name());
  const std::string above = words_of(app), before = above.empty() ? "" : above + " ";
  const std::string nearest(closest_name(name, names));
  const std::string help =
      "gorgo help " + before + (names.empty() ? "explains what there is" : "lists them");
  return misuse({"there is no command '" + before + name + "'",
                 nearest.empty() ? help : "did you mean '" + before + nearest + "'?"});
}

int write_pages(const CLI::App& app, const std::string& folder) {
  std::error_code failure;
  std::filesystem::create_directories(folder, failure);
  if (failure) return fail("cannot make " + folder + ": " + failure.message());
  std::vector<const CLI::App*> pages = {&app};
  for (const CLI::App* command : app.get_subcommands({})) pages.push_back(command);
  for (const CLI::App* page : pages) {
    const std::string name = page == &app ? "gorgo" : "gorgo-" + page->get_name();
    const auto written =
        write_text_file(folder + "/" + name + ".1", manual_page(*page, GORGO_VERSION));
    if (!written) return fail(written.error());
  }
  return kSuccess;
}

}  // namespace

std::string version_text() {
  const bench::Machine built = bench::this_machine();
  std::string engines;
  for (const std::string& name : engine_names()) engines += (engines.empty() ? "" : ", ") + name;
  return "gorgo " GORGO_VERSION "\ncommit:  " + (built.commit.empty() ? "unknown" : built.commit) +
         "\nbuild:   " + built.compiler + "\nengines: " + engines +
         "\nCUDA:    " GORGO_CUDA_VERSION;
}

void add_version(CLI::App& app, int&) {
  auto* command =
      app.add_subcommand("version", "Print the version, the commit, and what the build contains");
  const auto format = std::make_shared<std::string>("text");
  as_format(command, *format);
  command->callback([format] {
    if (*format == "text") return static_cast<void>(std::puts(version_text().c_str()));
    const bench::Machine built = bench::this_machine();
    print_json({{"version", GORGO_VERSION},
                {"commit", built.commit},
                {"build", built.compiler},
                {"engines", engine_names()},
                {"cuda", GORGO_CUDA_VERSION}});
  });
}

void add_help(CLI::App& app, int& exit_code) {
  auto* command = app.add_subcommand("help", "Explain the program, or one of its commands");
  const auto words = std::make_shared<std::vector<std::string>>();
  command->add_option("COMMAND", *words, "Its words, as in `rules deploy`; else all of them")
      ->option_text("...");
  command->callback([&app, words, &exit_code] {
    const CLI::App* asked = &app;
    for (const std::string& word : *words) {
      const CLI::App* const next = find(*asked, word);
      if (next == nullptr) {
        exit_code = no_command(*asked, word);
        return;
      }
      asked = next;
    }
    std::fputs(help_of(*asked).c_str(), stdout);
  });
}

void add_completion(CLI::App& app, int&) {
  auto* command = app.add_subcommand("completion",
                                     "Print a script by which a shell completes command lines:\n"
                                     "source <(gorgo completion bash)");
  const auto shell = std::make_shared<std::string>();
  command->add_option("SHELL", *shell, "Which one")
      ->required()
      ->check(one_of({"bash", "zsh", "fish"}));
  command->callback([&app, shell] { std::fputs(completion_script(app, *shell).c_str(), stdout); });
}

void add_man(CLI::App& app, int& exit_code) {
  auto* command = app.add_subcommand("man", "Print a manual page: gorgo man pub | man -l -");
  struct Options {
    std::string command, folder;
  };
  const auto options = std::make_shared<Options>();
  command->add_option("COMMAND", options->command, "Of this command; else of the program");
  command->add_option("--folder", options->folder, "Write the pages of all commands into it")
      ->option_text("FOLDER");
  command->callback([&app, options, &exit_code] {
    const CLI::App* const found = find(app, options->command);
    if (!options->folder.empty()) {
      exit_code = write_pages(app, options->folder);
    } else if (found == nullptr) {
      exit_code = no_command(app, options->command);
    } else {
      std::fputs(manual_page(*found, GORGO_VERSION).c_str(), stdout);
    }
  });
}

}  // namespace gorgo::tools
