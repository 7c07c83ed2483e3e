#include "server/sessions/native_dialect.hpp"

#include <deque>
#include <optional>
#include <span>
#include <string>

#include "protocol/batch_check.hpp"
#include "protocol/info.hpp"
#include "server/sessions/request_texts.hpp"

namespace gorgo::server {
namespace {

namespace asio = boost::asio;

bool is_request(wire::Body kind) {
  return (kind >= wire::Body::Hello && kind <= wire::Body::ListRules) || kind == wire::Body::Tick ||
         kind == wire::Body::ListTypes || kind == wire::Body::Pin || kind == wire::Body::AskWhy ||
         kind == wire::Body::Trace || kind == wire::Body::ListDevices ||
         kind == wire::Body::AskStatistics || kind == wire::Body::Reload ||
         kind == wire::Body::Credit || kind == wire::Body::Acknowledge ||
         kind == wire::Body::EndDurable || kind == wire::Body::ListDurables ||
         kind == wire::Body::ListConnections || kind == wire::Body::Disconnect ||
         kind == wire::Body::AskHistory || kind == wire::Body::ListShadows ||
         kind == wire::Body::PromoteShadow || kind == wire::Body::DropShadow ||
         kind == wire::Body::ListDoors || kind == wire::Body::ListActions ||
         kind == wire::Body::OrderAction || kind == wire::Body::DeclareDoor ||
         kind == wire::Body::RemoveDoor;
}

}  // namespace

// What is still to be delivered may need credit. Once the outbox is closed, nothing is.
asio::awaitable<void> NativeDialect::discard() {
  while (session_.is_greeted() && !session_.aborted() && !session_.outbox().closed()) {
    const auto frame = cutter_.next();
    if (!frame) break;
    if (*frame) {
      const auto message = protocol::open_frame(**frame);
      if (message) answer(**message);
    } else if (!co_await session_.read_into(cutter_)) {
      break;
    }
  }
  cutter_ = protocol::FrameCutter(protocol::kMaxGreeting);
  co_await session_.read_nothing();
}

asio::awaitable<void> NativeDialect::read() {
  while (!session_.stopping()) {
    std::optional<Result<std::optional<protocol::Bytes>>> cut;
    if (!session_.if_memory([&] { cut = cutter_.next(); })) {
      co_await session_.await_memory();
      continue;
    }
    auto& frame = *cut;
    if (!frame) {
      session_.malformed(0, wire::ErrorCode::TooLarge, frame.error());
      co_return;
    }
    if (*frame) {
      session_.message_over();
      if (!co_await take(std::move(**frame))) co_return;
    } else if (!co_await session_.read_into(cutter_)) {
      co_return;
    }
  }
}

asio::awaitable<bool> NativeDialect::take(protocol::Bytes frame) {
  const auto message = protocol::open_frame(frame);
  if (!message) {
    const bool goes_on = session_.malformed(0, wire::ErrorCode::Malformed, message.error());
    co_return goes_on&& session_.is_greeted();
  }
  if (!session_.is_greeted()) co_return co_await greet(**message);
  if (answer(**message)) co_return true;
  if (!acceptable(**message, frame.size())) co_return session_.end().may_go_on();
  co_return co_await session_.gate().submit(std::move(frame), **message);
}

asio::awaitable<bool> NativeDialect::log_in(const wire::Message& message) {
  Doorkeeper& doorkeeper = session_.hub().doorkeeper;
  if (!doorkeeper.asks()) co_return true;
  const auto& hello = *message.body_as_Hello();
  Credentials said{protocol::text_of(hello.user()), protocol::text_of(hello.password()),
                   protocol::text_of(hello.token())};
  const auto outcome = co_await doorkeeper.admit(std::move(said), session_.transport());
  if (outcome.refused) {
    session_.reply_error(message.id(), outcome.refused->code, outcome.refused->why);
    co_return false;
  }
  const auto let_in = session_.gate().let_in(outcome.user);
  if (let_in) co_return true;
  session_.end().give(EndReason::refused, let_in.error().message);
  session_.reply_error(message.id(), wire::ErrorCode::Overloaded, let_in.error());
  co_return false;
}

asio::awaitable<bool> NativeDialect::greet(const wire::Message& message) {
  const auto* hello = message.body_as_Hello();
  if (hello == nullptr) {
    session_.end().give(EndReason::malformed, "the first message was no Hello");
    session_.reply_error(message.id(), wire::ErrorCode::NotGreeted,
                         {"the first message must be a Hello", "docs/protocol.md"});
    co_return false;
  }
  if (hello->min_version() > protocol::kVersion || hello->max_version() < protocol::kVersion) {
    session_.end().give(EndReason::malformed, "it speaks no version that this server speaks");
    session_.reply_error(message.id(), wire::ErrorCode::Version,
                         {"the client speaks versions " + std::to_string(hello->min_version()) +
                              " to " + std::to_string(hello->max_version()) +
                              ", this server speaks version " + std::to_string(protocol::kVersion),
                          "use a client and a server of the same release"});
    co_return false;
  }
  const bool logged_in = co_await log_in(message);
  if (!logged_in) co_return false;
  const Limits& limits = session_.hub().options.limits;
  session_.greeted();
  session_.set_name(shown_name(protocol::text_of(hello->client())));
  cutter_.set_max_frame(limits.max_frame);
  answers_pings_ = hello->heartbeats();
  wire::WelcomeT welcome;
  welcome.version = protocol::kVersion;
  welcome.server = "gorgo";
  welcome.max_frame = static_cast<std::uint32_t>(limits.max_frame);
  welcome.max_rows = limits.max_rows;
  if (answers_pings_) {
    welcome.heartbeat_ms = static_cast<std::uint32_t>(limits.heartbeat.count());
    welcome.heartbeat_timeout_ms = static_cast<std::uint32_t>(limits.heartbeat_timeout.count());
  }
  session_.outbox().reply(protocol::encode(message.id(), welcome));
  session_.tell_of_stop();
  co_return true;
}

bool NativeDialect::answer(const wire::Message& message) {
  if (message.body_type() == wire::Body::Pong) return true;
  if (message.body_type() == wire::Body::Ping) {
    session_.outbox().reply(protocol::encode(message.id(), wire::PongT()));
    return true;
  }
  // Publishers may wait for this very credit, so it does not wait behind them. The subscription
  // that it is for may still be on its way to the engine; then it follows it.
  const auto* credit = message.body_as_Credit();
  return credit != nullptr &&
         session_.outbox().grant(credit->subscription(), credit->rows(), credit->bytes());
}

Dialect::Heartbeat NativeDialect::heartbeat() const {
  return answers_pings_ ? Heartbeat::answered : Heartbeat::none;
}

void NativeDialect::ping() { session_.outbox().notice(protocol::encode(0, wire::PingT())); }

bool NativeDialect::acceptable(const wire::Message& message, std::size_t frame_size) {
  const auto kind = message.body_type();
  if (kind == wire::Body::Hello) {
    session_.reply_error(message.id(), wire::ErrorCode::NotGreeted, {"a second Hello", ""});
    return false;
  }
  if (!is_request(kind)) {
    session_.reply_error(message.id(), wire::ErrorCode::UnknownMessage,
                         {"a " + std::string(protocol::name_of(kind)) + " is not a request", ""});
    return false;
  }
  const auto* batch = protocol::batch_of(message);
  if (batch == nullptr) return true;
  const auto checked =
      protocol::check_batch(*batch, frame_size, session_.hub().options.limits.max_rows);
  if (checked) return true;
  session_.malformed(message.id(), wire::ErrorCode::Malformed, checked.error());
  return false;
}

asio::awaitable<bool> NativeDialect::write(std::span<const OutFrame> frames) {
  std::vector<asio::const_buffer> buffers;
  std::deque<DeliverFrame> deliveries;
  for (const OutFrame& frame : frames) {
    if (const auto* bytes = std::get_if<protocol::Bytes>(&frame)) {
      buffers.push_back(asio::buffer(*bytes));
      continue;
    }
    const auto& encoded = deliveries.emplace_back(frame_of(std::get<ClientDelivery>(frame)));
    buffers.push_back(asio::buffer(encoded.head));
    if (!encoded.rest.empty()) {
      buffers.push_back(asio::buffer(encoded.rest.data(), encoded.rest.size()));
    }
  }
  co_return co_await session_.send(buffers);
}

}  // namespace gorgo::server
