#include <boost/asio/buffer.hpp>
#include <string>
#include <utility>
#include <vector>

#include "protocol/info.hpp"
#include "server/trex_dialect.hpp"

// What comes back from the engine. Clients get events; the log gets everything else.
namespace gorgo::server {

namespace asio = boost::asio;

asio::awaitable<bool> TrexDialect::deliver(const wire::Deliver& deliver) {
  constexpr std::size_t kBytesPerWrite = std::size_t{256} << 10;
  TrexDelivery delivery(deliver, types_);
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
  if (const auto* diagnostics = message.body_as_Diagnostics()) {
    return take_diagnostics(*diagnostics, request);
  }
  const auto* error = message.body_as_Error();
  if (error == nullptr) return;
  if (request.kind == Pending::Kind::subscribe) forget(request.subscription);
  refuse(request.kind == Pending::Kind::deploy ? "rule" : "subscription", request.what,
         {error->message()->str(), protocol::text_of(error->hint())});
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

void TrexDialect::take_diagnostics(const wire::Diagnostics& diagnostics, const Pending& of) {
  if (diagnostics.list() == nullptr) return;
  bool failed = false;
  for (const auto* each : *diagnostics.list()) {
    if (each->severity() != wire::Severity::Error) continue;
    if (!std::exchange(failed, true) && of.kind == Pending::Kind::subscribe) {
      forget(of.subscription);
    }
    const std::string place = std::to_string(each->line()) + ":" + std::to_string(each->column()) +
                              " in `" + protocol::text_of(each->source_line()) + "`";
    refuse(of.kind == Pending::Kind::deploy ? "rule" : "subscription", of.what + ":" + place,
           {each->message()->str(), protocol::text_of(each->hint())});
  }
}

void TrexDialect::forget(std::uint32_t subscription) {
  types_.erase(subscription);
  std::erase_if(subscriptions_, [&](const auto& each) { return each.second == subscription; });
}

void TrexDialect::refuse(std::string_view what, const std::string& name, const Error& why) {
  ++session_.hub().refused_trex;
  session_.hub().log.error("a " + std::string(what) + " of T-Rex is not taken",
                           {{"session", session_.id()},
                            {"peer", session_.peer()},
                            {std::string(what), name},
                            {"error", why.to_string()}});
}

}  // namespace gorgo::server
