#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <exception>
#include <new>
#include <string>
#include <vector>

#include "gorgo/diagnostics.hpp"
#include "tools/commands.hpp"
#include "tools/output.hpp"

namespace {

using namespace gorgo::tools;

/// The commands, in the order of `gorgo --help`.
const std::vector<AddCommand> kCommands = {
    add_check, add_explain, add_why, add_fmt, add_lsp,   add_run,     add_sample, add_test,
    add_serve, add_trace,   add_pub, add_sub, add_rules, add_engines, add_bench};

std::vector<std::string> names_of(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands({})) names.push_back(command->get_name());
  return names;
}

int unknown_command(const std::string& name, const std::vector<std::string>& names) {
  std::string message = "gorgo: unknown command '" + name + "'";
  if (const auto closest = gorgo::closest_name(name, names); !closest.empty()) {
    message += ", did you mean '" + std::string(closest) + "'?";
  }
  message += "\nknown commands:";
  for (const auto& known : names) message += " " + known;
  std::fprintf(stderr, "%s\n", message.c_str());
  return kUsage;
}

/// Output that is lost is a failure, whatever the command thought.
int end_with(int exit_code) {
  const auto written = flush_output();
  return written ? exit_code : fail(written.error());
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Gorgo: complex event processing with TESLA rules", "gorgo");
  app.set_version_flag("--version", "gorgo " GORGO_VERSION);
  app.require_subcommand(1);
  app.get_formatter()->column_width(36);
  int exit_code = kSuccess;
  for (const AddCommand add : kCommands) add(app, exit_code);

  const auto names = names_of(app);
  if (argc > 1 && argv[1][0] != '-' && std::ranges::find(names, argv[1]) == names.end()) {
    return unknown_command(argv[1], names);
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& asked) {  // --help, --version
    return end_with(app.exit(asked));
  } catch (const CLI::ParseError& error) {
    std::fprintf(stderr, "gorgo: %s\nRun with --help for more information.\n", error.what());
    return kUsage;
  } catch (const std::bad_alloc&) {
    return fail("there is not enough memory");
  } catch (const std::exception& failure) {
    return fail(failure.what());
  }
  return end_with(exit_code);
}
