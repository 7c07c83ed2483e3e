#include "server/http/web_socket.hpp"

#include <algorithm>
#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "protocol/info.hpp"
#include "server/http/delivery_text.hpp"
#include "server/http/reply_json.hpp"
#include "server/http/socket_samples.hpp"
#include "server/http/web_socket_command.hpp"
#include "server/http/web_socket_stream.hpp"
#include "server/sessions/awaiting.hpp"

namespace gorgo::server::http {

namespace asio = boost::asio;

/// A request whose reply is due.
struct PendingMessage {
  Json request;                                  // what the client calls it
  std::unique_ptr<EventsBody> events = nullptr;  // of a publication
  std::optional<std::uint32_t> subscription = {};
  std::optional<std::uint32_t> most = {};  // of the subscription
  std::optional<std::uint32_t> unsubscription = {};
};

namespace {

/// The name of an error code as JSON has it: "too_large".
std::string code_text(wire::ErrorCode code) {
  std::string text;
  for (const char c : std::string_view(wire::EnumNameErrorCode(code))) {
    const bool upper = c >= 'A' && c <= 'Z';
    if (upper && !text.empty()) text += '_';
    text += upper ? static_cast<char>(c - 'A' + 'a') : c;
  }
  return text;
}

Json error_json(const wire::Error& error) {
  return {{"code", code_text(error.code())},
          {"reason", protocol::text_of(error.message())},
          {"hint", protocol::text_of(error.hint())}};
}

Json ack_json(const PendingMessage& pending, const wire::Ack& ack) {
  Json json = Json::object();
  if (pending.events != nullptr) {
    json["acknowledge"] = pending.request;
    json.update(to_json(ack, *pending.events));
    return json;
  }
  if (!pending.request.is_null()) json["request"] = pending.request;
  if (pending.subscription) json["subscribed"] = *pending.subscription;
  if (pending.unsubscription) json["unsubscribed"] = *pending.unsubscription;
  return json;
}

Json reply_json(const PendingMessage& pending, const wire::Message& message) {
  if (const auto* ack = message.body_as_Ack()) return ack_json(pending, *ack);
  Json json = Json::object();
  if (!pending.request.is_null()) json["request"] = pending.request;
  if (const auto* error = message.body_as_Error()) json["error"] = error_json(*error);
  if (const auto* diagnostics = message.body_as_Diagnostics()) json.update(to_json(*diagnostics));
  return json;
}

}  // namespace

struct WebSocket::Impl {
  Impl(Session& owner, std::shared_ptr<Texts> shared_texts);

  Session& session;
  const std::shared_ptr<Texts> texts;
  const HttpOptions& options;
  WebSocketStream stream;
  bool full = false;           // the stream keeps a message
  bool ended = false;          // nothing more will come
  bool taking = true;          // messages are taken
  asio::steady_timer arrived;  // cancelled when `full` or `ended` is set
  asio::steady_timer taken;    // cancelled when `full` is unset
  std::uint64_t last_id = std::uint64_t{1} << 32;
  std::map<std::uint64_t, PendingMessage> pending;  // by id
  SocketSamples samples;
  bool telling = false;  // what samples leave out is to be said

  asio::awaitable<void> pump();
  asio::awaitable<void> take(std::string_view text);
  void take_credit(std::string_view text);
  /// Whether it was credit for a subscription that needs it.
  bool grant(const WebSocketCommand& command);
  asio::awaitable<void> submit(WebSocketCommand command);
  protocol::Bytes frame_of(WebSocketCommand& command, PendingMessage& due);
  asio::awaitable<bool> deliver(const ClientDelivery& delivery);
  asio::awaitable<bool> say_left_out();
  asio::awaitable<bool> reply(const wire::Message& message);
  asio::awaitable<bool> write(const wire::Message& sent);
};

WebSocket::Impl::Impl(Session& owner, std::shared_ptr<Texts> shared_texts)
    : session(owner),
      texts(std::move(shared_texts)),
      options(owner.hub().options.http),
      stream(owner),
      arrived(owner.hub().io),
      taken(owner.hub().io) {
  arrived.expires_at(asio::steady_timer::time_point::max());
  taken.expires_at(asio::steady_timer::time_point::max());
}

// Reads always, so that pings, closing and broken connections are noticed. It is a coroutine of its
// own, because Beast cannot go on writing once a read was cancelled.
asio::awaitable<void> WebSocket::Impl::pump() {
  while (true) {
    const bool works = co_await stream.read();
    if (!works) break;
    full = taking;
    if (!taking) take_credit(stream.take());
    arrived.cancel();
    while (full && taking) co_await taken.async_wait(kTuple);
  }
  ended = true;
  arrived.cancel();
}

// What is still to be delivered may need credit, also when nothing else is taken.
void WebSocket::Impl::take_credit(std::string_view text) {
  const auto parsed = parse_command(text, options.max_message_bytes);
  const auto* command = std::get_if<WebSocketCommand>(&parsed);
  if (command != nullptr) grant(*command);
}

bool WebSocket::Impl::grant(const WebSocketCommand& command) {
  const auto* credit = std::get_if<wire::CreditT>(&command.what);
  return credit != nullptr &&
         session.outbox().grant(credit->subscription, credit->rows, credit->bytes);
}

asio::awaitable<void> WebSocket::Impl::take(std::string_view text) {
  auto parsed = parse_command(text, options.max_message_bytes);
  if (auto* command = std::get_if<WebSocketCommand>(&parsed)) {
    co_await submit(std::move(*command));
    co_return;
  }
  auto& wrong = std::get<WrongCommand>(parsed);
  const std::uint64_t id = ++last_id;
  pending.emplace(id, PendingMessage{std::move(wrong.request)});
  const bool goes_on = session.malformed(id, wire::ErrorCode::Malformed, wrong.why);
  if (!goes_on) taking = false;
}

protocol::Bytes WebSocket::Impl::frame_of(WebSocketCommand& command, PendingMessage& due) {
  if (auto* publish = std::get_if<PublishCommand>(&command.what)) {
    due.events = std::move(publish->events);
    return due.events->publish(publish->header, last_id);
  }
  if (const auto* subscribe = std::get_if<SubscribeCommand>(&command.what)) {
    due.subscription = subscribe->request.subscription;
    due.most = subscribe->most;
    return protocol::encode(last_id, subscribe->request);
  }
  if (const auto* credit = std::get_if<wire::CreditT>(&command.what)) {
    return protocol::encode(last_id, *credit);
  }
  if (const auto* acknowledge = std::get_if<wire::AcknowledgeT>(&command.what)) {
    return protocol::encode(last_id, *acknowledge);
  }
  const auto& unsubscribe = std::get<wire::UnsubscribeT>(command.what);
  due.unsubscription = unsubscribe.subscription;
  return protocol::encode(last_id, unsubscribe);
}

asio::awaitable<void> WebSocket::Impl::submit(WebSocketCommand command) {
  if (grant(command)) co_return;  // it is answered only where it is refused
  PendingMessage& due = pending[++last_id];
  due.request = std::move(command.request);
  auto frame = frame_of(command, due);
  const auto& request = *flatbuffers::GetSizePrefixedRoot<wire::Message>(frame.data());
  const bool queued = co_await session.gate().submit(std::move(frame), request);
  if (!queued) taking = false;
}

asio::awaitable<bool> WebSocket::Impl::deliver(const ClientDelivery& delivery) {
  bool works = true;
  if (delivery.lost.rows > 0) {
    const std::string gap = "{\"gap\":" + gap_text(delivery.lost) + "}";
    works = co_await stream.write(gap);
  }
  if (delivery.rows == 0) co_return works;
  const auto rows = texts->messages.of(delivery.shared);
  const std::uint32_t end = delivery.first + delivery.rows;
  const auto passing = samples.admit(delivery, std::chrono::steady_clock::now());
  for (std::uint32_t row = delivery.first; works && row < end; ++row) {
    if (!passing.empty() && !passing[row - delivery.first]) continue;
    const std::uint32_t id = delivery.subscription_of(row);
    const std::string rest = id == 0 ? "}" : ",\"subscription\":" + std::to_string(id) + "}";
    works = co_await stream.write(rows->of(row, 1), rest);
  }
  telling = telling || std::ranges::find(passing, true) != passing.end();
  co_return works;
}

asio::awaitable<bool> WebSocket::Impl::say_left_out() {
  bool works = true;
  if (!std::exchange(telling, false)) co_return works;
  for (const auto& [id, rows] : samples.take_left_out()) {
    Json json = {{"left_out", {{"rows", rows}}}};
    if (id != 0) json["subscription"] = id;
    const std::string text = to_text(json);
    works = works && co_await stream.write(text);
  }
  co_return works;
}

asio::awaitable<bool> WebSocket::Impl::reply(const wire::Message& reply) {
  auto due = pending.extract(reply.id());
  PendingMessage none;
  const PendingMessage& asked = due.empty() ? none : due.mapped();
  const auto* ack = reply.body_as_Ack();
  if (ack != nullptr && asked.events != nullptr && !ack->duplicate()) {
    session.hub().totals.malformed_lines += asked.events->malformed();
  }
  if (ack != nullptr && asked.subscription) samples.set(*asked.subscription, asked.most);
  const std::string text = to_text(reply_json(asked, reply));
  co_return co_await stream.write(text);
}

asio::awaitable<bool> WebSocket::Impl::write(const wire::Message& sent) {
  const auto* leaving = sent.body_as_Leaving();
  if (leaving == nullptr) co_return co_await reply(sent);
  const std::string text = to_text({{"leaving", to_json(*leaving)}});
  co_return co_await stream.write(text);
}

WebSocket::WebSocket(Session& session, std::shared_ptr<Texts> texts)
    : impl_(std::make_unique<Impl>(session, std::move(texts))) {}
WebSocket::~WebSocket() = default;

asio::awaitable<bool> WebSocket::accept(const Request& request, std::optional<std::uint32_t> most) {
  impl_->samples.set(0, most);
  return impl_->stream.accept(request);
}

asio::awaitable<void> WebSocket::read() {
  Impl& s = *impl_;
  s.session.spawn(s.pump());
  while (s.taking && !s.session.stopping()) {
    if (!s.full && s.ended) break;
    if (!s.full) {
      co_await s.arrived.async_wait(kTuple);
      continue;
    }
    const std::string text = s.stream.take();
    s.session.hold(text.size() + s.stream.capacity());
    co_await s.take(text);
    s.full = false;
    s.taken.cancel();
  }
  s.taking = false;
  s.full = false;
  s.stream.drop();
  s.taken.cancel();
}

asio::awaitable<bool> WebSocket::write(std::span<const OutFrame> frames) {
  for (const OutFrame& frame : frames) {
    bool works = false;
    if (const auto* delivery = std::get_if<ClientDelivery>(&frame)) {
      works = co_await impl_->deliver(*delivery);
    } else {
      const auto& bytes = std::get<protocol::Bytes>(frame);
      works = co_await impl_->write(*flatbuffers::GetSizePrefixedRoot<wire::Message>(bytes.data()));
    }
    if (!works) co_return false;
  }
  co_return co_await impl_->say_left_out();
}

bool WebSocket::has_ended() const { return impl_->ended; }
bool WebSocket::is_sampling() const { return !impl_->samples.empty(); }
void WebSocket::tell_left_out() { impl_->telling = true; }
bool WebSocket::has_output() const { return impl_->telling; }

asio::awaitable<void> WebSocket::finish() {
  if (impl_->ended) co_return;
  co_await impl_->stream.close();
}

}  // namespace gorgo::server::http
