#include "server/http/api.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "server/http/delivery_text.hpp"
#include "server/http/events_body.hpp"
#include "server/http/reply_json.hpp"
#include "server/http/web_socket_command.hpp"

namespace gorgo::server::http {
namespace {

namespace asio = boost::asio;

Checked read_acknowledgement(const Target& target, bool journal, wire::PublishT& header) {
  const auto named = target.find("ack");
  if (!named) return {};
  const std::string& ack = *named;
  if (ack == "accepted") header.ack = wire::AckMode::AcceptedAtOnce;
  if (ack == "processed") header.ack = wire::AckMode::Processed;
  if (ack == "durable") header.ack = wire::AckMode::Durable;
  if (ack == "durable" && !journal) {
    return Problem{501,
                   {"this server keeps events in memory, so none is durable",
                    "use ack=accepted or ack=processed, or start the server with --journal"}};
  }
  if (ack == "accepted" || ack == "processed" || ack == "durable") return {};
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

/// Whether the client takes server-sent events.
bool takes_events(const Head& head) {
  const auto field = head[boost::beast::http::field::accept];
  const std::string_view accept(field.data(), field.size());
  if (accept.empty()) return true;
  for (const char* range : {"text/event-stream", "text/*", "*/*"}) {
    if (accept.find(range) != accept.npos) return true;
  }
  return false;
}

Response stream(Then then) {
  return {.status = 200,
          .content_type = "text/event-stream",
          .body = {},
          .headers = {{"Cache-Control", "no-store"}},
          .then = then};
}

/// What a client that comes back gets first. Events are not kept, so nobody knows how many it has
/// missed.
std::string gap_since(const Head& head) {
  const auto last = head["Last-Event-ID"];
  if (last.empty()) return "";
  const Json gap = {{"lost", nullptr},
                    {"after", std::string(last)},
                    {"reason", "the server keeps no events that were delivered"}};
  std::string event;
  append_event(event, "gap", to_text(gap));
  return event;
}

Checked read_most(const Call& call, std::optional<std::uint32_t>& most) {
  const auto text = call.target.find("most");
  if (!text) return {};
  const auto number = to_number("most", *text);
  if (!number) return Problem{400, number.error()};
  if (*number == 0 || call.target.find("durable")) {
    return Problem{400,
                   {"a sample is of one event a second at least, and never durable",
                    "give most=N, without durable"}};
  }
  most = static_cast<std::uint32_t>(std::min<std::uint64_t>(*number, UINT32_MAX));
  return {};
}

Checked check_subscription(const Call& call, bool upgrade) {
  const auto slow = read_slow_policy(call.target.find("slow").value_or(""));
  if (!slow) return Problem{400, slow.error()};
  if (upgrade) return {};
  if (!call.target.find("subscribe")) {
    return Problem{400,
                   {"the query has no subscription",
                    "add ?subscribe=TYPE, ?subscribe=TYPE(conditions) or ?subscribe=*"}};
  }
  if (takes_events(call.head)) return {};
  return Problem{
      406,
      {"events come as text/event-stream or over a WebSocket", "add 'Accept: text/event-stream'"}};
}

}  // namespace

std::optional<Response> Api::refusal_of(const Route& route) const {
  const bool works = route.handle == &Api::health || route.handle == &Api::readiness;
  if (hub_.starts == nullptr || works) return std::nullopt;
  Response refused =
      response_of({503,
                   {"the server is starting, so nothing was done: " + hub_.starts->text(),
                    "try again when /readyz answers 200"}});
  refused.headers.emplace_back("Retry-After", "1");
  return refused;
}

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
  const bool journal = !hub_.options.journal.path.empty();
  if (const auto wrong = read_acknowledgement(call.target, journal, header)) {
    co_return response_of(*wrong);
  }
  if (const auto wrong = read_producer(call.target, header)) co_return response_of(*wrong);
  auto frame = body.publish(header, next_id());
  const auto reply = co_await ask(std::move(frame));
  const auto* ack = reply ? reply->as<wire::Ack>() : nullptr;
  if (ack == nullptr) co_return unexpected(reply);
  if (!ack->duplicate()) hub_.totals.malformed_lines += body.malformed();
  co_return json_response(to_json(*ack, body));
}

asio::awaitable<Response> Api::subscribe(const Call& call) {
  const bool upgrade = is_upgrade(call.head);
  if (const auto problem = check_subscription(call, upgrade)) co_return response_of(*problem);
  Response streaming = stream(upgrade ? Then::web_socket : Then::deliveries);
  if (const auto problem = read_most(call, streaming.most_per_second)) {
    co_return response_of(*problem);
  }
  if (call.head.method() == Verb::head) {
    streaming.then = Then::next_request;
    co_return streaming;
  }
  const auto durable = call.target.find("durable");
  if (durable && durable->empty()) {
    const Problem problem{400, {"the name of a durable subscription is empty", "durable=NAME"}};
    co_return response_of(problem);
  }
  if (!upgrade && !durable) streaming.body = gap_since(call.head);
  const auto text = call.target.find("subscribe");
  if (!text) co_return streaming;
  wire::SubscribeT request;
  request.text = *text;
  if (durable) request.durable = *durable;
  request.slow = *read_slow_policy(call.target.find("slow").value_or(""));
  const auto reply = co_await ask(request);
  if (reply && reply->as<wire::Ack>() != nullptr) co_return streaming;
  const auto* diagnostics = reply ? reply->as<wire::Diagnostics>() : nullptr;
  if (diagnostics == nullptr) co_return unexpected(reply);
  if (!has_error(*diagnostics)) co_return streaming;
  co_return json_response(to_json(*diagnostics), 400);
}

}  // namespace gorgo::server::http
