#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "protocol/gorgo_generated.h"
#include "protocol/info_json.hpp"
#include "server/http/events_body.hpp"
#include "server/http/exchange.hpp"
#include "server/http/message.hpp"
#include "server/sessions/closed_connections.hpp"

/// What the engine replies, as JSON.
namespace gorgo::server::http {

using Json = nlohmann::ordered_json;
using protocol::to_json;

/// As text, with exact times, and with what is no UTF-8 replaced.
std::string to_text(const Json& json);
Response json_response(const Json& json, unsigned status = 200);
/// The response to an Error.
Response response_of(const wire::Error& error);

/// The response to a reply that a request does not expect, which is an Error in nearly all cases.
/// No reply: the server is stopping.
Response unexpected(const std::optional<Reply>& reply);

Json to_json(const wire::Diagnostics& diagnostics);
bool has_error(const wire::Diagnostics& diagnostics);
/// The response to a reply with Diagnostics.
Response diagnosed(const std::optional<Reply>& reply);
Json to_json(const wire::Reloaded& reloaded);
/// Whether everything that was read again is in order.
bool is_whole(const wire::Reloaded& reloaded);
Json to_json(const ConnectionInfo& connection);
Json to_json(const ClosedConnection& closed);
/// Without the text where the reply has none.
Json to_json(const wire::RuleInfo& rule);
/// Without the text where the rule was removed.
Json to_json(const wire::HistoryEntry& change);
Json to_json(const wire::TypeInfo& type);
Json to_json(const wire::Leaving& leaving);
/// Why a rule fired or did not. Members are named as `gorgo why --format json` names them, but for
/// the time, and words are those of the protocol.
Json to_json(const wire::Why& why);

/// How a publication of a body ended: the engine's rows and the malformed ones together.
Json to_json(const wire::Ack& ack, const EventsBody& body);

}  // namespace gorgo::server::http
