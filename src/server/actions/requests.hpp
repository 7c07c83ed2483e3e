#pragma once

#include "protocol/framing.hpp"
#include "server/sessions/outbox.hpp"
#include "server/sessions/session_hub.hpp"

namespace gorgo::server {

/// Answers a request of operators about actions on the I/O thread, which owns their targets.
/// Returns false for any other request.
bool answer_about_actions(SessionHub& hub, Outbox& client, const wire::Message& message);

}  // namespace gorgo::server
