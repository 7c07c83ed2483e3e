#include "server/sessions/connections.hpp"

#include <algorithm>
#include <memory>
#include <string>

#include "server/replies.hpp"

namespace gorgo::server {
namespace {

/// A page lists no more connections, so that it fits in the smallest frame that can be configured.
constexpr std::size_t kMostListed = 1000;
/// Clients choose their names.
constexpr std::size_t kLongestName = 256;

std::unique_ptr<wire::ConnectionInfoT> to_wire(const ConnectionInfo& connection) {
  auto told = std::make_unique<wire::ConnectionInfoT>();
  told->id = connection.id;
  told->peer = connection.peer;
  told->dialect = connection.dialect;
  told->name = connection.name.substr(0, kLongestName);
  told->user = connection.user.substr(0, kLongestName);
  told->seconds = connection.seconds;
  told->bytes = connection.bytes;
  told->backlog = connection.backlog;
  told->subscriptions = connection.subscriptions;
  told->published = connection.published;
  told->delivered = connection.delivered;
  told->published_per_second = connection.published_per_second;
  told->delivered_per_second = connection.delivered_per_second;
  return told;
}

std::unique_ptr<wire::ConnectionInfoT> to_wire(const ClosedConnection& closed) {
  auto told = to_wire(closed.connection);
  told->reason = name_of(closed.reason);
  told->detail = closed.detail;
  told->closed_ms =
      std::chrono::duration_cast<std::chrono::milliseconds>(closed.at.time_since_epoch()).count();
  return told;
}

template <class List>
protocol::Bytes page_of(std::uint64_t id, const List& list, std::size_t first) {
  wire::ConnectionsT reply;
  reply.total = static_cast<std::uint32_t>(list.size());
  const std::size_t end = std::min(list.size(), first + kMostListed);
  for (std::size_t i = first; i < end; ++i) reply.connections.push_back(to_wire(list[i]));
  return protocol::encode(id, reply);
}

}  // namespace

bool answer_about_connections(SessionHub& hub, Outbox& client, const wire::Message& message) {
  if (const auto* list = message.body_as_ListConnections()) {
    client.reply(list->closed() ? page_of(message.id(), hub.closed.last(), list->first())
                                : page_of(message.id(), hub.connections(), list->first()));
    return true;
  }
  const auto* disconnect = message.body_as_Disconnect();
  if (disconnect == nullptr) return false;
  const auto done = hub.disconnect(disconnect->connection());
  client.reply(done ? ack(message.id())
                    : error_reply(message.id(), wire::ErrorCode::NotFound, done.error()));
  return true;
}

}  // namespace gorgo::server
