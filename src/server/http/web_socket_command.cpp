#include "server/http/web_socket_command.hpp"

#include <cstdint>
#include <limits>
#include <set>
#include <utility>

#include "codec/json_parts.hpp"
#include "codec/parse_json.hpp"
#include "server/http/place_text.hpp"
#include "server/http/reply_json.hpp"

namespace gorgo::server::http {
namespace {

using Parsed = std::variant<WebSocketCommand, WrongCommand>;

constexpr const char* kCommands =
    R"(a message is an event line, {"publish":[..]}, {"subscribe":"TEXT"}, {"unsubscribe":N}, {"credit":{..}} or {"acknowledge":"NAME","id":"ROOT-ORDINAL"})";

Error expected(const std::string& key, const std::string& what) {
  return {"'" + key + "': " + what + " is expected", kCommands};
}

/// The number of a key that may be absent; nothing where it is no number of the type.
template <class T>
std::optional<T> number_in(const Json& json, const char* key, T otherwise) {
  const auto found = json.find(key);
  if (found == json.end()) return otherwise;
  if (!found->is_number_unsigned()) return std::nullopt;
  const auto number = found->get<std::uint64_t>();
  if (number > std::numeric_limits<T>::max()) return std::nullopt;
  return static_cast<T>(number);
}

std::optional<Error> unknown_key(const Json& json, const std::set<std::string>& known) {
  for (const auto& [key, value] : json.items()) {
    if (!known.contains(key)) return Error{"unknown key '" + key + "'", kCommands};
  }
  return std::nullopt;
}

Result<wire::PublishT> read_header(const Json& json) {
  wire::PublishT header;
  const auto ack = json.find("ack");
  if (ack != json.end() && *ack == "accepted") {
    header.ack = wire::AckMode::AcceptedAtOnce;
  } else if (ack != json.end() && *ack == "processed") {
    header.ack = wire::AckMode::Processed;
  } else if (ack != json.end() && *ack == "durable") {
    header.ack = wire::AckMode::Durable;
  } else if (ack != json.end()) {
    return Error{"'ack' is unknown", "one of accepted, processed, durable"};
  }
  const auto producer = number_in<std::uint64_t>(json, "producer", 0);
  const auto sequence = number_in<std::uint64_t>(json, "sequence", 0);
  if (!producer || !sequence) return expected("producer, sequence", "a number");
  if (json.contains("producer") != json.contains("sequence")) {
    return Error{"producer and sequence go together", "give both or neither"};
  }
  if (json.contains("producer") && *producer == 0) {
    return Error{"a producer is not 0", "choose a number at random"};
  }
  header.producer = *producer;
  header.sequence = *sequence;
  return header;
}

Result<PublishCommand> read_publish(const Json& json, std::string_view message,
                                    std::size_t max_bytes) {
  if (auto error = unknown_key(json, {"publish", "ack", "producer", "sequence", "request"})) {
    return *error;
  }
  auto header = read_header(json);
  if (!header) return header.error();
  auto events = std::make_unique<EventsBody>(max_bytes);
  for (const std::string& event : codec::json_parts(message, "publish")) {
    if (const auto problem = events->put(event + "\n")) return problem->why;
  }
  return PublishCommand{std::move(*header), std::move(events)};
}

Result<wire::SubscribeT> read_subscription(const Json& json) {
  wire::SubscribeT request;
  const auto id = number_in<std::uint32_t>(json, "subscription", 0);
  if (!id) return expected("subscription", "a number of 32 bits");
  if (!json["subscribe"].is_string()) return expected("subscribe", "a string");
  request.subscription = *id;
  request.text = json["subscribe"].get<std::string>();
  const auto slow = read_slow_policy(
      json.value("slow", Json("")).is_string() ? json.value("slow", std::string()) : "no string");
  if (!slow) return slow.error();
  request.slow = *slow;
  if (json.contains("durable")) {
    if (!json["durable"].is_string() || json["durable"] == "") return expected("durable", "a name");
    request.durable = json["durable"].get<std::string>();
  }
  return request;
}

std::optional<Error> read_first_credit(const Json& credit, wire::SubscribeT& request) {
  if (!credit.is_object()) return expected("credit", "an object");
  if (auto error = unknown_key(credit, {"rows", "bytes"})) return error;
  const auto rows = number_in<std::uint64_t>(credit, "rows", 0);
  const auto bytes = number_in<std::uint64_t>(credit, "bytes", 0);
  if (!rows || !bytes) return expected("rows, bytes", "a number");
  if (credit.contains("rows")) request.credit_rows = *rows;
  if (credit.contains("bytes")) request.credit_bytes = *bytes;
  return std::nullopt;
}

Result<SubscribeCommand> read_subscribe(const Json& json) {
  if (auto error = unknown_key(
          json, {"subscribe", "subscription", "slow", "credit", "durable", "most", "request"})) {
    return *error;
  }
  auto request = read_subscription(json);
  if (!request) return request.error();
  if (json.contains("credit")) {
    if (auto error = read_first_credit(json["credit"], *request)) return *error;
  }
  SubscribeCommand command{std::move(*request), std::nullopt};
  if (!json.contains("most")) return command;
  command.most = number_in<std::uint32_t>(json, "most", 0);
  if (!command.most || *command.most == 0) return expected("most", "a number of 32 bits above 0");
  // The client could not tell what it has used up of its credit, or what it may acknowledge.
  if (json.contains("credit") || json.contains("durable")) {
    return Error{"a sample has no credit and is never durable", "leave out 'most', or the others"};
  }
  return command;
}

Result<wire::UnsubscribeT> read_unsubscribe(const Json& json) {
  if (auto error = unknown_key(json, {"unsubscribe", "request"})) return *error;
  const auto id = number_in<std::uint32_t>(json, "unsubscribe", 0);
  if (!id) return expected("unsubscribe", "a number of 32 bits");
  wire::UnsubscribeT request;
  request.subscription = *id;
  return request;
}

Result<wire::CreditT> read_credit(const Json& json) {
  if (auto error = unknown_key(json, {"credit", "request"})) return *error;
  const Json& credit = json["credit"];
  if (!credit.is_object()) return expected("credit", "an object");
  if (auto error = unknown_key(credit, {"subscription", "rows", "bytes"})) return *error;
  const auto id = number_in<std::uint32_t>(credit, "subscription", 0);
  const auto rows = number_in<std::uint64_t>(credit, "rows", 0);
  const auto bytes = number_in<std::uint64_t>(credit, "bytes", 0);
  if (!id || !rows || !bytes) return expected("subscription, rows, bytes", "a number");
  wire::CreditT request;
  request.subscription = *id;
  request.rows = *rows;
  request.bytes = *bytes;
  return request;
}

Result<wire::AcknowledgeT> read_acknowledgement(const Json& json) {
  if (auto error = unknown_key(json, {"acknowledge", "id", "request"})) return *error;
  if (!json["acknowledge"].is_string()) return expected("acknowledge", "a string");
  const auto place = json.value("id", Json()).is_string()
                         ? parse_place(json["id"].get<std::string>())
                         : std::nullopt;
  if (!place) return expected("id", "the id of an event");
  wire::AcknowledgeT request;
  request.durable = json["acknowledge"].get<std::string>();
  request.root = place->root;
  request.ordinal = place->ordinal;
  return request;
}

template <class T>
Parsed command_of(Json request, Result<T> read) {
  if (!read) return WrongCommand{std::move(request), read.error()};
  return WebSocketCommand{std::move(request), std::move(*read)};
}

Result<PublishCommand> event_line(std::string_view message, std::size_t max_bytes) {
  auto events = std::make_unique<EventsBody>(max_bytes);
  auto problem = events->put(message);
  if (!problem) problem = events->finish();
  if (problem) return problem->why;
  return PublishCommand{{}, std::move(events)};
}

}  // namespace

Result<wire::SlowPolicy> read_slow_policy(std::string_view name) {
  if (name.empty()) return wire::SlowPolicy::Default;
  if (name == "disconnect") return wire::SlowPolicy::Disconnect;
  if (name == "drop") return wire::SlowPolicy::Drop;
  if (name == "block") return wire::SlowPolicy::Block;
  return Error{"'slow' is unknown", "one of disconnect, drop, block"};
}

Parsed parse_command(std::string_view message, std::size_t max_bytes) {
  auto [json, repeated] = codec::read_json<Json>(message);
  if (!json.is_object()) {
    return WrongCommand{{}, {"the message is no object of JSON", kCommands}};
  }
  if (json.contains("type")) return command_of(Json(), event_line(message, max_bytes));
  Json request = json.contains("request") ? json["request"] : Json();
  if (repeated && repeated->depth == 1) {
    return WrongCommand{std::move(request), {"'" + repeated->name + "' stands twice", kCommands}};
  }
  if (json.contains("publish")) {
    return command_of(std::move(request), read_publish(json, message, max_bytes));
  }
  if (json.contains("subscribe")) return command_of(std::move(request), read_subscribe(json));
  if (json.contains("credit")) return command_of(std::move(request), read_credit(json));
  if (json.contains("unsubscribe")) return command_of(std::move(request), read_unsubscribe(json));
  if (json.contains("acknowledge")) {
    return command_of(std::move(request), read_acknowledgement(json));
  }
  return WrongCommand{std::move(request), {"the message is no command", kCommands}};
}

}  // namespace gorgo::server::http
