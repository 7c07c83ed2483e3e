#pragma once

#include <deque>
#include <string>
#include <vector>

#include "doors/door.hpp"
#include "doors/message_reader.hpp"
#include "doors/mqtt/seen.hpp"
#include "doors/mqtt/session.hpp"
#include "doors/payload.hpp"
#include "doors/settings.hpp"

namespace gorgo::doors::mqtt {

/// Messages of a broker. It keeps each until its events are committed; one that comes again is
/// known by its packet id and content, which stand in the position.
class MqttSource : public Source {
 public:
  MqttSource(const std::string& door, const Settings& settings, const Types& types,
             const Position& position);

  Result<Arrived> poll(std::chrono::milliseconds patience) override;
  void committed(const Position& position) override;
  void wake() override { session_.wake(); }
  std::string describe(const Position& position) const override;

 private:
  using Keys = std::vector<Seen::Key>;

  const Settings settings_;
  MessageReader reader_;
  Session session_;
  Seen seen_;
  std::deque<Keys> to_acknowledge_;  // by what `poll` brought, the oldest first
  std::string answers_;              // packets to be sent
  Keys answered_;                    // that they acknowledge
  bool must_ping_ = false;           // they are to be confirmed

  Result<void> open();
  /// Takes what came while the subscription was made, too.
  Result<void> subscribe(Arrived& arrived, Keys& keys);
  Result<void> read(Arrived& arrived, Keys& keys, std::chrono::milliseconds patience);
  void take(const Publish& message, Arrived& arrived, Keys& keys);
  void acknowledge(const Seen::Key& key);
  Result<void> send_answers();

  bool is_subscribed_ = false;
};

}  // namespace gorgo::doors::mqtt
