#pragma once

#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "protocol/gorgo_generated.h"
#include "server/http/events_body.hpp"

namespace gorgo::server::http {

/// Events to publish, and how.
struct PublishCommand {
  wire::PublishT header;
  std::unique_ptr<EventsBody> events;
};

struct SubscribeCommand {
  wire::SubscribeT request;
  /// A sample of so many events a second is wanted, instead of all.
  std::optional<std::uint32_t> most;
};

/// What a client says in a message of a WebSocket (docs/http.md).
struct WebSocketCommand {
  /// What the client calls it; null: nothing.
  nlohmann::ordered_json request;
  std::variant<PublishCommand, SubscribeCommand, wire::UnsubscribeT, wire::CreditT,
               wire::AcknowledgeT>
      what;
};

/// Why a message is no command, with what the client calls it.
struct WrongCommand {
  nlohmann::ordered_json request;
  Error why;
};

/// The policy for a slow subscriber by its name; an empty one is the server's default.
Result<wire::SlowPolicy> read_slow_policy(std::string_view name);

/// Reads a message: a command, or an event line, which is published.
std::variant<WebSocketCommand, WrongCommand> parse_command(std::string_view message,
                                                           std::size_t max_bytes);

}  // namespace gorgo::server::http
