#include "server/server.hpp"

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/signal_set.hpp>
#include <csignal>
#include <future>
#include <new>
#include <vector>

#include "server/actions/action_targets.hpp"
#include "server/cluster_node.hpp"
#include "server/config_reload.hpp"
#include "server/doors/doors.hpp"
#include "server/ending.hpp"
#include "server/endpoint_text.hpp"
#include "server/engine/engine_thread.hpp"
#include "server/memory_reserve.hpp"
#include "server/ports.hpp"
#include "server/security/doorkeeper.hpp"
#include "server/service_manager.hpp"
#include "server/sessions/awaiting.hpp"
#include "server/sessions/listener.hpp"
#include "server/sessions/session_table.hpp"

namespace gorgo::server {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

struct Server::Impl {
  Impl(ServerOptions given, Log& log_to_use);

  /// What a reload may change belongs to the I/O thread; the engine thread has copies of the rest.
  ServerOptions options;
  Log& log;
  ClientTotals totals;  // outlives sessions that the context holds: they give back to it
  asio::io_context io{1};
  CommandQueue queue;
  TypeBoard types;
  ActionBoard executable;
  Inhibitions inhibitions{options.actions};
  ConnectionNews news;
  Doorkeeper doorkeeper{log};
  Accounts accounts;
  SessionHub hub;
  std::vector<std::unique_ptr<Listener>> listeners;  // the first is that of the native protocol
  asio::signal_set signals{io};
  asio::steady_timer next_look{io};
  asio::steady_timer next_beat{io};
  asio::steady_timer next_progress{io};
  StartProgress progress;
  ServiceManager manager;
  SessionTable sessions{hub};
  Doors doors{{.link = {queue, totals, options.limits},
               .types = [this] { return types.types(); },
               .log = log,
               .has_journal = !options.journal.path.empty(),
               .is_durable =
                   !options.journal.path.empty() && options.journal.durability != Durability::none,
               .position_of = [this](const std::string& name) { return position_of(name); },
               .post = [this](std::function<void()> job) { asio::post(io, std::move(job)); }}};
  ActionTargets targets{{.link = {queue, totals, options.limits},
                         .log = log,
                         .inhibitions = inhibitions,
                         .has_journal = !options.journal.path.empty()},
                        executable,
                        options.actions};
  std::unique_ptr<cluster::Node> node;  // null: the server is in no cluster
  ConfigReload config{options, log, doorkeeper, listeners, sessions, doors, targets};
  // Held until the engine thread has ended: it posts to the context.
  asio::executor_work_guard<asio::io_context::executor_type> work{io.get_executor()};
  EngineThread engine;  // joined before what it uses is destroyed
  Ending ending{{hub, sessions, listeners, engine, manager, doors, targets, node},
                [this] { end(); }};

  /// How far the door has read. On the engine thread.
  doors::Position position_of(const std::string& door) const;
  /// By which the engine thread reaches the doors.
  DoorCalls door_calls();
  /// Reads the keys and makes the ports, once.
  Result<void> make_ports();
  Result<void> check_ports();
  Result<void> listen();
  Result<void> listen_early();
  /// Does it on a thread of its own. Meanwhile the ports that are open are served.
  template <class Job>
  auto beside_io(Job job);
  /// Tells the service manager how far the start is.
  asio::awaitable<void> tell_progress();
  /// Ends the sessions of a server that will not run.
  void abandon();
  void run_io();
  /// Watches the time-outs of clients.
  asio::awaitable<void> look();
  /// Tells the service manager that both threads make progress, as long as they do.
  asio::awaitable<void> beat();
  std::string status() const;
  ServerCounters counters();
  void await_signal();
  void reload();
  /// Takes over the configuration as it is now. An error: nothing was changed.
  /// `asker`: the session that has asked for it; 0: none has.
  Result<std::unique_ptr<Reload>> begin_reload(std::uint64_t asker);
  /// Tells the service manager of a reload until it is released, and so carried out.
  std::shared_ptr<void> announce_reload(std::uint64_t asker);
  /// Everything is over: nothing keeps the I/O thread any longer.
  void end();
};

Server::Impl::Impl(ServerOptions given, Log& log_to_use)
    : options(std::move(given)),
      log(log_to_use),
      totals{.memory = {options.limits.memory_bytes,
                        [this] { asio::post(io, [this] { sessions.shed(); }); }}},
      queue(options.limits, totals.memory),
      hub{io, options, log, queue, totals, doorkeeper, accounts, news, {}},
      engine(options, log, queue, types, executable, inhibitions, totals, news, door_calls(),
             [this] { asio::post(io, [this] { ending.engine_ended(); }); }) {
  hub.counters = [this] { return counters(); };
  hub.begin_reload = [this](std::uint64_t asker) { return begin_reload(asker); };
  hub.connections = [this] { return sessions.infos(); };
  hub.disconnect = [this](std::uint64_t id) { return sessions.disconnect(id); };
  hub.doors = &doors;
  hub.actions = &targets;
  hub.on_end = [this](Session& session) {
    sessions.forget(session);
    ending.session_ended();
  };
}

doors::Position Server::Impl::position_of(const std::string& door) const {
  const auto known = engine.door_positions().find(door);
  return known ? doors::Position(known->begin(), known->end()) : doors::Position();
}

DoorCalls Server::Impl::door_calls() {
  return {.open =
              [this](const std::string& name, const std::string& text) {
                asio::post(io, [this, name, text] { doors.open(name, text); });
              },
          .close =
              [this](const std::string& name, DoorCalls::Closed then) {
                asio::post(io, [this, name, then] { doors.close(name, then); });
              },
          .remove =
              [this](const std::string& name, bool forget) {
                asio::post(io, [this, name, forget] { doors.remove(name, forget); });
              }};
}

Result<void> Server::Impl::make_ports() {
  if (!listeners.empty()) return {};
  auto keys = Doorkeeper::read(options);
  if (!keys) return keys.error();
  doorkeeper.set(std::move(*keys));
  const auto open_session = [this](asio::ip::tcp::socket socket, const DialectMaker& dialect) {
    sessions.open(std::move(socket), dialect);
  };
  for (Listener::Port& port : ports_of(options, types, totals.memory)) {
    listeners.push_back(std::make_unique<Listener>(io, log, std::move(port), open_session));
  }
  return {};
}

Result<void> Server::Impl::listen() {
  if (auto made = make_ports(); !made) return made;
  for (const auto& listener : listeners) {
    if (listener->is_open()) continue;
    if (const auto listening = listener->listen(options); !listening) return listening;
    asio::co_spawn(io, listener->run(), asio::detached);
  }
  return {};
}

/// Whether only one of two ports can be listened on.
static bool meet(const tcp::endpoint& one, const tcp::endpoint& other) {
  const auto a = one.address(), b = other.address();
  return one.port() == other.port() && one.port() != 0 &&
         (a == b || a.is_unspecified() || b.is_unspecified());
}

Result<void> Server::Impl::check_ports() {
  if (auto made = make_ports(); !made) return made;
  std::vector<tcp::endpoint> endpoints;
  for (const auto& listener : listeners) {
    const auto endpoint = listener->find_endpoint(options);
    if (!endpoint) return endpoint.error();
    if (std::ranges::any_of(endpoints, [&](const auto& other) { return meet(other, *endpoint); })) {
      return Error{listener->option() + " " + to_string(*endpoint) +
                       ": another port of this server has the address",
                   "choose another address; port 0 takes a free one"};
    }
    endpoints.push_back(*endpoint);
  }
  return {};
}

Result<void> Server::Impl::listen_early() {
  if (auto made = make_ports(); !made) return made;
  for (const auto& listener : listeners) {
    if (listener->option() != "--http") continue;
    if (const auto listening = listener->listen(options); !listening) return listening;
    log.info("answering while the server starts", {{"address", listener->address()}});
    asio::co_spawn(io, listener->run(), asio::detached);
  }
  hub.starts = &progress;
  asio::co_spawn(io, tell_progress(), asio::detached);
  return {};
}

template <class Job>
auto Server::Impl::beside_io(Job job) {
  if (hub.starts == nullptr) return job();
  auto outcome = std::async(std::launch::async, [&] {
    const std::shared_ptr<void> at_the_end(nullptr, [this](void*) { io.stop(); });
    return job();
  });
  run_io();
  io.restart();
  return outcome.get();
}

asio::awaitable<void> Server::Impl::tell_progress() {
  constexpr std::chrono::seconds kPause{2};
  while (hub.starts != nullptr) {
    manager.starting(progress.text(), 10 * kPause);
    next_progress.expires_after(kPause);
    co_await next_progress.async_wait(kTuple);
  }
}

void Server::Impl::abandon() {
  for (const auto& listener : listeners) listener->close();
  // Sessions cancel what they wait for only on a thread that runs the handlers; elsewhere Asio
  // would do that later, when it is gone.
  asio::post(io, [this] {
    for (const auto& [id, session] : sessions.all()) session->give_up();
  });
  io.restart();
  while (!sessions.empty()) io.run_one();
}

// This thread runs, and the engine thread is asked to show that it does. While the server stops,
// `stop_timeout` bounds what the engine may take.
asio::awaitable<void> Server::Impl::beat() {
  if (!manager.watchdog()) co_return;
  const auto pause = *manager.watchdog() / 3;
  std::uint64_t seen = 0;
  queue.push_control({Command::Kind::beat});
  while (!ending.is_engine_ended()) {
    next_beat.expires_after(pause);
    co_await next_beat.async_wait(kTuple);
    const std::uint64_t beats = engine.beats();
    if (beats == seen && !ending.is_draining()) continue;
    seen = beats;
    manager.alive();
    queue.push_control({Command::Kind::beat});
  }
}

std::string Server::Impl::status() const {
  return std::to_string(listeners.size()) + (listeners.size() == 1 ? " port" : " ports") + " open";
}

/// A handler that fails ends, for instance for want of memory. The others go on.
void Server::Impl::run_io() {
  while (true) {
    try {
      io.run();
      return;
    } catch (const std::bad_alloc&) {
      log.error("short of memory");
    } catch (const std::exception& failure) {
      log.error("a handler of the server failed", {{"error", failure.what()}});
    }
  }
}

asio::awaitable<void> Server::Impl::look() {
  constexpr std::chrono::milliseconds kLongestPause{1000};
  while (!ending.is_draining()) {
    auto pause = kLongestPause;
    for (const auto limit :
         {options.frame_timeout, options.idle_timeout, options.limits.heartbeat,
          options.limits.heartbeat_timeout, options.limits.soft_outbound, options.limits.stalled}) {
      if (limit.count() > 0) pause = std::min(pause, limit / 4);
    }
    next_look.expires_after(std::max(pause, std::chrono::milliseconds(1)));
    co_await next_look.async_wait(kTuple);
    try {
      sessions.look(std::chrono::steady_clock::now());
    } catch (const std::bad_alloc&) {
      log.error("short of memory");
    }
  }
}

void Server::Impl::await_signal() {
  signals.async_wait([this](error_code cancelled, int signal) {
    if (cancelled) return;
    await_signal();
    if (signal == SIGHUP) {
      reload();
    } else {
      ending.stop();
    }
  });
}

void Server::Impl::reload() {
  auto begun = begin_reload(0);
  if (!begun) return;
  queue.push_control({.kind = Command::Kind::reload, .reload = std::move(*begun)});
}

Result<std::unique_ptr<Reload>> Server::Impl::begin_reload(std::uint64_t asker) {
  if (ending.is_draining()) {
    log.info("not reloading, because the server is stopping");
    return Error{"the server is stopping", "start it again: it reads the configuration anew"};
  }
  auto begun = std::make_unique<Reload>();
  begun->guard = announce_reload(asker);
  auto changed = config.take_over_anew(asker);
  if (!changed) return changed.error();
  begun->changed = std::move(*changed);
  begun->paths = options.rules;
  return begun;
}

std::shared_ptr<void> Server::Impl::announce_reload(std::uint64_t asker) {
  if (ending.has_begun()) return nullptr;
  manager.reloading();
  const auto over = [this, asker](void*) {
    asio::post(io, [this, asker] {
      if (ending.has_begun()) return;
      manager.ready(status());
      config.answered(asker);
    });
  };
  return {this, over};
}

void Server::Impl::end() {
  signals.cancel();
  next_look.cancel();
  next_beat.cancel();
  work.reset();
}

Server::Server(ServerOptions options, Log& log)
    : impl_(std::make_unique<Impl>(std::move(options), log)) {}

Server::~Server() {
  impl_->queue.discard();
  if (!impl_->sessions.empty()) impl_->abandon();
}

Result<void> Server::listen_early() { return impl_->listen_early(); }

Result<void> Server::recover() {
  Impl& s = *impl_;
  return s.beside_io([&s] { return s.engine.recover(s.progress); });
}

RuleFiles::Outcome Server::load_rules() {
  Impl& s = *impl_;
  s.progress.begin("reading the rule files");
  return s.beside_io([&s] { return s.engine.load_rules(); });
}

Result<void> Server::check_ports() { return impl_->check_ports(); }

Result<void> Server::listen() { return impl_->listen(); }

std::string Server::address() const { return impl_->listeners.front()->address(); }

std::vector<std::string> Server::lines() const {
  std::vector<std::string> lines;
  for (const auto& listener : impl_->listeners) {
    if (listener->is_open()) lines.push_back(listener->line());
  }
  return lines;
}

void Server::handle_signals() {
  // Whoever has started the server may have ignored it, and then nobody would learn how commands
  // of actions end.
  signal(SIGCHLD, SIG_DFL);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) impl_->signals.add(signal);
  impl_->await_signal();
}

bool Server::run() {
  Impl& s = *impl_;
  for (const auto& listener : s.listeners) {
    s.log.info("listening", {{"address", listener->address()}, {"option", listener->option()}});
  }
  if (!memory_reserve::take(s.options.limits.reserve_bytes)) {
    s.log.warning("there is no memory to set aside for a shortage");
  }
  s.sessions.warn_of_open_files();
  asio::co_spawn(s.io, s.look(), asio::detached);
  asio::co_spawn(s.io, s.beat(), asio::detached);
  s.doors.restore(s.engine.door_positions(), s.engine.declared_doors());
  s.targets.restore(s.engine.door_positions());
  s.engine.start();
  // Before the doors, whose first events may have rules execute something.
  s.targets.apply(s.options.actions);
  s.doors.set_own(cluster_doors(s.options.cluster, s.engine.journal_number()));
  s.doors.apply(s.options.doors);
  s.node = start_node(s.options.cluster, s.options.journal.path, s.log);
  s.hub.node = s.node.get();
  s.hub.starts = nullptr;
  s.next_progress.cancel();
  s.manager.ready(s.status());
  s.run_io();
  s.engine.join();
  s.node.reset();
  const auto& processed = s.engine.processed();
  s.log.info("stopped", {{"accepted", processed.accepted},
                         {"refused", s.engine.refused() + s.totals.malformed_lines},
                         {"late", processed.late},
                         {"too_late", processed.too_late},
                         {"composites", processed.composites},
                         {"dropped_composites", processed.dropped_composites},
                         {"dropped_depth", processed.dropped_depth},
                         {"passed_over", processed.passed_over},
                         {"sessions", s.sessions.opened()},
                         {"ahead", s.engine.ahead().ahead},
                         {"too_ahead", s.engine.ahead().too_ahead},
                         {"memory_shortages", s.engine.shortages()},
                         {"slow_consumers", s.totals.slow_consumers.load()},
                         {"lost_rows", s.totals.lost_rows.load()},
                         {"oversize", s.engine.oversize()},
                         {"dropped_requests", s.hub.dropped_requests + s.engine.dropped_changes()},
                         {"malformed", s.hub.malformed.load()},
                         {"refused_trex", s.hub.refused_trex.load()},
                         {"failed_handshakes", s.hub.failed_handshakes.load()},
                         {"failed_logins", s.doorkeeper.failed_logins()},
                         {"forbidden", s.hub.forbidden.load()}});
  return !s.ending.gave_up() && !s.engine.broken();
}

void Server::stop() {
  asio::post(impl_->io, [impl = impl_.get()] { impl->ending.stop(); });
}

void Server::reload() {
  asio::post(impl_->io, [impl = impl_.get()] { impl->reload(); });
}

void Server::set_reread(std::function<Result<ServerOptions>()> reread) {
  impl_->config.set_reread(std::move(reread));
}

ServerCounters Server::counters() const { return impl_->counters(); }

ServerCounters Server::Impl::counters() {
  return {
      .sessions = sessions.opened(),
      .refused_sessions = sessions.refused(),
      .malformed = hub.malformed,
      .stalled_reads = hub.stalled_reads,
      .slow_consumers = totals.slow_consumers,
      .lost_rows = totals.lost_rows,
      .dropped_requests = hub.dropped_requests + engine.dropped_changes(),
      .memory_bytes = static_cast<std::uint64_t>(std::max<std::int64_t>(0, totals.memory.used())),
      .queue_bytes = queue.bytes(),
      .malformed_lines = totals.malformed_lines,
      .certificate_expires = doorkeeper.certificate_expires(),
      .failed_handshakes = hub.failed_handshakes,
      .failed_logins = doorkeeper.failed_logins(),
      .hashed_passwords = doorkeeper.hashed_passwords(),
      .forbidden_requests = hub.forbidden,
      .subscriber_waits = totals.subscriber_waits,
      .is_read_only = engine.is_read_only()};
}

}  // namespace gorgo::server
