#include "doors/mqtt/mqtt_sink.hpp"

#include <algorithm>
#include <utility>

#include "doors/topic.hpp"

namespace gorgo::doors::mqtt {
namespace {

constexpr std::size_t kMostUnsent = std::size_t{256} << 10;  // bytes

}  // namespace

MqttSink::MqttSink(const std::string& door, const Settings& settings)
    : settings_(settings),
      session_(settings,
               {.client_id = settings.client_id.empty() ? "gorgo-" + door : settings.client_id}) {}

Result<void> MqttSink::open() {
  const auto connected = session_.open();
  if (!connected) return connected.error();
  most_ = std::min(connected->receive_maximum, static_cast<std::uint16_t>(settings_.max_in_flight));
  return {};
}

Result<void> MqttSink::send(const Departing& events) {
  if (!session_.is_open()) {
    if (auto opened = open(); !opened) return opened;
  }
  std::map<std::uint16_t, std::string> on_their_way;  // the ids of events, by packet id
  std::string packets, payload;
  for (const Departing::Row& row : events.rows) {
    if (on_their_way.size() >= most_ || packets.size() >= kMostUnsent) {
      if (auto sent = session_.send(std::exchange(packets, {})); !sent) return sent;
      if (auto done = await(on_their_way, most_); !done) return done;
    }
    last_id_ = last_id_ == 65535 ? std::uint16_t{1} : static_cast<std::uint16_t>(last_id_ + 1);
    on_their_way.emplace(last_id_, id_of(row.place));
    payload.clear();
    append_line(payload, row);
    const std::string topic = topic_of(settings_.topic, row.event);
    append_publish(packets,
                   {.topic = topic, .payload = payload, .qos = kAtLeastOnce, .packet_id = last_id_},
                   session_.version());
  }
  if (auto sent = session_.send(packets); !sent) return sent;
  return await(on_their_way, 1);
}

Result<void> MqttSink::await(std::map<std::uint16_t, std::string>& on_their_way, std::size_t most) {
  auto until = std::chrono::steady_clock::now() + kAnswer;
  while (on_their_way.size() >= most) {
    const auto packet = session_.next(kAnswer);
    if (!packet) return packet.error();
    if (*packet && (*packet)->kind == Packet::Kind::published) {
      const Acknowledged& acknowledged = (*packet)->acknowledged;
      if (acknowledged.reason >= kRefused) {
        session_.close();
        return Error{"the broker refuses the event " + on_their_way[acknowledged.packet_id] + ": " +
                         text_of_reason(acknowledged.reason),
                     "see to topic and user"};
      }
      on_their_way.erase(acknowledged.packet_id);
      until = std::chrono::steady_clock::now() + kAnswer;
    } else if (std::chrono::steady_clock::now() > until) {
      session_.close();
      return Error{"the broker does not acknowledge", ""};
    } else if (is_woken_.exchange(false)) {
      session_.close();
      return Error{"it is not known whether the broker has the events", ""};
    }
  }
  return {};
}

}  // namespace gorgo::doors::mqtt
