#include "doors/kind.hpp"
#include "doors/mqtt/mqtt_sink.hpp"
#include "doors/mqtt/mqtt_source.hpp"
#include "doors/topic.hpp"
#include "protocol/address.hpp"

namespace gorgo::doors {
namespace {

Result<void> check_mqtt(const Settings& settings) {
  constexpr std::int64_t kMostInFlight = 65535;
  const auto address = protocol::parse_address(settings.broker);
  if (!address) return Error{"broker: " + address.error().message, "broker = \"127.0.0.1:1883\""};
  if (settings.max_in_flight < 1 || settings.max_in_flight > kMostInFlight) {
    return Error{"max_in_flight: expected a number, 1 to 65535", ""};
  }
  if (settings.protocol != "5" && settings.protocol != "3.1.1") {
    return Error{"protocol: '" + settings.protocol + "' is unknown", "one of 5, 3.1.1"};
  }
  if (auto checked = check_user(settings); !checked) return checked;
  if (settings.is_sink()) return check_topic(settings.topic);
  if (settings.topics.empty()) {
    return Error{"topics: no topic is named", "topics = [\"sensors/{area}/temp\"]"};
  }
  for (const std::string& topic : settings.topics) {
    if (const auto pattern = TopicPattern::make(topic); !pattern) return pattern.error();
  }
  return {};
}

}  // namespace

Kind mqtt_kind() {
  return {
      .name = "mqtt",
      .keys = {key("broker", Way::both, &Settings::broker),
               key("protocol", Way::both, &Settings::protocol),
               key("topics", Way::in, &Settings::topics), key("topic", Way::out, &Settings::topic),
               key("client_id", Way::both, &Settings::client_id),
               key("user", Way::both, &Settings::user),
               key("password_file", Way::both, &Settings::password_file),
               key("max_in_flight", Way::both, &Settings::max_in_flight),
               key("ca", Way::both, &Settings::ca)},
      .target = &Settings::broker,
      .check = check_mqtt,
      .make_source = [](const std::string& door, const Settings& settings, const Types& types,
                        const Position& position) -> Result<std::unique_ptr<Source>> {
        return {std::in_place, std::make_unique<mqtt::MqttSource>(door, settings, types, position)};
      },
      .make_sink = [](const std::string& door,
                      const Settings& settings) -> Result<std::unique_ptr<Sink>> {
        return {std::in_place, std::make_unique<mqtt::MqttSink>(door, settings)};
      }};
}

}  // namespace gorgo::doors
