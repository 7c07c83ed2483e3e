#include "doors/kafka/kafka_sink.hpp"
#include "doors/kafka/kafka_source.hpp"
#include "doors/kind.hpp"
#include "doors/topic.hpp"

namespace gorgo::doors {
namespace {

Result<void> check_kafka(const Settings& settings) {
  if (settings.broker.empty()) {
    return Error{"broker: no broker is named", "broker = \"127.0.0.1:9092\""};
  }
  if (auto checked = check_user(settings); !checked) return checked;
  kafka::Config config;
  for (const auto& [name, value] : settings.properties) config.set(name, value);
  if (const auto checked = config.check(); !checked) {
    return Error{"properties: " + checked.error().message, "they are those of librdkafka"};
  }
  if (settings.is_sink()) return check_topic(settings.topic, kKafkaTopics);
  if (settings.topics.empty()) {
    return Error{"topics: no topic is named", "topics = [\"readings\"]"};
  }
  return check_from(settings);
}

}  // namespace

Kind kafka_kind() {
  return {
      .name = "kafka",
      .keys = {key("broker", Way::both, &Settings::broker),
               key("topics", Way::in, &Settings::topics), key("topic", Way::out, &Settings::topic),
               key("key", Way::out, &Settings::message_key), key("from", Way::in, &Settings::from),
               key("client_id", Way::both, &Settings::client_id),
               key("user", Way::both, &Settings::user),
               key("password_file", Way::both, &Settings::password_file),
               key("ca", Way::both, &Settings::ca),
               key("properties", Way::both, &Settings::properties)},
      .target = &Settings::broker,
      .check = check_kafka,
      .make_source = [](const std::string& door, const Settings& settings, const Types& types,
                        const Position& position) -> Result<std::unique_ptr<Source>> {
        return {std::in_place,
                std::make_unique<kafka::KafkaSource>(door, settings, types, position)};
      },
      .make_sink = [](const std::string& door,
                      const Settings& settings) -> Result<std::unique_ptr<Sink>> {
        return {std::in_place, std::make_unique<kafka::KafkaSink>(door, settings)};
      }};
}

}  // namespace gorgo::doors
