#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>

#include "protocol/trex/packet_cutter.hpp"
#include "protocol/trex/packets.hpp"
#include "server/log_limit.hpp"
#include "server/sessions/session.hpp"
#include "server/trex/trex_delivery.hpp"
#include "server/trex/trex_intake.hpp"
#include "server/trex/trex_names.hpp"

namespace gorgo::server {

/// The protocol of T-Rex (docs/trex.md). It knows no replies: what is wrong with a packet stands in
/// the log and nowhere else, and the client may go on.
class TrexDialect : public Dialect {
 public:
  TrexDialect(Session& session, std::shared_ptr<TrexNames> names);

  std::string_view name() const override { return "trex"; }
  boost::asio::awaitable<void> read() override;
  boost::asio::awaitable<void> discard() override { return session_.read_nothing(); }
  boost::asio::awaitable<bool> write(std::span<const OutFrame> frames) override;

 private:
  /// A request whose reply has not come.
  struct Pending {
    enum class Kind : std::uint8_t { subscribe, unsubscribe, deploy };
    Kind kind = Kind::subscribe;
    std::uint32_t subscription = 0;
    std::string what;  ///< for the log: the text of a subscription, the name of a deployment
  };
  using Subscription = protocol::trex::Subscription;

  Session& session_;
  const std::shared_ptr<TrexNames> names_;
  protocol::trex::PacketCutter cutter_;
  protocol::trex::Publication publication_;  // the last one that was read
  TrexIntake intake_;
  std::uint32_t last_id_ = 0;                                     // of requests and subscriptions
  std::unordered_map<std::string, std::uint32_t> subscriptions_;  // ids, by what they ask for
  TrexDelivery::Types types_;
  std::unordered_map<std::uint64_t, Pending> pending_;  // by the id of the request
  LogLimit refused_log_;

  boost::asio::awaitable<void> serve();
  boost::asio::awaitable<bool> log_in();
  // They return whether the client may go on.
  boost::asio::awaitable<bool> take(const protocol::trex::Packet& packet);
  boost::asio::awaitable<bool> publish(std::span<const std::uint8_t> body);
  boost::asio::awaitable<bool> subscribe(const Subscription& wanted);
  boost::asio::awaitable<bool> unsubscribe(const Subscription& unwanted);
  boost::asio::awaitable<bool> deploy(const protocol::trex::Rule& rule);
  /// Submits what was gathered.
  boost::asio::awaitable<bool> flush();
  boost::asio::awaitable<bool> submit(protocol::Bytes frame);
  bool malformed(const Error& error);

  boost::asio::awaitable<bool> deliver(const ClientDelivery& delivery);
  void take_reply(const wire::Message& message);
  void take_refusals(const wire::Ack& ack);
  /// Returns whether there is an error among them.
  bool log_diagnostics(const wire::Diagnostics& diagnostics, const Pending& of);
  /// Forgets what a subscription asked for.
  void forget(std::uint32_t subscription);
  /// Counts and logs that a request is not taken.
  void refuse(Pending::Kind kind, const std::string& what, const Error& why);
  void log_refusal(Pending::Kind kind, const std::string& what, const Error& why);
};

}  // namespace gorgo::server
