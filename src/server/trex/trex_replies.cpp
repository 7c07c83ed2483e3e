#include <boost/asio/buffer.hpp>
#include <string>
#include <vector>

#include "protocol/info.hpp"
#include "server/trex/trex_dialect.hpp"

// What comes back from the engine. Clients get events; the log gets everything else.
namespace gorgo::server {

namespace asio = boost::asio;

asio::awaitable<bool> TrexDialect::deliver(const ClientDelivery& delivered) {
  constexpr std::size_t kBytesPerWrite = std::size_t{256} << 10;
  if (delivered.shared == nullptr) co_return true;  // the protocol cannot tell of losses
  TrexDelivery delivery(delivered, types_);
  protocol::trex::Bytes bytes;
  while (!delivery.done()) {
    bytes.clear();
    delivery.write(bytes, kBytesPerWrite);
    const std::vector<asio::const_buffer> buffers(1, asio::buffer(bytes));
    if (!co_await session_.send(buffers)) co_return false;
  }
  co_return true;
}

void TrexDialect::take_reply(const wire::Message& message) {
  if (message.id() == 0) {
    if (const auto* ack = message.body_as_Ack()) take_refusals(*ack);
    return;
  }
  const auto entry = pending_.extract(message.id());
  if (entry.empty()) return;
  const Pending& request = entry.mapped();
  if (request.kind == Pending::Kind::unsubscribe) types_.erase(request.subscription);
  bool refused = false;
  if (const auto* diagnostics = message.body_as_Diagnostics()) {
    refused = log_diagnostics(*diagnostics, request);
  } else if (const auto* error = message.body_as_Error()) {
    refused = true;
    log_refusal(request.kind, request.what,
                {error->message()->str(), protocol::text_of(error->hint())});
  }
  if (!refused) return;
  ++session_.hub().refused_trex;
  if (request.kind == Pending::Kind::subscribe) forget(request.subscription);
}

void TrexDialect::take_refusals(const wire::Ack& ack) {
  const auto count = refused_log_.note(ack.refused());
  if (!count || ack.refusals() == nullptr || ack.refusals()->size() == 0) return;
  const auto* first = ack.refusals()->Get(0);
  session_.hub().log.warning("events are refused", {{"session", session_.id()},
                                                    {"peer", session_.peer()},
                                                    {"events", *count},
                                                    {"error", first->reason()->str()},
                                                    {"hint", protocol::text_of(first->hint())}});
}

bool TrexDialect::log_diagnostics(const wire::Diagnostics& diagnostics, const Pending& of) {
  bool failed = false;
  if (diagnostics.list() == nullptr) return failed;
  for (const auto* each : *diagnostics.list()) {
    const std::string at = of.what + ":" + std::to_string(each->line()) + ":" +
                           std::to_string(each->column()) + " in `" +
                           protocol::text_of(each->source_line()) + "`";
    const Error why{each->message()->str(), protocol::text_of(each->hint())};
    if (each->severity() == wire::Severity::Error) {
      failed = true;
      log_refusal(of.kind, at, why);
    } else {
      session_.hub().log.warning("a warning about what a client of T-Rex has sent",
                                 {{"session", session_.id()},
                                  {"peer", session_.peer()},
                                  {"at", at},
                                  {"warning", why.to_string()}});
    }
  }
  return failed;
}

void TrexDialect::forget(std::uint32_t subscription) {
  types_.erase(subscription);
  std::erase_if(subscriptions_, [&](const auto& each) { return each.second == subscription; });
}

void TrexDialect::refuse(Pending::Kind kind, const std::string& what, const Error& why) {
  ++session_.hub().refused_trex;
  log_refusal(kind, what, why);
}

void TrexDialect::log_refusal(Pending::Kind kind, const std::string& what, const Error& why) {
  const std::string thing = kind == Pending::Kind::deploy ? "rule" : "subscription";
  session_.hub().log.error("a " + thing + " of T-Rex is not taken", {{"session", session_.id()},
                                                                     {"peer", session_.peer()},
                                                                     {thing, what},
                                                                     {"error", why.to_string()}});
}

}  // namespace gorgo::server
