#include "server/server.hpp"

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/signal_set.hpp>
#include <csignal>
#include <future>
#include <map>
#include <new>
#include <vector>

#include "server/awaiting.hpp"
#include "server/config_reload.hpp"
#include "server/doors.hpp"
#include "server/engine_thread.hpp"
#include "server/listener.hpp"
#include "server/memory_reserve.hpp"
#include "server/security/doorkeeper.hpp"
#include "server/service_manager.hpp"
#include "server/session.hpp"

namespace gorgo::server {

namespace asio = boost::asio;
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
  std::map<std::uint64_t, std::shared_ptr<Session>> sessions;
  std::size_t admitted = 0;  // sessions without those that were refused and are about to end
  std::uint64_t last_session = 0;
  ConfigReload config{options, log, doorkeeper, listeners, sessions};
  bool stopping = false;
  asio::steady_timer next_stage{io};  // of the end: ends the grace, or gives up
  std::atomic<std::uint64_t> opened = 0;
  std::atomic<std::uint64_t> refused = 0;
  LogLimit refused_log;
  bool gave_up = false;
  bool engine_ended = false;
  // Held until the engine thread has ended: it posts to the context.
  asio::executor_work_guard<asio::io_context::executor_type> work{io.get_executor()};
  EngineThread engine;  // the last member: joined before what it uses is destroyed

  /// Reads the keys and makes the doors, once.
  Result<void> make_doors();
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
  void open(asio::ip::tcp::socket socket, const DialectMaker& dialect);
  /// Turns a connection away, for there are too many.
  void refuse(Transport transport, const DialectMaker& dialect);
  /// Watches the time-outs of clients.
  asio::awaitable<void> look();
  void look_at_sessions();
  /// Tells the service manager that both threads make progress, as long as they do.
  asio::awaitable<void> beat();
  std::string status() const;
  /// Ends the sessions that hold most, until the others keep within the memory of all.
  void shed();
  ServerCounters counters();
  void await_signal();
  void reload();
  /// Takes over the configuration as it is now. An error: nothing was changed.
  Result<std::unique_ptr<Reload>> begin_reload();
  /// Tells the service manager of a reload until it is released.
  std::shared_ptr<void> announce_reload();
  void stop();
  /// Serves on for the grace, and tells everybody that this is the end.
  void leave();
  /// Reads nothing more; what was read is carried out.
  void drain();
  /// Gives up what is left.
  void give_up();
  void stop_after(std::chrono::milliseconds wait, void (Impl::*stage)());
  void engine_end();
  void end_when_idle();
};

Server::Impl::Impl(ServerOptions given, Log& log_to_use)
    : options(std::move(given)),
      log(log_to_use),
      totals{
          .memory = {options.limits.memory_bytes, [this] { asio::post(io, [this] { shed(); }); }}},
      queue(options.limits, totals.memory),
      hub{io, options, log, queue, totals, doorkeeper, accounts, {}},
      engine(options, log, queue, types, totals,
             [this] { asio::post(io, [this] { engine_end(); }); }) {
  hub.counters = [this] { return counters(); };
  hub.begin_reload = [this] { return begin_reload(); };
  hub.connections = [this] {
    std::vector<ConnectionInfo> all;
    for (const auto& [id, session] : sessions) all.push_back(session->info());
    return all;
  };
  hub.disconnect = [this](std::uint64_t id) -> Result<void> {
    const auto known = sessions.find(id);
    if (known == sessions.end()) {
      return Error{"there is no connection " + std::to_string(id),
                   "see `gorgo connections` for those that are open"};
    }
    const auto session = known->second;  // it may end at once
    session->turn_away(EndReason::disconnected, wire::ErrorCode::Forbidden,
                       {"an operator has ended this connection", ""});
    return {};
  };
  hub.on_end = [this](Session& session) {
    if (!session.refused()) --admitted;
    sessions.erase(session.id());
    end_when_idle();
  };
}

Result<void> Server::Impl::make_doors() {
  if (!listeners.empty()) return {};
  auto keys = Doorkeeper::read(options);
  if (!keys) return keys.error();
  doorkeeper.set(std::move(*keys));
  const auto open_session = [this](asio::ip::tcp::socket socket, const DialectMaker& dialect) {
    open(std::move(socket), dialect);
  };
  for (Listener::Door& door : doors_of(options, types, totals.memory)) {
    listeners.push_back(std::make_unique<Listener>(io, log, std::move(door), open_session));
  }
  return {};
}

Result<void> Server::Impl::listen() {
  if (auto made = make_doors(); !made) return made;
  for (const auto& listener : listeners) {
    if (listener->is_open()) continue;
    if (const auto listening = listener->listen(options); !listening) return listening;
    asio::co_spawn(io, listener->run(), asio::detached);
  }
  return {};
}

Result<void> Server::Impl::listen_early() {
  if (auto made = make_doors(); !made) return made;
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
  for (const auto& [id, session] : std::map(sessions)) session->give_up();
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
  while (!engine_ended) {
    next_beat.expires_after(pause);
    co_await next_beat.async_wait(kTuple);
    const std::uint64_t beats = engine.beats();
    if (beats == seen && !stopping) continue;
    seen = beats;
    manager.alive();
    queue.push_control({Command::Kind::beat});
  }
}

std::string Server::Impl::status() const {
  return std::to_string(listeners.size()) + (listeners.size() == 1 ? " port" : " ports") + " open";
}

/// A handler that finds no memory ends, the others go on.
void Server::Impl::run_io() {
  while (true) {
    try {
      io.run();
      return;
    } catch (const std::bad_alloc&) {
      log.error("short of memory");
    }
  }
}

void Server::Impl::open(asio::ip::tcp::socket socket, const DialectMaker& dialect) {
  const auto& limits = options.limits;
  Transport transport(std::move(socket), doorkeeper.tls());
  const std::size_t most =
      limits.max_sessions + (transport.is_local() ? limits.reserved_sessions : 0);
  if (admitted < most) {
    const auto session = Session::make(std::move(transport), ++last_session, hub, dialect);
    sessions[last_session] = session;
    ++opened;
    ++admitted;
    session->start();
    return;
  }
  refuse(std::move(transport), dialect);
}

void Server::Impl::refuse(Transport transport, const DialectMaker& dialect) {
  ++refused;
  if (const auto count = refused_log.note()) {
    log.warning("connections refused", {{"connections", *count}, {"sessions", admitted}});
  }
  // A handshake would cost more than all that a connection costs which is served for a moment.
  if (transport.is_secure()) return;
  const auto session = Session::make(std::move(transport), ++last_session, hub, dialect);
  sessions[last_session] = session;
  session->refuse({"the server has " + std::to_string(admitted) + " connections, its limit",
                   "try again later, or raise limits.max_sessions"});
}

asio::awaitable<void> Server::Impl::look() {
  constexpr std::chrono::milliseconds kLongest{1000};
  while (!stopping) {
    auto pause = kLongest;
    for (const auto limit :
         {options.frame_timeout, options.idle_timeout, options.limits.heartbeat,
          options.limits.heartbeat_timeout, options.limits.soft_outbound, options.limits.stalled}) {
      if (limit.count() > 0) pause = std::min(pause, limit / 4);
    }
    next_look.expires_after(std::max(pause, std::chrono::milliseconds(1)));
    co_await next_look.async_wait(kTuple);
    try {
      look_at_sessions();
    } catch (const std::bad_alloc&) {
      log.error("short of memory");
    }
  }
}

void Server::Impl::look_at_sessions() {
  const auto now = std::chrono::steady_clock::now();
  for (const auto& [id, session] : std::map(sessions)) session->look(now);
}

void Server::Impl::shed() {
  totals.memory.looked();
  // Publications of clients that have gone were received, but nobody was told that they are taken.
  hub.dropped_requests += queue.drop_closed();
  std::vector<std::pair<std::int64_t, std::shared_ptr<Session>>> largest;
  for (const auto& [id, session] : sessions) largest.emplace_back(session->memory(), session);
  std::ranges::sort(largest, std::greater<>());
  // What a session still writes it gives back soon. What it shares with others stays with them.
  std::int64_t leaving = 0;
  for (const auto& [bytes, session] : largest) {
    if (totals.memory.excess() <= leaving || bytes == 0) return;
    log.warning("a client is disconnected, for all together hold too much memory",
                {{"session", session->id()},
                 {"peer", session->peer()},
                 {"bytes", bytes},
                 {"all", totals.memory.used()},
                 {"memory_bytes", totals.memory.limit()}});
    session->overload({"all clients together have the server hold more than " +
                           std::to_string(totals.memory.limit()) +
                           " bytes, and this one holds most, " + std::to_string(bytes),
                       "read faster, send smaller frames, or raise limits.memory_bytes"});
    leaving += static_cast<std::int64_t>(session->memory());
  }
}

void Server::Impl::await_signal() {
  signals.async_wait([this](error_code cancelled, int signal) {
    if (cancelled) return;
    await_signal();
    if (signal == SIGHUP) {
      reload();
    } else {
      stop();
    }
  });
}

void Server::Impl::reload() {
  auto begun = begin_reload();
  if (!begun) return;
  queue.push_control({.kind = Command::Kind::reload, .reload = std::move(*begun)});
}

Result<std::unique_ptr<Reload>> Server::Impl::begin_reload() {
  auto begun = std::make_unique<Reload>();
  begun->guard = announce_reload();
  auto changed = config.take_over_anew();
  if (!changed) return changed.error();
  begun->changed = std::move(*changed);
  begun->paths = options.rules;
  return begun;
}

std::shared_ptr<void> Server::Impl::announce_reload() {
  if (hub.stops_at || stopping) return nullptr;
  manager.reloading();
  const auto over = [this](void*) {
    asio::post(io, [this] {
      if (!hub.stops_at && !stopping) manager.ready(status());
    });
  };
  return {this, over};
}

void Server::Impl::stop() {
  if (stopping) return give_up();
  const bool first = !hub.stops_at;
  if (first && options.operations.grace.count() > 0) return leave();
  drain();
}

void Server::Impl::stop_after(std::chrono::milliseconds wait, void (Impl::*stage)()) {
  next_stage.expires_after(wait);
  next_stage.async_wait([this, stage](error_code cancelled) {
    if (!cancelled) (this->*stage)();
  });
}

void Server::Impl::leave() {
  const auto grace = options.operations.grace;
  hub.stops_at = std::chrono::steady_clock::now() + grace;
  manager.stopping("serving until clients have found another server");
  log.info("about to stop", {{"grace_ms", grace.count()}, {"sessions", sessions.size()}});
  for (const auto& [id, session] : std::map(sessions)) session->tell_of_stop();
  stop_after(grace, &Impl::drain);
}

void Server::Impl::give_up() {
  if (!engine_ended) {
    log.warning("stopping at once", {{"discarded_requests", queue.discard()}});
    gave_up = true;
    engine.request_stop();
  }
  for (const auto& [id, session] : std::map(sessions)) {
    session->ends_for(EndReason::stopped);
    session->give_up();
  }
}

void Server::Impl::drain() {
  if (stopping) return;
  stopping = true;
  manager.stopping("evaluating and delivering what was accepted");
  next_stage.cancel();
  if (options.operations.stop_timeout.count() > 0) {
    stop_after(options.operations.stop_timeout, &Impl::give_up);
  }
  log.info("stopping", {{"sessions", sessions.size()}});
  queue.close();
  for (const auto& listener : listeners) listener->close();
  next_look.cancel();
  for (const auto& [id, session] : sessions) session->stop_reading();
}

// Runs when the engine thread has ended. Unless that failed, everything accepted is evaluated and
// its deliveries stand in the outboxes.
void Server::Impl::engine_end() {
  if (!stopping) {  // it failed
    gave_up = true;
    drain();
  }
  engine_ended = true;
  for (const auto& [id, session] : sessions) session->finish();
  end_when_idle();
}

void Server::Impl::end_when_idle() {
  if (!engine_ended || !sessions.empty()) return;
  signals.cancel();
  next_beat.cancel();
  next_stage.cancel();
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
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) impl_->signals.add(signal);
  impl_->await_signal();
}

bool Server::run() {
  Impl& s = *impl_;
  for (const auto& listener : s.listeners) {
    s.log.info("listening", {{"address", listener->address()}, {"option", listener->option()}});
  }
  if (!memory_reserve::take()) s.log.warning("there is no memory to set aside for a shortage");
  asio::co_spawn(s.io, s.look(), asio::detached);
  asio::co_spawn(s.io, s.beat(), asio::detached);
  s.engine.start();
  s.hub.starts = nullptr;
  s.next_progress.cancel();
  s.manager.ready(s.status());
  s.run_io();
  s.engine.join();
  const auto& processed = s.engine.processed();
  s.log.info("stopped", {{"accepted", processed.accepted},
                         {"refused", s.engine.refused() + s.hub.malformed_lines},
                         {"late", processed.late},
                         {"too_late", processed.too_late},
                         {"composites", processed.composites},
                         {"dropped_composites", processed.dropped_composites},
                         {"dropped_depth", processed.dropped_depth},
                         {"passed_over", processed.passed_over},
                         {"sessions", s.opened.load()},
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
  return !s.gave_up && !s.engine.broken();
}

void Server::stop() {
  asio::post(impl_->io, [impl = impl_.get()] { impl->stop(); });
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
      .sessions = opened,
      .refused_sessions = refused,
      .malformed = hub.malformed,
      .stalled_reads = hub.stalled_reads,
      .slow_consumers = totals.slow_consumers,
      .lost_rows = totals.lost_rows,
      .dropped_requests = hub.dropped_requests + engine.dropped_changes(),
      .memory_bytes = static_cast<std::uint64_t>(std::max<std::int64_t>(0, totals.memory.used())),
      .queue_bytes = queue.bytes(),
      .malformed_lines = hub.malformed_lines,
      .failed_handshakes = hub.failed_handshakes,
      .failed_logins = doorkeeper.failed_logins(),
      .hashed_passwords = doorkeeper.hashed_passwords(),
      .forbidden_requests = hub.forbidden,
      .subscriber_waits = totals.subscriber_waits};
}

}  // namespace gorgo::server
