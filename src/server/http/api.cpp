#include "server/http/api.hpp"

#include <utility>

#include "server/http/events_body.hpp"
#include "server/http/reply_json.hpp"

namespace gorgo::server::http {
namespace {

namespace asio = boost::asio;

Checked read_acknowledgement(const Target& target, wire::PublishT& header) {
  const std::string ack = target.find("ack").value_or("accepted");
  if (ack == "processed") header.ack = wire::AckMode::Processed;
  if (ack == "accepted" || ack == "processed") return {};
  if (ack == "durable") {
    return Problem{501,
                   {"this server keeps events in memory and cannot promise that they last",
                    "use ack=accepted or ack=processed"}};
  }
  return Problem{400, {"'ack=" + ack + "' is unknown", "one of accepted, processed, durable"}};
}

/// Who publishes, so that a repetition is recognised.
Checked read_producer(const Target& target, wire::PublishT& header) {
  const auto producer = target.find("producer"), sequence = target.find("sequence");
  if (!producer && !sequence) return {};
  if (!producer || !sequence) {
    return Problem{400, {"producer and sequence go together", "give both or neither"}};
  }
  const auto who = to_number("producer", *producer), which = to_number("sequence", *sequence);
  if (!who || !which) return Problem{400, who ? which.error() : who.error()};
  if (*who == 0) {
    return Problem{400, {"a producer is not 0", "choose a number at random"}};
  }
  header.producer = *who;
  header.sequence = *which;
  return {};
}

}  // namespace

std::unique_ptr<Body> Api::body_of(const Route& route) const {
  const std::size_t most = hub_.options.http.max_body_bytes;
  switch (route.body) {
    case BodyKind::events:
      return std::make_unique<EventsBody>(most);
    case BodyKind::text:
      return std::make_unique<TextBody>(most);
    case BodyKind::none:
      break;
  }
  return nullptr;
}

asio::awaitable<Response> Api::publish(const Call& call) {
  auto& body = static_cast<EventsBody&>(*call.body);
  wire::PublishT header;
  if (const auto wrong = read_acknowledgement(call.target, header)) co_return response_of(*wrong);
  if (const auto wrong = read_producer(call.target, header)) co_return response_of(*wrong);
  auto frame = body.publish(header, engine_.next_id());
  const auto reply = co_await engine_.ask(std::move(frame));
  const auto* ack = reply ? reply->as<wire::Ack>() : nullptr;
  if (ack == nullptr) co_return unexpected(reply);
  if (!ack->duplicate()) hub_.malformed_lines += body.malformed();
  co_return json_response(to_json(*ack, body));
}

}  // namespace gorgo::server::http
