#include "server/http/editor_socket.hpp"

#include <boost/asio/steady_timer.hpp>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "server/http/web_socket_stream.hpp"
#include "server/sessions/awaiting.hpp"
#include "server/sessions/on_pool.hpp"

namespace gorgo::server::http {

namespace asio = boost::asio;

namespace {

using Answers = std::vector<std::string>;

std::function<Answers()> answers_to(Workshop::Conversation& conversation, std::string message) {
  return [&conversation, message = std::move(message)] { return conversation.handle(message); };
}

}  // namespace

struct EditorSocket::Impl {
  Session& session;
  const std::shared_ptr<Texts> texts;
  const std::unique_ptr<Workshop::Conversation> conversation;
  WebSocketStream stream{session};
  asio::steady_timer over{session.hub().io};  // cancelled when `ended` is set
  bool ended = false;                         // nothing more will come

  asio::awaitable<void> talk();
  asio::awaitable<bool> answer(std::string message);
};

// It is a coroutine of its own, because Beast cannot go on writing once a read was cancelled. It
// goes on reading when the session takes nothing more, so that the editor's answer to the end is
// noticed.
asio::awaitable<void> EditorSocket::Impl::talk() {
  while (true) {
    const bool works = co_await stream.read();
    if (!works) break;
    std::string text = stream.take();
    session.hold(text.size() + stream.capacity());
    if (session.stopping()) continue;
    const bool goes_on = co_await answer(std::move(text));
    if (!goes_on) break;
  }
  ended = true;
  over.cancel();
}

asio::awaitable<bool> EditorSocket::Impl::answer(std::string message) {
  auto work = answers_to(*conversation, std::move(message));
  const Answers answers = co_await on_pool(texts->beside, std::move(work));
  for (const std::string& text : answers) {
    const bool works = co_await stream.write(text);
    if (!works) co_return false;
  }
  co_return !conversation->is_over();
}

EditorSocket::EditorSocket(Session& session, std::shared_ptr<Texts> texts,
                           std::unique_ptr<Workshop::Conversation> conversation)
    : impl_(new Impl{session, std::move(texts), std::move(conversation)}) {
  impl_->over.expires_at(asio::steady_timer::time_point::max());
}
EditorSocket::~EditorSocket() = default;

asio::awaitable<bool> EditorSocket::accept(const WebSocket::Request& request) {
  return impl_->stream.accept(request);
}

asio::awaitable<void> EditorSocket::serve() {
  Impl& s = *impl_;
  s.session.spawn(s.talk());
  while (!s.ended && !s.session.stopping()) co_await s.over.async_wait(kTuple);
}

asio::awaitable<void> EditorSocket::finish() {
  if (impl_->ended) co_return;
  co_await impl_->stream.close();
}

}  // namespace gorgo::server::http
