#pragma once

#include <string_view>
#include <vector>

#include "gorgo/client.hpp"
#include "protocol/framing.hpp"
#include "protocol/info.hpp"

/// Replies of the wire as the client's types.
namespace gorgo::client {

/// Codes of what the client itself finds (`gorgo::Error`).
inline constexpr std::string_view kConnect = "connect", kTimeout = "timeout", kClosed = "closed",
                                  kUnknown = "unknown";

Error to_error(const wire::Error& error);
Diagnostics to_diagnostics(const wire::Diagnostics& diagnostics);
DeviceInfo to_device(const wire::DeviceInfo& device);
/// The histogram of this name; without buckets where there is none.
Histogram to_histogram(const wire::Statistics& statistics, std::string_view name);
ClientConnection to_connection(const wire::ConnectionInfo& connection);
Door to_door(const wire::DoorInfo& door);
ActionTarget to_action(const wire::ActionInfo& action);
std::vector<ShadowInfo> to_shadows(const wire::Shadows& shadows);
Why to_why(const wire::Why& why);
Trace to_trace(const wire::Traced& traced);
/// The refusals, with `offset` added to their indexes.
std::vector<Refusal> to_refusals(const wire::Ack& ack, std::size_t offset);

/// The error in an Error reply, or one that says that the reply is of an unexpected kind.
Error unexpected(const wire::Message& reply);

using protocol::text_of;

}  // namespace gorgo::client
