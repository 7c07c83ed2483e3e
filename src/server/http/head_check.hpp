#pragma once

#include <boost/asio/awaitable.hpp>
#include <optional>
#include <string>

#include "server/http/api.hpp"
#include "server/http/message.hpp"
#include "server/http/request_reader.hpp"
#include "server/sessions/session.hpp"

namespace gorgo::server::http {

/// Whether the head says that the body is compressed by gzip.
bool is_gzip(const Head& head);

/// Says by the heads of a connection's requests who sends them and whether they may be carried out.
/// Belongs to the I/O thread.
class HeadCheck {
 public:
  /// Both must outlive it. `reader` has the head of the request in hand.
  HeadCheck(Session& session, const RequestReader& reader) : session_(session), reader_(reader) {}

  /// Why the request may not be carried out; nothing: it may, and the session has its user.
  boost::asio::awaitable<std::optional<Response>> refusal_of(const Route& route,
                                                             const Target& target);

 private:
  Session& session_;
  const RequestReader& reader_;
  UserPtr user_;              // who logged in last; null: nobody
  std::string logged_in_by_;  // a hash of what that user has said

  /// Whether the request may go on, as far as its head says.
  Checked check_head(const Target& target) const;
  /// Whether a browser sent it that shows a page of somebody else.
  bool is_foreign() const;
  /// Finds out who sent the request, where the server asks. A response: it may not go on.
  boost::asio::awaitable<std::optional<Response>> log_in(const Route& route, const Target& target);
  boost::asio::awaitable<std::optional<Response>> log_in_by_head();
};

}  // namespace gorgo::server::http
