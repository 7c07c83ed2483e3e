#pragma once

#include <string>

namespace CLI {
class App;
}

/// The command line: one file per subcommand, one line here and one in main.cpp for each.
namespace gorgo::tools {

inline constexpr int kSuccess = 0;
inline constexpr int kFailure = 1;  ///< what was asked for could not be done
inline constexpr int kUsage = 2;    ///< the command line itself is wrong

/// Adds its subcommand to `app`. The subcommand's callback does the work and sets `exit_code`,
/// which is kSuccess before; both arguments outlive the callback. Errors go to stderr, beginning
/// "gorgo: ". Whether standard output could be written is main.cpp's business; a command that runs
/// for long also asks `flush_output` (output.hpp) and ends when it fails.
using AddCommand = void (*)(CLI::App& app, int& exit_code);

void add_check(CLI::App& app, int& exit_code);
void add_explain(CLI::App& app, int& exit_code);
void add_fmt(CLI::App& app, int& exit_code);
void add_lsp(CLI::App& app, int& exit_code);
void add_why(CLI::App& app, int& exit_code);
void add_trace(CLI::App& app, int& exit_code);
void add_run(CLI::App& app, int& exit_code);
void add_sample(CLI::App& app, int& exit_code);
void add_test(CLI::App& app, int& exit_code);
void add_serve(CLI::App& app, int& exit_code);
/// What signals do until the server is there, to be said first of all: a reload would read what is
/// being read, or was a moment ago, and a stop leaves the journal as a crash would.
void prepare_signals_of_server();
void add_pub(CLI::App& app, int& exit_code);
void add_sub(CLI::App& app, int& exit_code);
void add_rules(CLI::App& app, int& exit_code);
void add_types(CLI::App& app, int& exit_code);
void add_doctor(CLI::App& app, int& exit_code);
void add_connections(CLI::App& app, int& exit_code);
void add_cluster(CLI::App& app, int& exit_code);
void add_actions(CLI::App& app, int& exit_code);
void add_doors(CLI::App& app, int& exit_code);
void add_top(CLI::App& app, int& exit_code);
void add_user(CLI::App& app, int& exit_code);
void add_engines(CLI::App& app, int& exit_code);
void add_functions(CLI::App& app, int& exit_code);
void add_journal(CLI::App& app, int& exit_code);
void add_backtest(CLI::App& app, int& exit_code);
void add_ping(CLI::App& app, int& exit_code);
void add_replay(CLI::App& app, int& exit_code);
void add_context(CLI::App& app, int& exit_code);
void add_completion(CLI::App& app, int& exit_code);
void add_man(CLI::App& app, int& exit_code);
void add_version(CLI::App& app, int& exit_code);
/// What `gorgo --version` prints, without the end of the last line.
std::string version_text();
void add_help(CLI::App& app, int& exit_code);
void add_bench(CLI::App& app, int& exit_code);

}  // namespace gorgo::tools
