#pragma once

#include "protocol/framing.hpp"
#include "server/sessions/outbox.hpp"
#include "server/sessions/session_hub.hpp"

namespace gorgo::server {

/// Answers a request of operators about doors on the I/O thread, which owns them. Returns false for
/// any other request, and for what is right about a door and has to be carried out by the engine.
bool answer_about_doors(SessionHub& hub, Outbox& client, const wire::Message& message);

}  // namespace gorgo::server
