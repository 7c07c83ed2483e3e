#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "server/log.hpp"
#include "server/options.hpp"
#include "server/rules/rule_files.hpp"
#include "server/server_counters.hpp"

namespace gorgo::server {

/// A Gorgo server: an I/O thread (the caller of `run`) and an engine thread. See docs/threads.md.
class Server {
 public:
  /// `log` must outlive the server.
  Server(ServerOptions options, Log& log);
  ~Server();

  /// Opens the port of HTTP, if there is one, so that `recover` and `load_rules` answer there:
  /// `/healthz` with 200, `/readyz` with 503 and how far they are, everything else with an error.
  /// To be called before them, or not at all.
  Result<void> listen_early();
  /// Opens the journal, if there is one, and brings back everything that it holds. To be called
  /// before `load_rules`. An error: the journal cannot be read or does not fit, and the server
  /// should not run.
  Result<void> recover();
  /// Deploys the rule files. When it failed, the server should not run.
  RuleFiles::Outcome load_rules();
  /// Reads certificates and users, and looks whether `listen` would find the addresses and not
  /// refuse them. Opens nothing, so it does not know which ports are taken.
  Result<void> check_ports();
  /// Opens the ports that are not open yet. From here on clients may connect; they are served by
  /// `run`.
  Result<void> listen();
  /// Where clients of the native protocol connect, with the actual port: "127.0.0.1:45123".
  /// Precondition: `listen` succeeded.
  std::string address() const;
  /// A line for each open port: "listening on 127.0.0.1:45123", "http on 127.0.0.1:45124".
  std::vector<std::string> lines() const;

  /// From here on SIGINT and SIGTERM stop the server, SIGHUP reloads its rules. Call it before
  /// anybody is told the address, lest an early signal ends the process instead.
  void handle_signals();
  /// Serves until it is stopped and drained. Returns false when accepted events were given up.
  bool run();

  /// Serves on for the grace that is configured, then stops accepting and reading, works off what
  /// was accepted, delivers and flushes, then `run` returns. A call within the grace ends it; a
  /// further one gives up the evaluation in hand. Any thread.
  void stop();
  /// Reads the configuration again, if `set_reread` was called, and then the rule files. Where the
  /// configuration is wrong, or something else has changed than what a running server takes over
  /// (`ConfigKey::is_live`), nothing is done, and the log says so. Any thread.
  void reload();
  /// `reread` is called on the I/O thread. Call it before `run`.
  void set_reread(std::function<Result<ServerOptions>()> reread);
  /// May be called on any thread.
  ServerCounters counters() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace gorgo::server
