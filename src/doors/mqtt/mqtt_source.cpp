#include "doors/mqtt/mqtt_source.hpp"

#include <utility>

#include "doors/hash.hpp"

namespace gorgo::doors::mqtt {
namespace {

using std::chrono::milliseconds;

constexpr std::uint16_t kSubscription = 1;  // packet id; those of messages are the broker's

std::uint64_t hash_of(const Publish& message) {
  return hash(message.payload, hash(std::string(1, '\0'), hash(message.topic)));
}

std::string client_id_of(const std::string& door, const Settings& settings) {
  return settings.client_id.empty() ? "gorgo-" + door : settings.client_id;
}

}  // namespace

MqttSource::MqttSource(const std::string& door, const Settings& settings, const Types& types,
                       const Position& position)
    : settings_(settings),
      reader_(settings, types, settings.topics, kMqttTopics),
      session_(settings, {.client_id = client_id_of(door, settings), .lasts = true}),
      seen_(position) {}

Result<Arrived> MqttSource::poll(milliseconds patience) {
  Arrived arrived;
  Keys keys;
  reader_.begin_batch();
  auto went = session_.is_open() ? Result<void>() : open();
  const bool subscribes = went && !is_subscribed_;
  if (subscribes) went = subscribe(arrived, keys);
  // A subscription that is new is told at once.
  if (went) went = read(arrived, keys, subscribes ? milliseconds(0) : patience);
  // What came before the connection was lost came, and the broker will know that.
  if (!went && arrived.empty()) return went.error();
  if (arrived.empty()) return {std::in_place, std::move(arrived)};
  arrived.position = seen_.save();
  to_acknowledge_.push_back(std::move(keys));
  return {std::in_place, std::move(arrived)};
}

Result<void> MqttSource::open() {
  // What was not sent is not known to the broker, and is acknowledged when it comes again.
  answers_.clear();
  for (const Seen::Key& key : std::exchange(answered_, {})) seen_.acknowledged(key, 0);
  is_subscribed_ = false;
  const auto connected = session_.open();
  if (!connected) return connected.error();
  seen_.reconnected(std::chrono::steady_clock::now());
  if (connected->session_present) return {};
  // The broker knows nothing of what it sent, so no id means what it did.
  seen_.clear();
  for (Keys& keys : to_acknowledge_) keys.clear();
  return {};
}

Result<void> MqttSource::subscribe(Arrived& arrived, Keys& keys) {
  std::string packet;
  append_subscribe(packet, kSubscription, reader_.filters(), kAtLeastOnce, session_.version());
  if (auto sent = session_.send(packet); !sent) return sent;
  const auto until = std::chrono::steady_clock::now() + kAnswer;
  while (std::chrono::steady_clock::now() < until) {
    const auto packet_in = session_.next(kAnswer);
    if (!packet_in) return packet_in.error();
    if (!*packet_in) continue;
    if ((*packet_in)->kind == Packet::Kind::publish) take((*packet_in)->publish, arrived, keys);
    if ((*packet_in)->kind != Packet::Kind::subscribed) continue;
    is_subscribed_ = (*packet_in)->acknowledged.reason < kRefused;
    if (is_subscribed_) return {};
    const std::string why = text_of_reason((*packet_in)->acknowledged.reason);
    session_.close();
    return Error{"the broker refuses the subscription: " + why, "see to topics and user"};
  }
  session_.close();
  return Error{"the broker does not answer to the subscription", ""};
}

Result<void> MqttSource::read(Arrived& arrived, Keys& keys, milliseconds patience) {
  if (auto sent = send_answers(); !sent) return sent;
  while (!arrived.full()) {
    // Behind the first message only what is there already is taken.
    const auto packet = session_.next(arrived.empty() ? patience : milliseconds(0));
    if (!packet) return packet.error();
    if (!*packet) break;
    if ((*packet)->kind == Packet::Kind::publish) take((*packet)->publish, arrived, keys);
  }
  return send_answers();
}

void MqttSource::take(const Publish& message, Arrived& arrived, Keys& keys) {
  if (message.qos > 0) {
    const Seen::Key key{message.packet_id, hash_of(message)};
    const auto known = message.repeated ? seen_.find(key) : Seen::Known::no;
    if (known == Seen::Known::done) acknowledge(key);
    if (known == Seen::Known::uncommitted) seen_.came_again(key);
    if (known != Seen::Known::no) return;
    seen_.add(key);
    keys.push_back(key);
  }
  reader_.take(message.topic, message.payload, arrived);
}

void MqttSource::committed(const Position&) {
  if (to_acknowledge_.empty()) return;
  for (const Seen::Key& key : to_acknowledge_.front()) {
    if (seen_.committed(key)) acknowledge(key);
  }
  to_acknowledge_.pop_front();
  if (session_.is_open()) static_cast<void>(send_answers());  // `poll` finds the session closed
}

void MqttSource::acknowledge(const Seen::Key& key) {
  append_acknowledgement(answers_, key.id);
  answered_.push_back(key);
}

/// One ping is on its way at a time.
Result<void> MqttSource::send_answers() {
  seen_.answered(session_.pongs(), std::chrono::steady_clock::now());
  auto sent = session_.send(std::exchange(answers_, {}));
  for (const Seen::Key& key : std::exchange(answered_, {})) {
    seen_.acknowledged(key, session_.pings() + 1);
    must_ping_ = true;
  }
  if (!sent || !must_ping_ || session_.pings() > session_.pongs()) return sent;
  must_ping_ = false;
  return session_.ping();
}

std::string MqttSource::describe(const Position& position) const {
  const Seen seen(position);
  return seen.size() == 0 ? "" : std::to_string(seen.size()) + " messages that may come again";
}

}  // namespace gorgo::doors::mqtt
