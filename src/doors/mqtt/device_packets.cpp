#include "doors/mqtt/device_packets.hpp"

namespace gorgo::doors::mqtt {
namespace {

/// Reads the properties of a packet: `take(property, value)` gets those of four bytes that it
/// knows, and says whether it does.
template <class Take>
bool read_properties(Reader& reader, Take take) {
  Reader properties = reader.properties();
  while (!properties.empty() && !properties.failed()) {
    const std::uint8_t property = properties.u8();
    if (take(property, properties)) continue;
    if (!properties.skip_property(property)) return false;
  }
  return !reader.failed() && !properties.failed();
}

bool nothing(std::uint8_t, Reader&) { return false; }

/// What 3.1.1 says in place of a reason of MQTT 5.
std::uint8_t return_code_of(Reason reason) {
  switch (reason) {
    case Reason::success:
      return 0;
    case Reason::wrong_version:
      return 1;
    case Reason::wrong_client_id:
      return 2;
    case Reason::wrong_password:
      return 4;
    default:
      return 3;  // the server is not available
  }
}

Error cut_off(const std::string& what) { return {"a " + what + " that is cut off", ""}; }

/// Reads what a CONNECT has behind its head.
bool read_payload(Reader& reader, unsigned flags, Greeting& greeting) {
  const bool has_properties = greeting.version == Version::v5;
  greeting.client_id = reader.text();
  if ((flags & 0x04) != 0) {
    if (has_properties && !read_properties(reader, nothing)) return false;
    Will& will = greeting.will.emplace();
    will.topic = reader.text();
    will.payload = reader.text();
    if (will.topic.empty()) return false;
  }
  if ((flags & 0x80) != 0) greeting.user = reader.text();
  if ((flags & 0x40) != 0) greeting.password = reader.text();
  return !reader.failed() && reader.empty();
}

}  // namespace

Result<Greeting> read_greeting(const Frame& frame, bool& wrong_version) {
  constexpr std::uint32_t kForEver = ~std::uint32_t{0};
  Reader reader(frame.content);
  const std::string_view protocol = reader.text();
  const std::uint8_t level = reader.u8();
  if (reader.failed()) return cut_off("CONNECT");
  wrong_version = protocol != "MQTT" || (level != 4 && level != 5);
  if (wrong_version) return Error{"neither MQTT 5 nor 3.1.1", ""};
  Greeting greeting{.version = static_cast<Version>(level)};
  const unsigned flags = reader.u8();
  if ((flags & 0x01) != 0) return Error{"a CONNECT with a reserved flag", ""};
  greeting.clean_start = (flags & 0x02) != 0;
  greeting.keep_alive = reader.u16();
  if (greeting.version == Version::v3_1_1) {
    greeting.session_expiry = greeting.clean_start ? 0 : kForEver;
  } else if (!read_properties(reader, [&](std::uint8_t property, Reader& value) {
               if (property != kSessionExpiry) return false;
               greeting.session_expiry = value.u32();
               return true;
             })) {
    return cut_off("CONNECT");
  }
  if (!read_payload(reader, flags, greeting)) return cut_off("CONNECT");
  return greeting;
}

Result<Request> read_request(const Frame& frame, Version version) {
  Reader reader(frame.content);
  Request request{.packet_id = reader.u16()};
  if (frame.head != Head::pubrel) {
    if (version == Version::v5 && !read_properties(reader, nothing)) return cut_off("SUBSCRIBE");
    for (; !reader.empty(); ++request.filters) {
      reader.text();
      if (frame.head == Head::subscribe) reader.u8();
    }
    if (request.filters == 0) return cut_off("SUBSCRIBE");
  }
  if (reader.failed() || request.packet_id == 0) return cut_off("packet with an id");
  return request;
}

Result<Parting> read_parting(const Frame& frame, Version version) {
  constexpr std::uint8_t kWithWill = 0x04;
  Parting parting;
  Reader reader(frame.content);
  if (version == Version::v3_1_1 || reader.empty()) return parting;
  parting.keeps_will = reader.u8() >= kWithWill;
  if (reader.empty()) return parting;
  const bool read = read_properties(reader, [&](std::uint8_t property, Reader& value) {
    if (property != kSessionExpiry) return false;
    parting.session_expiry = value.u32();
    return true;
  });
  if (!read) return cut_off("DISCONNECT");
  return parting;
}

void append_welcome(std::string& out, const Welcome& welcome, Version version) {
  std::string content;
  put8(content, welcome.session_present ? 1 : 0);
  put8(content, 0);
  if (version == Version::v5) {
    std::string properties;
    put8(properties, kReceiveMaximum);
    put16(properties, welcome.receive_maximum);
    put8(properties, kMaximumPacket);
    put32(properties, welcome.most_packet);
    if (!welcome.assigned_client_id.empty()) {
      put8(properties, kAssignedClient);
      put_text(properties, welcome.assigned_client_id);
    }
    put_length(content, properties.size());
    content += properties;
  }
  put_packet(out, Head::connack, 0, content);
}

void append_refusal(std::string& out, Reason reason, Version version) {
  std::string content;
  put8(content, 0);
  if (version == Version::v5) {
    put8(content, static_cast<std::uint8_t>(reason));
    put_length(content, 0);
  } else {
    put8(content, return_code_of(reason));
  }
  put_packet(out, Head::connack, 0, content);
}

void append_yes(std::string& out, Head head, std::uint16_t packet_id) {
  std::string content;
  put16(content, packet_id);
  put_packet(out, head, 0, content);
}

void append_no(std::string& out, Head head, const Request& request, Version version) {
  std::string content;
  put16(content, request.packet_id);
  if (version == Version::v5) put_length(content, 0);
  if (version == Version::v5 || head == Head::suback) {
    const auto no = version == Version::v5 ? static_cast<char>(Reason::not_here) : '\x80';
    content.append(request.filters, no);
  }
  put_packet(out, head, 0, content);
}

void append_pong(std::string& out) { put_packet(out, Head::pingresp, 0, ""); }

void append_goodbye(std::string& out, Reason reason, Version version) {
  if (version == Version::v3_1_1) return;
  std::string content;
  put8(content, static_cast<std::uint8_t>(reason));
  put_length(content, 0);
  put_packet(out, Head::disconnect, 0, content);
}

}  // namespace gorgo::doors::mqtt
