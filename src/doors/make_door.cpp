#include "doors/make_door.hpp"

#include "doors/file/file_sink.hpp"
#include "doors/file/file_source.hpp"
#include "doors/mqtt/mqtt_sink.hpp"
#include "doors/mqtt/mqtt_source.hpp"

namespace gorgo::doors {

Result<std::unique_ptr<Source>> make_source(const std::string& name, const Settings& settings,
                                            const Types& types, const Position& position) {
  if (settings.kind == "mqtt") {
    return {std::in_place, std::make_unique<mqtt::MqttSource>(name, settings, types, position)};
  }
  return {std::in_place, std::make_unique<FileSource>(settings, types, position)};
}

Result<std::unique_ptr<Sink>> make_sink(const std::string& name, const Settings& settings) {
  if (settings.kind == "mqtt") {
    return {std::in_place, std::make_unique<mqtt::MqttSink>(name, settings)};
  }
  return {std::in_place, std::make_unique<FileSink>(settings)};
}

}  // namespace gorgo::doors
