#include "server/http/editor_socket.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core/buffers_to_string.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <string>
#include <utility>
#include <vector>

#include "server/awaiting.hpp"
#include "server/http/web_socket_stream.hpp"

namespace gorgo::server::http {

namespace asio = boost::asio;
namespace websocket = boost::beast::websocket;

namespace {

using Answers = std::vector<std::string>;

asio::awaitable<Answers> answers_to(Workshop::Conversation& conversation, std::string message) {
  co_return conversation.handle(message);
}

}  // namespace

struct EditorSocket::Impl {
  Session& session;
  const std::shared_ptr<Texts> texts;
  const std::unique_ptr<Workshop::Conversation> conversation;
  WebSocketStream stream{session.transport()};
  asio::steady_timer over{session.hub().io};  // cancelled when `ended` is set
  bool ended = false;                         // nothing more will come

  asio::awaitable<void> talk();
  asio::awaitable<bool> answer(std::string message);
};

// It is a coroutine of its own, because Beast cannot go on writing once a read was cancelled. It
// goes on reading when the session takes nothing more, so that the editor's answer to the end is
// noticed.
asio::awaitable<void> EditorSocket::Impl::talk() {
  boost::beast::flat_buffer message;
  while (true) {
    const auto [failure, size] = co_await stream.async_read(message, kTuple);
    if (failure) break;
    session.received();
    auto text = boost::beast::buffers_to_string(message.data());
    session.hold(text.size() + message.capacity());
    message.clear();
    if (session.stopping()) continue;
    const bool goes_on = co_await answer(std::move(text));
    if (!goes_on) break;
  }
  ended = true;
  over.cancel();
}

asio::awaitable<bool> EditorSocket::Impl::answer(std::string message) {
  auto work = answers_to(*conversation, std::move(message));
  const Answers answers =
      co_await asio::co_spawn(texts->beside, std::move(work), asio::use_awaitable);
  for (const std::string& text : answers) {
    session.sending();
    const auto [failure, size] = co_await stream.async_write(asio::buffer(text), kTuple);
    session.sent();
    if (failure) co_return false;
  }
  co_return !conversation->is_over();
}

EditorSocket::EditorSocket(Session& session, std::shared_ptr<Texts> texts,
                           std::unique_ptr<Workshop::Conversation> conversation)
    : impl_(new Impl{session, std::move(texts), std::move(conversation)}) {
  impl_->over.expires_at(asio::steady_timer::time_point::max());
  prepare(impl_->stream, session.hub().options);
}
EditorSocket::~EditorSocket() = default;

asio::awaitable<bool> EditorSocket::accept(const WebSocket::Request& request) {
  return http::accept(impl_->stream, request);
}

asio::awaitable<void> EditorSocket::serve() {
  Impl& s = *impl_;
  s.session.spawn(s.talk());
  while (!s.ended && !s.session.stopping()) co_await s.over.async_wait(kTuple);
}

asio::awaitable<void> EditorSocket::finish() {
  if (impl_->ended) co_return;
  const websocket::close_reason reason(websocket::close_code::going_away);
  co_await impl_->stream.async_close(reason, kTuple);
}

}  // namespace gorgo::server::http
