#include <malloc.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <csignal>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/open_files.hpp"
#include "server/server.hpp"
#include "tools/commands.hpp"
#include "tools/option_checks.hpp"
#include "tools/output.hpp"
#include "tools/time_option.hpp"
#include "tools/workshop.hpp"

namespace gorgo::tools {
namespace {

/// What the command line says; it overrides the configuration file.
struct ServeFlags {
  std::string config;
  std::optional<std::string> listen, http, trex, journal, engine, log_format, log_level;
  bool insecure = false, only_test = false, only_print = false;
  std::vector<std::string> rules;
  std::optional<unsigned> threads;
  std::optional<Duration> lateness, max_ahead, max_late, remember;
};

Result<server::ServerOptions> server_options(const ServeFlags& flags) {
  server::ServerOptions options;
  if (!flags.config.empty()) {
    if (auto read = server::read_config(flags.config, options); !read) return read.error();
  }
  if (auto read = server::read_environment(options); !read) return read.error();
  if (flags.listen) options.listen = *flags.listen;
  if (flags.http) options.http.listen = *flags.http;
  if (flags.trex) options.trex.listen = *flags.trex;
  if (flags.journal) options.journal.path = *flags.journal;
  options.insecure = flags.insecure;
  options.workshop = make_workshop();
  if (flags.engine) options.processor.engine = *flags.engine;
  if (flags.threads) options.processor.threads = *flags.threads;
  if (flags.lateness) options.processor.lateness = *flags.lateness;
  if (flags.max_ahead) options.processor.max_ahead = *flags.max_ahead;
  if (flags.max_late) options.processor.max_late = *flags.max_late;
  if (auto times = server::check_times(options.processor); !times) return times.error();
  if (flags.remember) options.processor.remember = *flags.remember;
  if (!flags.rules.empty()) options.rules = flags.rules;
  if (flags.log_format) {
    const auto format = server::parse_log_format(*flags.log_format);
    if (!format) return format.error();
    options.log_format = *format;
  }
  if (flags.log_level) {
    const auto level = server::parse_log_level(*flags.log_level);
    if (!level) return level.error();
    options.log_level = *level;
  }
  if (const auto checked = server::check(options); !checked) {
    const Error& wrong = checked.error();
    return Error{(flags.config.empty() ? "" : flags.config + ": ") + wrong.message, wrong.hint};
  }
  return options;
}

bool load_rules(server::Server& server) {
  const auto outcome = server.load_rules();
  print_diagnostics(outcome.diagnostics);
  for (const Error& error : outcome.errors) fail(error);
  return !outcome.failed();
}

/// Has glibc give freed memory back. By itself, glibc takes what was once freed as a sign of what
/// is going to be needed: after a large vector it serves all others up to 32 MiB from its heaps,
/// which keep what is freed.
void return_freed_memory() {
#if defined(M_MMAP_THRESHOLD)
  constexpr int kLarge = 1 << 20;  // bytes: far more than what comes and goes all the time
  mallopt(M_MMAP_THRESHOLD, kLarge);
  mallopt(M_TRIM_THRESHOLD, kLarge);
#endif
}

int show_config(const server::ServerOptions& options) {
  std::fputs(server::print_config(options).c_str(), stdout);
  return flush_output() ? kSuccess : kFailure;
}

/// Reads certificates, users and rules as a start does, without listening.
int try_config(const server::ServerOptions& options) {
  server::Log log(options.log_format, server::LogLevel::off);
  server::Server server(options, log);
  if (const auto checked = server.check_ports(); !checked) return fail(checked.error());
  if (!load_rules(server)) return kFailure;
  std::puts("the configuration and its rules are in order");
  return flush_output() ? kSuccess : kFailure;
}

/// For what reads the configuration and ends.
void restore_signals() {
  for (const int signal : {SIGHUP, SIGINT, SIGTERM}) std::signal(signal, SIG_DFL);
}

/// A limit on the size of files is an error of the write that meets it, as a full disk is.
void take_limits_for_errors() { std::signal(SIGXFSZ, SIG_IGN); }

int serve(const ServeFlags& flags) {
  if (flags.only_print || flags.only_test) restore_signals();
  return_freed_memory();
  raise_open_files();
  take_limits_for_errors();
  const auto options = server_options(flags);
  if (!options) return fail(options.error());
  if (options->cuda) engine::set_cuda_options(*options->cuda);
  if (flags.only_print) return show_config(*options);
  if (flags.only_test) return try_config(*options);
  std::signal(SIGPIPE, SIG_IGN);  // whoever reads the log may go
  server::Log log(options->log_format, options->log_level);
  server::Server server(*options, log);
  const bool recovers = !options->journal.path.empty();
  if (recovers) {
    if (const auto listening = server.listen_early(); !listening) return fail(listening.error());
  }
  if (const auto recovered = server.recover(); !recovered) return fail(recovered.error());
  if (!load_rules(server)) return kFailure;
  if (const auto listening = server.listen(); !listening) return fail(listening.error());
  server.set_reread([&flags] { return server_options(flags); });
  server.handle_signals();
  // Nothing but this goes to stdout: scripts wait for it and read the ports.
  for (const std::string& line : server.lines()) std::puts(line.c_str());
  if (!flush_output()) return kFailure;
  return server.run() ? kSuccess : kFailure;
}

}  // namespace

void prepare_signals_of_server() {
  std::signal(SIGHUP, SIG_IGN);
  for (const int signal : {SIGINT, SIGTERM}) std::signal(signal, [](int) { _exit(kSuccess); });
}

void add_serve(CLI::App& app, int& exit_code) {
  auto* command = app.add_subcommand(
      "serve",
      "Run the server. It prints `listening on HOST:PORT` and a line for each further port, and "
      "logs\n"
      "to stderr; SIGINT and SIGTERM drain it, SIGHUP reads the rule files again.");
  const auto flags = std::make_shared<ServeFlags>();
  command->add_option("--config", flags->config, "Configuration file (docs/server.md)")
      ->option_text("FILE.toml");
  auto* print = command->add_flag("--print-config", flags->only_print,
                                  "Print the configuration that would hold, with all keys and what "
                                  "they mean");
  command
      ->add_flag("-t,--test", flags->only_test,
                 "Read the configuration and all rules, say what is wrong with them, and end")
      ->excludes(print);
  command->add_option("--listen", flags->listen, "Address; port 0 takes a free one")
      ->option_text("HOST:PORT=127.0.0.1:7450");
  command
      ->add_option("--http", flags->http,
                   "Address for HTTP (docs/http.md); port 0 takes a free one")
      ->option_text("HOST:PORT");
  command
      ->add_option("--trex", flags->trex, "Address for clients of T-Rex; port 0 takes a free one")
      ->option_text("HOST:PORT");
  command
      ->add_option("--journal", flags->journal,
                   "Folder that keeps what was accepted, so that a crash loses nothing\n"
                   "(docs/reliability.md)")
      ->option_text("DIR");
  command->add_flag(
      "--insecure", flags->insecure,
      "Together with `[security] insecure = true`: listen on public addresses, although\n"
      "whoever connects may do everything");
  command->add_option("--rules", flags->rules, "Rule files, or folders of *.tesla files")
      ->option_text("PATH ...");
  command->add_option("--engine", flags->engine, "For rules that name none")->option_text("NAME");
  command
      ->add_option("--threads", flags->threads,
                   "That evaluate rules; 0: as many as can run at once")
      ->check(number_of_threads())
      ->option_text("N=0");
  as_time(command->add_option("--lateness", flags->lateness,
                              "How long events are held back to be put in order, such as 500ms"))
      ->option_text("TIME=0s");
  as_time(command->add_option("--max-ahead", flags->max_ahead,
                              "Refuse events that are further ahead of the server's clock; less "
                              "than --max-late"))
      ->option_text("TIME=5s");
  as_time(command->add_option("--max-late", flags->max_late,
                              "Refuse events that are further behind the clock"))
      ->option_text("TIME=10s");
  as_time(command->add_option("--remember", flags->remember,
                              "Keep events longer than rules need them, for `gorgo why`"))
      ->option_text("TIME=0s");
  command->add_option("--log-format", flags->log_format, "text or json")->option_text("FORMAT");
  command->add_option("--log-level", flags->log_level, "debug, info, warning, error or off")
      ->option_text("LEVEL");
  command->callback([flags, &exit_code] { exit_code = serve(*flags); });
}

}  // namespace gorgo::tools
