#include <CLI/CLI.hpp>
#include <string>

#include "tools/command_text.hpp"

namespace gorgo::tools {
namespace {

/// Text of which `man` takes nothing for a command of its own.
std::string plain(const std::string& text) {
  std::string result;
  bool begins = true;
  for (const char c : text) {
    if (begins && (c == '.' || c == '\'')) result += "\\&";
    if (c == '\\') {
      result += "\\e";
    } else {
      if (c == '-') result += '\\';
      result += c;
    }
    begins = c == '\n';
  }
  return result;
}

std::string names_of(const CLI::Option& option) {
  std::string names;
  const auto add = [&](const std::string& name) { names += (names.empty() ? "" : ", ") + name; };
  for (const std::string& name : option.get_snames()) add("-" + name);
  for (const std::string& name : option.get_lnames()) add("--" + name);
  return names.empty() ? option.get_name(true) : names;
}

/// What stands behind its name in `--help`, or the kind of its value.
std::string value_of(const CLI::Option& option) {
  if (option.get_items_expected_max() == 0) return "";
  const std::string text = option.get_option_text();
  return text.empty() ? option.get_type_name() : text;
}

std::string describe(const CLI::Option& option) {
  return ".TP\n\\fB" + plain(names_of(option)) + "\\fR " + plain(value_of(option)) + "\n" +
         plain(option.get_description()) + "\n";
}

std::string full_name(const CLI::App& app) {
  const CLI::App* const parent = app.get_parent();
  return parent == nullptr ? app.get_name() : full_name(*parent) + " " + app.get_name();
}

/// A command without commands of its own, or one level of them.
std::string options_section(const CLI::App& app) {
  std::string text;
  for (const CLI::Option* option : app.get_options()) text += describe(*option);
  return text;
}

}  // namespace

std::string manual_page(const CLI::App& app, const std::string& version) {
  const std::string name = full_name(app);
  std::string title = name;
  for (char& c : title) c = c == ' ' ? '-' : c;
  std::string page = ".TH " + title + " 1 \"\" \"gorgo " + version + "\"\n.SH NAME\n" +
                     plain(title) + " \\- " + plain(first_sentence(app.get_description())) +
                     "\n.SH SYNOPSIS\n.B " + plain(name) + "\n[OPTIONS]";
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_positional()) page += " " + plain(option->get_name(true));
  }
  page += app.get_subcommands({}).empty() ? "\n" : " COMMAND\n";
  page +=
      ".SH DESCRIPTION\n" + plain(app.get_description()) + "\n.SH OPTIONS\n" + options_section(app);
  const auto commands = app.get_subcommands({});
  if (!commands.empty()) page += ".SH COMMANDS\n";
  for (const CLI::App* command : commands) {
    page += ".SS " + plain(full_name(*command)) + "\n" + plain(command->get_description()) + "\n";
    if (app.get_parent() != nullptr) page += options_section(*command);
  }
  page +=
      ".SH EXIT STATUS\n0: done; 1: what was asked for could not be done; 2: the command line is "
      "wrong.\n";
  return page;
}

}  // namespace gorgo::tools
