#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "doors/mqtt/wire.hpp"
#include "gorgo/diagnostics.hpp"

/// What devices send to a server of MQTT 5 or 3.1.1, and what it answers. Pure functions.
namespace gorgo::doors::mqtt {

/// Why the server says no, in the words of MQTT 5.
enum class Reason : std::uint8_t {
  success = 0,
  malformed = 0x81,
  protocol_error = 0x82,
  not_here = 0x83,  ///< the server does not do what was asked for
  wrong_version = 0x84,
  wrong_client_id = 0x85,
  wrong_password = 0x86,
  shutting_down = 0x8b,
  silent = 0x8d,
  taken_over = 0x8e,
  receive_maximum_exceeded = 0x93,
  quota_exceeded = 0x97,
  rate_exceeded = 0x9f,
};

/// What is published for a device whose connection breaks.
struct Will {
  std::string topic, payload;
};

/// How a device begins.
struct Greeting {
  Version version = Version::v5;
  std::string client_id;
  bool clean_start = false;
  std::uint32_t session_expiry = 0;  ///< seconds behind the connection's end; ~0: never
  std::uint16_t keep_alive = 0;      ///< seconds; 0: it may be silent
  std::optional<Will> will;
  std::optional<std::string> user, password;
};

/// A CONNECT. An error is that of a device that does not speak MQTT; `wrong_version` is set where
/// it speaks another version.
Result<Greeting> read_greeting(const Frame& frame, bool& wrong_version);

/// The packet id of a PUBREL, SUBSCRIBE or UNSUBSCRIBE, and how many filters it has.
struct Request {
  std::uint16_t packet_id = 0;
  std::size_t filters = 0;
};
Result<Request> read_request(const Frame& frame, Version version);

/// A DISCONNECT.
struct Parting {
  bool keeps_will = false;                      ///< the will is to be published none the less
  std::optional<std::uint32_t> session_expiry;  ///< in place of that of the greeting
};
Result<Parting> read_parting(const Frame& frame, Version version);

/// What the server says of itself when it lets a device in.
struct Welcome {
  bool session_present = false;
  std::string assigned_client_id;  ///< empty: the device has one
  std::uint16_t receive_maximum = 65535;
  std::uint32_t most_packet = Cutter::kMostPacket;
};
void append_welcome(std::string& out, const Welcome& welcome, Version version);
void append_refusal(std::string& out, Reason reason, Version version);
/// A PUBACK, PUBREC or PUBCOMP that says yes.
void append_yes(std::string& out, Head head, std::uint16_t packet_id);
/// A SUBACK or UNSUBACK, by `head`, that says no to each filter.
void append_no(std::string& out, Head head, const Request& request, Version version);
void append_pong(std::string& out);
/// Says goodbye; nothing to a device of 3.1.1, whose connection just ends.
void append_goodbye(std::string& out, Reason reason, Version version);

}  // namespace gorgo::doors::mqtt
