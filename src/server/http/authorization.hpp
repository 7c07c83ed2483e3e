#pragma once

#include <string>

#include "server/http/message.hpp"
#include "server/security/credentials.hpp"
#include "server/security/user.hpp"

// Who sends a request of HTTP.
namespace gorgo::server::http {

/// The protocol that a WebSocket may ask for. A page of a browser cannot send the header
/// Authorization with it, so it offers a second one, "gorgo.token.TOKEN", which is never chosen.
inline constexpr const char* kWebSocketProtocol = "gorgo";
bool offers_protocol(const Head& head);

/// What the head says about who sends it; empty credentials where it says nothing.
Result<Credentials> credentials_of(const Head& head);
/// By which the same credentials are known again, and nothing else can be done.
std::string hash_of_credentials(const Credentials& said);

/// The response to somebody who has not shown who he is with this head.
Response unauthorized(unsigned status, const Error& why, const Head& head);
Response not_admin(const User& user);
/// On whose behalf /metrics asks the engine.
const UserPtr& scraper();

}  // namespace gorgo::server::http
