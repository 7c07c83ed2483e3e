#include "server/sessions/session_table.hpp"

#include <algorithm>
#include <functional>
#include <string>
#include <utility>

#include "base/open_files.hpp"

namespace gorgo::server {

void SessionTable::open(boost::asio::ip::tcp::socket socket, const DialectMaker& dialect) {
  const auto& limits = hub_.options.limits;
  const bool is_beyond_files = is_kept_for_files(socket.native_handle());
  Transport transport(std::move(socket), hub_.doorkeeper.tls());
  if (is_beyond_files) {
    return close_unheard(
        std::move(transport),
        {"the process has nearly as many files and connections open as it may", kRaiseOpenFiles});
  }
  const std::size_t most =
      limits.max_sessions + (transport.is_local() ? limits.reserved_sessions : 0);
  if (admitted_ >= most) {
    return refuse(std::move(transport), dialect,
                  {"the server has " + std::to_string(admitted_) + " connections, its limit",
                   "try again later, or raise limits.max_sessions"});
  }
  const auto peer = transport.peer_address();
  if (hub_.newcomers.of(peer) >= limits.max_newcomers) {
    return refuse(std::move(transport), dialect,
                  {std::to_string(limits.max_newcomers) +
                       " connections from this address have not yet said who they are",
                   "log in by those first, or raise limits.max_newcomers"});
  }
  NetworkCounts::Share newcomer(hub_.newcomers, peer);
  Session& session = add(std::move(transport), dialect);
  ++opened_;
  ++admitted_;
  session.start(std::move(newcomer));
}

Session& SessionTable::add(Transport transport, const DialectMaker& dialect) {
  const auto session = Session::make(std::move(transport), ++last_id_, hub_, dialect);
  sessions_[last_id_] = session;
  hub_.news.note({session->info(), true});
  return *session;
}

void SessionTable::warn_of_open_files() const {
  const auto& limits = hub_.options.limits;
  const std::size_t needed = limits.max_sessions + limits.reserved_sessions + kKeptForFiles;
  if (needed <= most_open_files()) return;
  hub_.log.warning("the process may not have as many connections open as its limits allow",
                   {{"open_files", most_open_files()},
                    {"needed", needed},
                    {"hint", std::string(kRaiseOpenFiles) + ", or lower limits.max_sessions"}});
}

void SessionTable::refuse(Transport transport, const DialectMaker& dialect, const Error& why) {
  // A handshake would cost more than all that a connection costs which is served for a moment.
  if (transport.is_secure()) return close_unheard(std::move(transport), why);
  note_refused(transport, why);
  add(std::move(transport), dialect).refuse(why);
}

void SessionTable::close_unheard(Transport transport, const Error& why) {
  note_refused(transport, why);
  ConnectionInfo info;
  info.id = ++last_id_;
  info.peer = transport.peer();
  hub_.closed.add({std::move(info), EndReason::refused, why.message});
}

void SessionTable::note_refused(const Transport& transport, const Error& why) {
  ++refused_;
  if (const auto count = refused_log_.note()) {
    hub_.log.warning("connections refused", {{"connections", *count},
                                             {"peer", transport.peer()},
                                             {"sessions", admitted_},
                                             {"reason", why.to_string()}});
  }
}

void SessionTable::forget(Session& session) {
  if (!session.refused()) --admitted_;
  sessions_.erase(session.id());
}

void SessionTable::look(std::chrono::steady_clock::time_point now) {
  for (const auto& [id, session] : all()) session->look(now);
}

void SessionTable::shed() {
  MemoryBudget& memory = hub_.totals.memory;
  memory.looked();
  // Publications of clients that have gone were received, but nobody was told that they are taken.
  hub_.dropped_requests += hub_.queue.drop_closed();
  std::vector<std::pair<std::int64_t, std::shared_ptr<Session>>> largest;
  for (const auto& [id, session] : sessions_) largest.emplace_back(session->memory(), session);
  std::ranges::sort(largest, std::greater<>());
  // What a session still writes it gives back soon. What it shares with others stays with them.
  std::int64_t leaving = 0;
  for (const auto& [bytes, session] : largest) {
    if (memory.excess() <= leaving || bytes == 0) return;
    hub_.log.warning("a client is disconnected, for all together hold too much memory",
                     {{"session", session->id()},
                      {"peer", session->peer()},
                      {"bytes", bytes},
                      {"all", memory.used()},
                      {"memory_bytes", memory.limit()}});
    session->overload({"all clients together have the server hold more than " +
                           std::to_string(memory.limit()) + " bytes, and this one holds most, " +
                           std::to_string(bytes),
                       "read faster, send smaller frames, or raise limits.memory_bytes"});
    leaving += static_cast<std::int64_t>(session->memory());
  }
}

Result<void> SessionTable::disconnect(std::uint64_t id) {
  const auto known = sessions_.find(id);
  if (known == sessions_.end()) {
    return Error{"there is no connection " + std::to_string(id),
                 "see `gorgo connections` for those that are open"};
  }
  const auto session = known->second;  // it may end at once
  session->turn_away(EndReason::disconnected, wire::ErrorCode::Forbidden,
                     {"an operator has ended this connection", ""});
  return {};
}

std::vector<ConnectionInfo> SessionTable::infos() const {
  std::vector<ConnectionInfo> infos;
  for (const auto& [id, session] : sessions_) infos.push_back(session->info());
  return infos;
}

}  // namespace gorgo::server
