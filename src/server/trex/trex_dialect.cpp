#include "server/trex/trex_dialect.hpp"

#include <optional>
#include <span>
#include <utility>

#include "protocol/trex/decode.hpp"
#include "protocol/trex/rule_text.hpp"

namespace gorgo::server {
namespace {

namespace asio = boost::asio;
namespace trex = protocol::trex;

const wire::Message& message_in(const protocol::Bytes& frame) {
  return *flatbuffers::GetSizePrefixedRoot<wire::Message>(frame.data());
}

}  // namespace

TrexDialect::TrexDialect(Session& session, std::shared_ptr<TrexNames> names)
    : session_(session),
      names_(std::move(names)),
      cutter_(session.hub().options.limits.max_frame),
      intake_(session.hub().options.limits,
              [known = names_](std::int32_t number) { return known->name_of(number); }) {}

asio::awaitable<void> TrexDialect::read() {
  session_.greeted();
  const bool logged_in = co_await log_in();
  if (logged_in) co_await serve();
  cutter_ = trex::PacketCutter(0);
  publication_ = {};
}

// The protocol has no place for a password, so a certificate says who a client is. The
// configuration says it for all clients that show none.
asio::awaitable<bool> TrexDialect::log_in() {
  SessionHub& hub = session_.hub();
  if (!hub.doorkeeper.asks()) co_return true;
  Credentials nothing;
  auto outcome = co_await hub.doorkeeper.admit(std::move(nothing), session_.transport());
  const std::string& everybody = hub.options.trex.user;
  const bool shows_certificate = session_.transport().certificate_name().has_value();
  if (!shows_certificate && !everybody.empty()) outcome.user = hub.doorkeeper.find(everybody);
  Result<void> let_in;
  if (outcome.user != nullptr) {
    let_in = session_.gate().let_in(outcome.user);
  } else {
    let_in = outcome.refused->why;
  }
  if (let_in) co_return true;
  session_.end().give(outcome.user == nullptr ? EndReason::forbidden : EndReason::refused,
                      let_in.error().message);
  if (const auto count = hub.stranger_log.note()) {
    hub.log.warning(
        "clients of T-Rex are not let in",
        {{"clients", *count}, {"peer", session_.peer()}, {"error", let_in.error().message}});
  }
  session_.stop_reading();
  co_return false;
}

asio::awaitable<void> TrexDialect::serve() {
  while (!session_.stopping()) {
    const auto packet = cutter_.next();
    if (!packet) {
      co_await flush();
      session_.malformed(0, wire::ErrorCode::TooLarge, packet.error());
      co_return;
    }
    if (*packet) {
      session_.message_over();
      if (!co_await take(**packet)) co_return;
    } else {
      if (!co_await flush()) co_return;
      if (!co_await session_.read_into(cutter_)) co_return;
    }
  }
}

asio::awaitable<bool> TrexDialect::take(const trex::Packet& packet) {
  const auto kind = static_cast<trex::Kind>(packet.kind);
  if (kind == trex::Kind::publication) co_return co_await publish(packet.body);
  if (!co_await flush()) co_return false;
  switch (kind) {
    case trex::Kind::publication:
      break;
    case trex::Kind::rule: {
      const auto rule = trex::decode_rule(packet.body);
      if (!rule) co_return malformed(rule.error());
      co_return co_await deploy(*rule);
    }
    case trex::Kind::subscription: {
      const auto wanted = trex::decode_subscription(packet.body);
      if (!wanted) co_return malformed(wanted.error());
      co_return co_await subscribe(*wanted);
    }
    case trex::Kind::unsubscription: {
      const auto unwanted = trex::decode_unsubscription(packet.body);
      if (!unwanted) co_return malformed(unwanted.error());
      co_return co_await unsubscribe(*unwanted);
    }
    case trex::Kind::ping:
      co_return true;  // it has shown that the client lives; T-Rex does not answer it
  }
  co_return malformed({"a packet has the kind " + std::to_string(packet.kind),
                       "clients of T-Rex send the kinds 0, 1, 2, 100 and 101"});
}

bool TrexDialect::malformed(const Error& error) {
  return session_.malformed(0, wire::ErrorCode::Malformed, error);
}

asio::awaitable<bool> TrexDialect::publish(std::span<const std::uint8_t> body) {
  if (const auto decoded = trex::decode(body, publication_); !decoded) {
    co_return malformed(decoded.error());
  }
  if (intake_.full_for(publication_)) {
    if (!co_await flush()) co_return false;
  }
  const auto added = intake_.add(publication_);
  co_return added ? true : malformed(added.error());
}

asio::awaitable<bool> TrexDialect::flush() {
  if (intake_.empty()) co_return true;
  co_return co_await submit(intake_.take());
}

asio::awaitable<bool> TrexDialect::submit(protocol::Bytes frame) {
  const auto& message = message_in(frame);  // moving the frame does not move its bytes
  co_return co_await session_.gate().submit(std::move(frame), message);
}

asio::awaitable<bool> TrexDialect::subscribe(const Subscription& wanted) {
  const auto text = trex::subscription_text(
      wanted, [this](std::int32_t number) { return names_->name_of(number); });
  if (!text) {
    refuse(Pending::Kind::subscribe, trex::default_name(wanted.type), text.error());
    co_return true;
  }
  // Names may change, and the client will take back what it has asked for by number.
  const auto key = trex::subscription_text(wanted, trex::default_name);
  if (!subscriptions_.try_emplace(*key, last_id_ + 1).second) co_return true;
  wire::SubscribeT request;
  request.subscription = ++last_id_;
  request.text = *text;
  types_[last_id_] = wanted.type;
  pending_[last_id_] = {Pending::Kind::subscribe, last_id_, *text};
  co_return co_await submit(protocol::encode(last_id_, request));
}

asio::awaitable<bool> TrexDialect::unsubscribe(const Subscription& unwanted) {
  const auto key = trex::subscription_text(unwanted, trex::default_name);
  const auto known = key ? subscriptions_.find(*key) : subscriptions_.end();
  if (known == subscriptions_.end()) co_return true;
  wire::UnsubscribeT request;
  request.subscription = known->second;
  subscriptions_.erase(known);
  pending_[++last_id_] = {Pending::Kind::unsubscribe, request.subscription, ""};
  co_return co_await submit(protocol::encode(last_id_, request));
}

asio::awaitable<bool> TrexDialect::deploy(const trex::Rule& rule) {
  const auto text =
      trex::rule_text(rule, [this](std::int32_t number) { return names_->name_of(number); });
  if (!text) {
    refuse(Pending::Kind::deploy, "of type " + names_->name_of(rule.composite.type), text.error());
    co_return true;
  }
  wire::DeployT request;
  request.name = names_->deployment(text->composite);
  request.text = text->text;
  for (const std::string& note : text->notes) {
    session_.hub().log.warning("a rule of T-Rex is not taken word for word",
                               {{"rule", request.name}, {"note", note}});
  }
  pending_[++last_id_] = {Pending::Kind::deploy, 0, request.name};
  co_return co_await submit(protocol::encode(last_id_, request));
}

asio::awaitable<bool> TrexDialect::write(std::span<const OutFrame> frames) {
  for (const OutFrame& frame : frames) {
    if (const auto* delivery = std::get_if<ClientDelivery>(&frame)) {
      if (!co_await deliver(*delivery)) co_return false;
    } else {
      take_reply(message_in(std::get<protocol::Bytes>(frame)));
    }
  }
  co_return true;
}

}  // namespace gorgo::server
