#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "language/language.hpp"
#include "tools/commands.hpp"
#include "tools/output.hpp"
#include "tools/rule_paths.hpp"
#include "tools/text_file.hpp"

namespace gorgo::tools {
namespace {

struct FmtOptions {
  std::vector<std::string> files;
  bool write = false;
  bool check = false;
  bool trex = false;
};

bool complain(const Error& error) {
  fail(error);
  return false;
}

/// Does what the options say with a file whose formatted text is `text`.
bool deliver(const FmtOptions& options, const std::string& path, const std::string& before,
             const std::string& text) {
  if (options.check) {
    if (text == before) return true;
    std::printf("%s\n", path.c_str());
    return false;
  }
  if (!options.write || path == "-") {
    std::fwrite(text.data(), 1, text.size(), stdout);
    return true;
  }
  if (text == before) return true;
  const auto written = write_text_file(path, text);
  return written ? true : complain(written.error());
}

bool print_for_trex(const language::Source& source) {
  const auto file = language::to_trex(source, Schema());
  print_diagnostics(file.diagnostics);
  std::fwrite(file.text.data(), 1, file.text.size(), stdout);
  return !file.diagnostics.failed() && file.left_out == 0;
}

bool format_file(const FmtOptions& options, const std::string& path) {
  const auto text = read_text(path);
  if (!text) return complain(text.error());
  const language::Source source{path == "-" ? "<stdin>" : path, *text};
  if (options.trex) return print_for_trex(source);
  const auto formatted = language::format(source);
  print_diagnostics(formatted.diagnostics);
  return !formatted.diagnostics.failed() && deliver(options, path, *text, formatted.text);
}

int format_files(const FmtOptions& options) {
  const auto files = rule_files(options.files);
  bool good = files ? true : complain(files.error());
  if (!good) return kFailure;
  for (const auto& path : *files) good = format_file(options, path) && good;
  return good ? kSuccess : kFailure;
}

}  // namespace

void add_fmt(CLI::App& app, int& exit_code) {
  auto* command =
      app.add_subcommand("fmt", "Print rule files in their canonical spelling and layout");
  const auto options = std::make_shared<FmtOptions>();
  command->add_option("FILE", options->files, "Rule files, or folders of them; - is stdin")
      ->required();
  auto* write =
      command->add_flag("-w,--write", options->write, "Rewrite the files that differ instead");
  auto* check = command->add_flag("--check", options->check,
                                  "Print the names of the files that differ, and fail if any does");
  auto* trex = command->add_flag("--trex", options->trex,
                                 "Print the rules for T-Rex, and say what it cannot express");
  check->excludes(write);
  trex->excludes(write)->excludes(check);
  command->callback([options, &exit_code] { exit_code = format_files(*options); });
}

}  // namespace gorgo::tools
