#pragma once

#include "protocol/frame_cutter.hpp"
#include "server/sessions/session.hpp"

namespace gorgo::server {

/// Gorgo's own protocol (docs/protocol.md): the frames travel as they are.
class NativeDialect : public Dialect {
 public:
  explicit NativeDialect(Session& session) : session_(session) {}

  std::string_view name() const override { return "native"; }
  boost::asio::awaitable<void> read() override;
  boost::asio::awaitable<void> discard() override;
  boost::asio::awaitable<bool> write(std::span<const OutFrame> frames) override;
  Heartbeat heartbeat() const override;
  void ping() override;

 private:
  Session& session_;
  protocol::FrameCutter cutter_{protocol::kMaxGreeting};
  bool answers_pings_ = false;

  /// Returns whether the client may go on.
  boost::asio::awaitable<bool> take(protocol::Bytes frame);
  boost::asio::awaitable<bool> greet(const wire::Message& message);
  /// Finds out who the client is, where the server asks; replies when it does not learn it.
  boost::asio::awaitable<bool> log_in(const wire::Message& message);
  /// Carries out what needs no engine. Returns whether it was that.
  bool answer(const wire::Message& message);
  /// Whether the message may go to the engine; replies when not.
  bool acceptable(const wire::Message& message, std::size_t frame_size);
};

}  // namespace gorgo::server
