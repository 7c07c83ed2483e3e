#pragma once

#include <atomic>
#include <map>
#include <string>

#include "doors/door.hpp"
#include "doors/mqtt/session.hpp"
#include "doors/settings.hpp"

namespace gorgo::doors::mqtt {

/// Publishes events, each with its id in the payload, at least once.
class MqttSink : public Sink {
 public:
  MqttSink(const std::string& door, const Settings& settings);

  Result<void> send(const Departing& events) override;
  void wake() override {
    is_woken_ = true;
    session_.wake();
  }

 private:
  const Settings settings_;
  Session session_;
  std::uint16_t most_ = 1;  // that the broker takes before it acknowledges one
  std::uint16_t last_id_ = 0;
  std::atomic<bool> is_woken_ = false;

  Result<void> open();
  /// Waits until fewer than `most` are on their way.
  Result<void> await(std::map<std::uint16_t, std::string>& on_their_way, std::size_t most);
};

}  // namespace gorgo::doors::mqtt
