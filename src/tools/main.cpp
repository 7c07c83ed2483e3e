#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <exception>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tools/commands.hpp"
#include "tools/contexts.hpp"
#include "tools/option_checks.hpp"
#include "tools/output.hpp"
#include "tools/unknown_word.hpp"

namespace {

using namespace gorgo::tools;

/// The commands, in the order of `gorgo --help`.
const std::vector<AddCommand> kCommands = {
    add_check,   add_explain,   add_why,     add_fmt,      add_lsp,     add_run,
    add_sample,  add_test,      add_serve,   add_trace,    add_pub,     add_replay,
    add_sub,     add_rules,     add_types,   add_ping,     add_doctor,  add_connections,
    add_doors,   add_actions,   add_cluster, add_top,      add_context, add_user,
    add_engines, add_functions, add_journal, add_backtest, add_bench,   add_completion,
    add_man,     add_version,   add_help};

/// Output that is lost is a failure, whatever the command thought.
int end_with(int exit_code) {
  const auto written = flush_output();
  return written ? exit_code : fail(written.error());
}

bool has_option(std::span<char* const> words, const std::string& name) {
  return std::ranges::any_of(
      words, [&](std::string_view word) { return word == name || word.starts_with(name + "="); });
}

/// What `--context` names, which stands before the command.
std::optional<std::string> named_context(std::span<char* const> words) {
  constexpr std::string_view kOption = "--context";
  if (words.size() < 2) return {};
  const std::string_view first = words[1];
  if (first == kOption && words.size() > 2) return words[2];
  if (first.starts_with(kOption) && first.substr(kOption.size()).starts_with("=")) {
    return std::string(first.substr(kOption.size() + 1));
  }
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1 && argv[1] == std::string_view("serve")) prepare_signals_of_server();
  CLI::App app("Gorgo: complex event processing with TESLA rules", "gorgo");
  app.set_version_flag("--version", version_text());
  app.require_subcommand(1);
  app.get_formatter()->column_width(36);
  int exit_code = kSuccess;
  for (const AddCommand add : kCommands) add(app, exit_code);
  refuse_negative_numbers(app);

  std::string context;
  app.add_option("--context", context, "Reach servers as this context says, see gorgo context")
      ->option_text("NAME");
  const std::span<char* const> words(argv, static_cast<std::size_t>(argc));
  if (const auto problem =
          unknown_word(app, words.subspan(std::min<std::size_t>(1, words.size())))) {
    fail(*problem);
    return kUsage;
  }
  const std::optional<std::string> named = named_context(words);
  // Another server is to learn nothing of the current context's secrets.
  const bool names_server =
      has_option(words, "--to") || (words.size() > 1 && words[1] == std::string_view("sub") &&
                                    has_option(words, "--from"));  // its other name there
  try {
    if (named) {
      if (const auto applied = apply_context(app, *named); !applied) return misuse(applied.error());
    } else if (!names_server) {
      apply_current_context(app);
    }
    app.parse(argc, argv);
  } catch (const UnknownServer& unknown) {
    return misuse(unknown.why);
  } catch (const CLI::Success& asked) {  // --help, --version
    return end_with(app.exit(asked));
  } catch (const CLI::ParseError& error) {
    fail(std::string(error.what()) + "\nRun with --help for more information.");
    return kUsage;
  } catch (const std::bad_alloc&) {
    return fail("there is not enough memory");
  } catch (const std::exception& failure) {
    return fail(failure.what());
  }
  return end_with(exit_code);
}
