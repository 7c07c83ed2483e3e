#include <sstream>

#include "doors/kind.hpp"
#include "doors/nats/nats_sink.hpp"
#include "doors/nats/nats_source.hpp"
#include "doors/topic.hpp"
#include "protocol/address.hpp"

namespace gorgo::doors {
namespace {

Result<void> check_nats(const Settings& settings) {
  std::istringstream servers(settings.broker + (settings.broker.empty() ? "," : ""));
  for (std::string one; std::getline(servers, one, ',');) {
    if (const auto address = protocol::parse_address(one); !address) {
      return Error{"broker: " + address.error().message, "broker = \"127.0.0.1:4222\""};
    }
  }
  constexpr std::int64_t kMostInFlight = 100'000;
  if (settings.max_in_flight < 1 || settings.max_in_flight > kMostInFlight) {
    return Error{"max_in_flight: expected a number, 1 to 100000", ""};
  }
  if (auto checked = check_user(settings); !checked) return checked;
  if (settings.topic.empty()) {
    return Error{"subject: no subject is named", "subject = \"plant.{area}.{type}\""};
  }
  if (settings.fenced && settings.stream.empty()) {
    return Error{"fenced says nothing where there is no stream", "stream = \"ALARMS\""};
  }
  if (settings.is_sink()) return check_topic(settings.topic, kSubjects);
  if (settings.stream.empty() && settings.given.contains("from")) {
    return Error{"from says nothing where there is no stream", "stream = \"PLANT\""};
  }
  if (auto checked = check_from(settings); !checked) return checked;
  if (const auto pattern = TopicPattern::make(settings.topic, kSubjects); !pattern) {
    return pattern.error();
  }
  return {};
}

Result<std::unique_ptr<Source>> make_nats_source(const std::string& door, const Settings& settings,
                                                 const Types& types, const Position& position) {
  if (settings.stream.empty()) {
    return {std::in_place, std::make_unique<nats::SubjectSource>(door, settings, types)};
  }
  return {std::in_place, std::make_unique<nats::StreamSource>(door, settings, types, position)};
}

Result<std::unique_ptr<Sink>> make_nats_sink(const std::string& door, const Settings& settings) {
  return {std::in_place, std::make_unique<nats::NatsSink>(door, settings)};
}

}  // namespace

Kind nats_kind() {
  return {
      .name = "nats",
      .keys = {key("broker", Way::both, &Settings::broker),
               key("subject", Way::both, &Settings::topic),
               key("stream", Way::both, &Settings::stream), key("from", Way::in, &Settings::from),
               key("client_id", Way::both, &Settings::client_id),
               key("user", Way::both, &Settings::user),
               key("password_file", Way::both, &Settings::password_file),
               key("max_in_flight", Way::out, &Settings::max_in_flight),
               key("fenced", Way::out, &Settings::fenced), key("ca", Way::both, &Settings::ca)},
      .target = &Settings::broker,
      .check = check_nats,
      .make_source = make_nats_source,
      .make_sink = make_nats_sink};
}

}  // namespace gorgo::doors
