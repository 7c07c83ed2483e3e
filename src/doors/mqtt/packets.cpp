#include "doors/mqtt/packets.hpp"

#include <algorithm>
#include <iterator>

namespace gorgo::doors::mqtt {
namespace {

Error malformed(const std::string& what) { return {"the broker has sent " + what, ""}; }

/// The reason that MQTT 5 has for what 3.1.1 answers to a CONNECT.
std::uint8_t reason_of_return(std::uint8_t code) {
  constexpr std::uint8_t kReasons[] = {0, 0x84, 0x85, 0x88, 0x86, 0x87};
  return code < std::size(kReasons) ? kReasons[code] : kRefused;
}

Result<Packet> connected_in(Reader reader, Version version) {
  Packet packet{.kind = Packet::Kind::connected};
  packet.connected.session_present = (reader.u8() & 1) != 0;
  packet.connected.reason = reader.u8();
  if (version == Version::v3_1_1) {
    if (reader.failed()) return malformed("a CONNACK that is cut off");
    packet.connected.reason = reason_of_return(packet.connected.reason);
    return packet;
  }
  Reader properties = reader.properties();
  while (!properties.empty() && !properties.failed()) {
    const std::uint8_t property = properties.u8();
    if (property == kReceiveMaximum) {
      packet.connected.receive_maximum = properties.u16();
    } else if (!properties.skip_property(property)) {
      return malformed("a CONNACK with an unknown property");
    }
  }
  if (reader.failed() || properties.failed()) return malformed("a CONNACK that is cut off");
  if (packet.connected.receive_maximum == 0) return malformed("a Receive Maximum of 0");
  return packet;
}

Result<Packet> publish_in(const Frame& frame, Version version) {
  const auto publish = read_publish(frame, version);
  if (!publish) return malformed(publish.error().message);
  // Only what was asked for comes, and that is at most once or at least once.
  if (publish->qos > 1) return malformed("a PUBLISH of a quality that was not asked for");
  return Packet{.kind = Packet::Kind::publish, .publish = *publish};
}

Result<Packet> acknowledged_in(Reader reader, Packet::Kind kind, Version version) {
  Packet packet{.kind = kind};
  packet.acknowledged.packet_id = reader.u16();
  if (kind == Packet::Kind::subscribed) {
    if (version == Version::v5) reader.properties();
    if (reader.empty()) return malformed("a SUBACK without a reason");
    while (!reader.empty()) {
      packet.acknowledged.reason = std::max(packet.acknowledged.reason, reader.u8());
    }
  } else if (!reader.empty()) {
    packet.acknowledged.reason = reader.u8();
  }
  if (reader.failed()) return malformed("an acknowledgement that is cut off");
  return packet;
}

void put_properties(std::string& out, const Connect& connect) {
  std::string properties;
  put8(properties, kSessionExpiry);
  put32(properties, connect.session_expiry);
  put8(properties, kReceiveMaximum);
  put16(properties, connect.receive_maximum);
  put8(properties, kMaximumPacket);
  put32(properties, Cutter::kMostPacket);
  put_length(out, properties.size());
  out += properties;
}

}  // namespace

void append_connect(std::string& out, const Connect& connect) {
  std::string content;
  put_text(content, "MQTT");
  put8(content, static_cast<std::uint8_t>(connect.version));
  const unsigned flags = (connect.clean_start ? 0x02u : 0u) | (connect.password ? 0x40u : 0u) |
                         (connect.user ? 0x80u : 0u);
  put8(content, static_cast<std::uint8_t>(flags));
  put16(content, connect.keep_alive);
  if (connect.version == Version::v5) put_properties(content, connect);
  put_text(content, connect.client_id);
  if (connect.user) put_text(content, *connect.user);
  if (connect.password) put_text(content, *connect.password);
  put_packet(out, Head::connect, 0, content);
}

void append_subscribe(std::string& out, std::uint16_t packet_id,
                      const std::vector<std::string>& filters, std::uint8_t qos, Version version) {
  std::string content;
  put16(content, packet_id);
  if (version == Version::v5) put_length(content, 0);
  for (const std::string& filter : filters) {
    put_text(content, filter);
    put8(content, qos);
  }
  put_packet(out, Head::subscribe, 2, content);
}

void append_publish(std::string& out, const Publish& publish, Version version) {
  std::string content;
  put_text(content, publish.topic);
  if (publish.qos > 0) put16(content, publish.packet_id);
  if (version == Version::v5) put_length(content, 0);
  content += publish.payload;
  const unsigned flags = (publish.repeated ? 8u : 0u) | (unsigned{publish.qos} << 1);
  put_packet(out, Head::publish, static_cast<std::uint8_t>(flags), content);
}

void append_acknowledgement(std::string& out, std::uint16_t packet_id) {
  std::string content;
  put16(content, packet_id);
  put_packet(out, Head::puback, 0, content);
}

void append_ping(std::string& out) { put_packet(out, Head::pingreq, 0, ""); }

void append_disconnect(std::string& out) { put_packet(out, Head::disconnect, 0, ""); }

std::string text_of_reason(std::uint8_t reason) {
  switch (reason) {
    case 0x80:
      return "refused without a reason";
    case 0x84:
      return "the broker does not speak this version of MQTT";
    case 0x85:
      return "the client id is not valid";
    case 0x86:
      return "the user or the password is wrong";
    case 0x87:
      return "not authorized";
    case 0x88:
      return "the broker is unavailable";
    case 0x8b:
      return "the broker is shutting down";
    case 0x8e:
      return "another client has taken over the client id";
    case 0x8f:
      return "the topic filter is not valid";
    case 0x93:
      return "too many messages were sent without an acknowledgement";
    case 0x95:
      return "the packet is too large";
    case 0x97:
      return "a quota is exceeded";
    default:
      return "reason " + std::to_string(reason);
  }
}

Result<Packet> read_packet(const Frame& frame, Version version) {
  const std::string_view content = frame.content;
  switch (frame.head) {
    case Head::connack:
      return connected_in(Reader(content), version);
    case Head::publish:
      return publish_in(frame, version);
    case Head::puback:
      return acknowledged_in(Reader(content), Packet::Kind::published, version);
    case Head::suback:
      return acknowledged_in(Reader(content), Packet::Kind::subscribed, version);
    case Head::pingresp:
      return Packet{.kind = Packet::Kind::pong};
    case Head::disconnect:
      return Packet{
          .kind = Packet::Kind::disconnect,
          .reason = content.empty() ? std::uint8_t{0} : static_cast<std::uint8_t>(content[0])};
    default:
      return malformed("a packet of a kind that no client gets");
  }
}

}  // namespace gorgo::doors::mqtt
