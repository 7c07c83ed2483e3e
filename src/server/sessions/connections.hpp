#pragma once

#include <cstdint>
#include <vector>

#include "protocol/framing.hpp"
#include "server/sessions/session.hpp"

namespace gorgo::server {

/// Answers a request of operators about connections on the I/O thread, which owns them. Returns
/// false for any other request.
bool answer_about_connections(SessionHub& hub, Outbox& client, const wire::Message& message);

}  // namespace gorgo::server
