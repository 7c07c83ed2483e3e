#include "doors/mqtt/packets.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>

namespace gorgo::doors::mqtt {
namespace {

constexpr std::uint8_t kConnect = 1, kConnack = 2, kPublish = 3, kPuback = 4, kSubscribe = 8,
                       kSuback = 9, kPing = 12, kPong = 13, kDisconnect = 14;
// Properties of CONNECT and CONNACK.
constexpr std::uint8_t kSessionExpiry = 0x11, kReceiveMaximum = 0x21, kMaximumPacket = 0x27;

// Writing

void put8(std::string& out, std::uint8_t value) { out += static_cast<char>(value); }
void put16(std::string& out, std::uint16_t value) {
  put8(out, static_cast<std::uint8_t>(value >> 8));
  put8(out, static_cast<std::uint8_t>(value & 0xff));
}
void put32(std::string& out, std::uint32_t value) {
  put16(out, static_cast<std::uint16_t>(value >> 16));
  put16(out, static_cast<std::uint16_t>(value & 0xffff));
}
void put_text(std::string& out, std::string_view text) {
  put16(out, static_cast<std::uint16_t>(text.size()));
  out += text;
}
void put_length(std::string& out, std::size_t length) {
  do {
    const auto low = static_cast<std::uint8_t>(length & 0x7f);
    length >>= 7;
    put8(out, length > 0 ? static_cast<std::uint8_t>(low | 0x80) : low);
  } while (length > 0);
}
void put_packet(std::string& out, std::uint8_t kind, std::uint8_t flags, std::string_view content) {
  put8(out, static_cast<std::uint8_t>((kind << 4) | flags));
  put_length(out, content.size());
  out += content;
}

// Reading

/// Takes values from the front of what is left; `failed` once something was not there.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : left_(bytes) {}

  bool failed() const { return failed_; }
  bool empty() const { return left_.empty(); }
  std::string_view rest() const { return left_; }

  std::string_view take(std::size_t size) {
    if (size > left_.size()) fail();
    if (failed_) return {};
    const auto taken = left_.substr(0, size);
    left_.remove_prefix(size);
    return taken;
  }
  std::uint8_t u8() {
    const auto bytes = take(1);
    return failed_ ? 0 : static_cast<std::uint8_t>(bytes[0]);
  }
  std::uint16_t u16() {
    const unsigned high = u8(), low = u8();
    return static_cast<std::uint16_t>((high << 8) | low);
  }
  std::string_view text() { return take(u16()); }
  std::uint32_t length() {
    std::uint32_t value = 0;
    for (unsigned shift = 0; shift < 28; shift += 7) {
      const std::uint8_t byte = u8();
      value |= static_cast<std::uint32_t>(byte & 0x7f) << shift;
      if ((byte & 0x80) == 0) return value;
    }
    fail();
    return 0;
  }
  /// The properties that come next.
  Reader properties() {
    const std::uint32_t size = length();
    return Reader(take(size));
  }

 private:
  std::string_view left_;
  bool failed_ = false;

  /// Nothing is left then, so that whoever reads to the end gets there.
  void fail() {
    failed_ = true;
    left_ = {};
  }
};

/// Passes over the value of a property. False: nobody knows how long it is.
bool skip_property(Reader& reader, std::uint8_t property) {
  switch (property) {
    case 0x01:
    case 0x17:
    case 0x19:
    case 0x24:
    case 0x25:
    case 0x28:
    case 0x29:
    case 0x2a:
      reader.u8();
      return true;
    case 0x13:
    case 0x21:
    case 0x22:
    case 0x23:
      reader.u16();
      return true;
    case 0x02:
    case 0x11:
    case 0x18:
    case 0x27:
      reader.take(4);
      return true;
    case 0x0b:
      reader.length();
      return true;
    case 0x03:
    case 0x08:
    case 0x09:
    case 0x12:
    case 0x15:
    case 0x16:
    case 0x1a:
    case 0x1c:
    case 0x1f:
      reader.text();
      return true;
    case 0x26:
      reader.text();
      reader.text();
      return true;
    default:
      return false;
  }
}

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
    } else if (!skip_property(properties, property)) {
      return malformed("a CONNACK with an unknown property");
    }
  }
  if (reader.failed() || properties.failed()) return malformed("a CONNACK that is cut off");
  if (packet.connected.receive_maximum == 0) return malformed("a Receive Maximum of 0");
  return packet;
}

Result<Packet> publish_in(Reader reader, std::uint8_t flags, Version version) {
  Packet packet{.kind = Packet::Kind::publish};
  Publish& publish = packet.publish;
  publish.qos = (flags >> 1) & 3;
  publish.repeated = (flags & 8) != 0;
  publish.topic = reader.text();
  if (publish.qos > 0) publish.packet_id = reader.u16();
  if (version == Version::v5) reader.properties();
  publish.payload = reader.rest();
  if (reader.failed() || publish.topic.empty()) return malformed("a PUBLISH that is cut off");
  // Only what was asked for comes, and that is at most once or at least once.
  if (publish.qos > 1) return malformed("a PUBLISH of a quality that was not asked for");
  if (publish.qos == 1 && publish.packet_id == 0) return malformed("a PUBLISH without an id");
  return packet;
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

Result<Packet> packet_in(std::uint8_t first, std::string_view content, Version version) {
  switch (first >> 4) {
    case kConnack:
      return connected_in(Reader(content), version);
    case kPublish:
      return publish_in(Reader(content), first & 0x0f, version);
    case kPuback:
      return acknowledged_in(Reader(content), Packet::Kind::published, version);
    case kSuback:
      return acknowledged_in(Reader(content), Packet::Kind::subscribed, version);
    case kPong:
      return Packet{.kind = Packet::Kind::pong};
    case kDisconnect:
      return Packet{
          .kind = Packet::Kind::disconnect,
          .reason = content.empty() ? std::uint8_t{0} : static_cast<std::uint8_t>(content[0])};
    default:
      return malformed("a packet of a kind that no client gets");
  }
}

void put_properties(std::string& out, const Connect& connect) {
  std::string properties;
  put8(properties, kSessionExpiry);
  put32(properties, connect.session_expiry);
  put8(properties, kReceiveMaximum);
  put16(properties, connect.receive_maximum);
  put8(properties, kMaximumPacket);
  put32(properties, PacketCutter::kMostPacket);
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
  put_packet(out, kConnect, 0, content);
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
  put_packet(out, kSubscribe, 2, content);
}

void append_publish(std::string& out, const Publish& publish, Version version) {
  std::string content;
  put_text(content, publish.topic);
  if (publish.qos > 0) put16(content, publish.packet_id);
  if (version == Version::v5) put_length(content, 0);
  content += publish.payload;
  const unsigned flags = (publish.repeated ? 8u : 0u) | (unsigned{publish.qos} << 1);
  put_packet(out, kPublish, static_cast<std::uint8_t>(flags), content);
}

void append_acknowledgement(std::string& out, std::uint16_t packet_id) {
  std::string content;
  put16(content, packet_id);
  put_packet(out, kPuback, 0, content);
}

void append_ping(std::string& out) { put_packet(out, kPing, 0, ""); }

void append_disconnect(std::string& out) { put_packet(out, kDisconnect, 0, ""); }

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

PacketCutter::Space PacketCutter::space() {
  constexpr std::size_t kChunk = std::size_t{64} << 10;
  if (begin_ > 0) {
    std::memmove(bytes_.data(), bytes_.data() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
  }
  if (bytes_.size() < end_ + kChunk) bytes_.resize(2 * (end_ + kChunk));
  return {bytes_.data() + end_, bytes_.size() - end_};
}

Result<std::optional<Packet>> PacketCutter::next() {
  const std::string_view left(bytes_.data() + begin_, end_ - begin_);
  constexpr std::size_t kMostHead = 5;
  Reader head(left);
  const std::uint8_t first = head.u8();
  const std::size_t length = head.length();
  if (head.failed()) {
    if (left.size() >= kMostHead) return malformed("a packet whose length is none");
    return std::optional<Packet>();
  }
  if (length > kMostPacket) return malformed("a packet of " + std::to_string(length) + " bytes");
  const std::string_view content = head.take(length);
  if (head.failed()) return std::optional<Packet>();
  begin_ = end_ - head.rest().size();
  auto packet = packet_in(first, content, version_);
  if (!packet) return packet.error();
  return std::optional<Packet>(std::move(*packet));
}

}  // namespace gorgo::doors::mqtt
