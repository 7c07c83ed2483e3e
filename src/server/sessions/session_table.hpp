#pragma once

#include <atomic>
#include <boost/asio/ip/tcp.hpp>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "server/log_limit.hpp"
#include "server/sessions/session.hpp"

namespace gorgo::server {

/// The sessions that are there, how many may be, and what is done to all of them. Belongs to the
/// I/O thread, except where a member says otherwise.
class SessionTable {
 public:
  using Sessions = std::map<std::uint64_t, std::shared_ptr<Session>>;

  explicit SessionTable(SessionHub& hub) : hub_(hub) {}

  /// Begins a session, or turns the connection away where there are too many.
  void open(boost::asio::ip::tcp::socket socket, const DialectMaker& dialect);
  /// Tells in the log if the process may not have so many connections as the limits allow.
  void warn_of_open_files() const;
  /// The session is over.
  void forget(Session& session);
  bool empty() const { return sessions_.empty(); }
  std::size_t size() const { return sessions_.size(); }
  /// A copy: sessions may end while somebody goes over them.
  Sessions all() const { return sessions_; }

  /// Has every session watch its time-outs. To be called now and then.
  void look(std::chrono::steady_clock::time_point now);
  /// Ends the sessions that hold most, until the others keep within the memory of all.
  void shed();
  /// Ends the connection of this number on behalf of an operator. An error: there is none.
  Result<void> disconnect(std::uint64_t id);
  std::vector<ConnectionInfo> infos() const;

  /// So many connections were served, and refused. Read anywhere.
  std::uint64_t opened() const { return opened_; }
  std::uint64_t refused() const { return refused_; }

 private:
  SessionHub& hub_;
  Sessions sessions_;
  std::size_t admitted_ = 0;  // sessions without those that were refused and are about to end
  std::uint64_t last_id_ = 0;
  std::atomic<std::uint64_t> opened_ = 0, refused_ = 0;
  LogLimit refused_log_;

  Session& add(Transport transport, const DialectMaker& dialect);
  void refuse(Transport transport, const DialectMaker& dialect, const Error& why);
  /// Refuses a connection without a word to it.
  void close_unheard(Transport transport, const Error& why);
  void note_refused(const Transport& transport, const Error& why);
};

}  // namespace gorgo::server
