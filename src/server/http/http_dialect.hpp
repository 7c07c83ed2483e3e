#pragma once

#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "server/http/api.hpp"
#include "server/http/delivery_text.hpp"
#include "server/http/editor_socket.hpp"
#include "server/http/head_check.hpp"
#include "server/http/request_reader.hpp"
#include "server/http/web_socket.hpp"
#include "server/sessions/session.hpp"

namespace gorgo::server::http {

/// HTTP/1.1 (docs/http.md). The reader takes one request after the other and composes the
/// responses; the writer hands it the engine's replies and writes what it has composed, so that
/// everything leaves in the order in which it came about.
class HttpDialect : public Dialect, private Engine {
 public:
  HttpDialect(Session& session, std::shared_ptr<Texts> texts);

  std::string_view name() const override { return "http"; }
  boost::asio::awaitable<void> read() override;
  boost::asio::awaitable<void> discard() override;
  boost::asio::awaitable<void> finish() override;
  boost::asio::awaitable<bool> write(std::span<const OutFrame> frames) override;
  bool has_output() const override;
  Heartbeat heartbeat() const override;
  void ping() override;

 private:
  struct Leave;

  Session& session_;
  const std::shared_ptr<Texts> texts_;
  const ServerOptions& options_;
  const std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
  RequestReader reader_;
  HeadCheck head_check_;
  Api api_;
  std::string out_;  // composed, and not yet written
  MemoryShare out_memory_;
  bool sending_ = false;
  boost::asio::steady_timer answered_;  // cancelled when the reply is there
  boost::asio::steady_timer composed_;  // cancelled when the reader has made use of a reply
  boost::asio::steady_timer flushed_;   // cancelled when everything is written
  boost::asio::steady_timer tick_;      // until the workbench is looked at again
  const Body* body_ = nullptr;          // of the request that is carried out
  std::uint64_t last_id_ = 0;
  std::uint64_t asked_ = 0;  // the id of the request that the engine has; 0: it has none
  std::optional<protocol::Bytes> reply_;
  bool owing_ = false;                     // the reader has a reply and has not made use of it
  bool streaming_ = false;                 // deliveries are written as server-sent events
  std::optional<Sample> sample_;           // of them; unset: all are written
  std::unique_ptr<WebSocket> web_socket_;  // set: the connection is one
  std::unique_ptr<EditorSocket> editor_;   // set: the connection is one
  bool in_request_ = false;                // one has begun and has no response yet
  bool broken_ = false;                    // the engine's reply will never come

  /// Returns whether another request may follow.
  boost::asio::awaitable<bool> serve_one();
  bool outstays() const;
  boost::asio::awaitable<bool> read_head();
  void await_head();
  /// Waits until the rates of the user allow the body. False: the session ends.
  boost::asio::awaitable<bool> await_turn();
  boost::asio::awaitable<bool> read_body(Body* body);
  boost::asio::awaitable<Response> handle(const Target& target, const Route& route,
                                          std::vector<std::string> parameters, bool& goes_on);
  /// Has the response written and waits until it is.
  boost::asio::awaitable<void> respond(const Response& response, bool keep_alive);
  /// Does what follows the response instead of another request, until the client goes.
  boost::asio::awaitable<void> stream(const Response& response);
  boost::asio::awaitable<void> upgrade(std::optional<std::uint32_t> most);
  boost::asio::awaitable<void> serve_editor();
  /// Sends what changes of the server, tick by tick.
  boost::asio::awaitable<void> show_workbench();
  boost::asio::awaitable<void> gather(Workbench& workbench);
  /// Has what is composed written, and waits until it is.
  boost::asio::awaitable<void> written();
  boost::asio::awaitable<bool> read_more();
  /// Ends the request, whose framing or body is wrong.
  boost::asio::awaitable<void> refuse(const Problem& problem);

  std::uint64_t next_id() override { return ++last_id_; }
  boost::asio::awaitable<std::optional<Reply>> ask(protocol::Bytes frame) override;

  boost::asio::awaitable<void> take(const OutFrame& frame);
  boost::asio::awaitable<void> take_reply(const protocol::Bytes& frame);
  boost::asio::awaitable<bool> flush();
  /// What the server says before it ends the session.
  void last_words(const wire::Error& error);
  void used_reply();
};

}  // namespace gorgo::server::http
