#pragma once

#include <boost/asio/awaitable.hpp>
#include <memory>

#include "server/http/delivery_text.hpp"
#include "server/http/web_socket.hpp"
#include "server/sessions/session.hpp"
#include "server/workshop.hpp"

namespace gorgo::server::http {

/// A connection that has become a WebSocket on which an editor speaks the Language Server Protocol,
/// a message in each text message. Belongs to the I/O thread.
class EditorSocket {
 public:
  /// `session` must outlive it.
  EditorSocket(Session& session, std::shared_ptr<Texts> texts,
               std::unique_ptr<Workshop::Conversation> conversation);
  ~EditorSocket();

  boost::asio::awaitable<bool> accept(const WebSocket::Request& request);
  /// Answers until the editor closes, or `Session::stopping`.
  boost::asio::awaitable<void> serve();
  /// Tells the editor that this is the end.
  boost::asio::awaitable<void> finish();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace gorgo::server::http
