#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "doors/mqtt/wire.hpp"
#include "gorgo/diagnostics.hpp"

/// What a client of a broker sends and gets. Pure functions.
namespace gorgo::doors::mqtt {

inline constexpr std::uint8_t kRefused = 0x80;   ///< reasons from here on say no
inline constexpr std::uint8_t kAtLeastOnce = 1;  ///< a quality of service

struct Connect {
  Version version = Version::v5;
  std::string client_id;
  bool clean_start = false;
  std::uint32_t session_expiry = 0;  ///< seconds that the broker keeps the session; ~0: for ever.
                                     ///< 3.1.1: for ever, unless it starts clean
  std::uint16_t keep_alive = 0;      ///< seconds
  std::uint16_t receive_maximum = 65535;  ///< messages that may come before one is acknowledged;
                                          ///< not in 3.1.1
  std::optional<std::string> user, password;
};

struct Connected {
  bool session_present = false;  ///< the broker knows what it sent before
  std::uint16_t receive_maximum = 65535;
  std::uint8_t reason = 0;  ///< 0x80 and more: refused
};

/// The answer to a Publish with `qos` 1, or to a Subscribe: one reason for each filter, and it is
/// the worst that is told.
struct Acknowledged {
  std::uint16_t packet_id = 0;
  std::uint8_t reason = 0;
};

/// What can come.
struct Packet {
  enum class Kind : std::uint8_t {
    connected,
    publish,
    published,   ///< an `Acknowledged`
    subscribed,  ///< an `Acknowledged`
    pong,
    disconnect,  ///< `reason` says why
  };
  Kind kind = Kind::pong;
  Connected connected = {};
  Publish publish = {};
  Acknowledged acknowledged = {};
  std::uint8_t reason = 0;
};

void append_connect(std::string& out, const Connect& connect);
void append_subscribe(std::string& out, std::uint16_t packet_id,
                      const std::vector<std::string>& filters, std::uint8_t qos,
                      Version version = Version::v5);
void append_publish(std::string& out, const Publish& publish, Version version = Version::v5);
void append_acknowledgement(std::string& out, std::uint16_t packet_id);
void append_ping(std::string& out);
void append_disconnect(std::string& out);

/// A reason of the broker for people.
std::string text_of_reason(std::uint8_t reason);

/// Reads what a broker sends. An error: no broker of MQTT sends that.
Result<Packet> read_packet(const Frame& frame, Version version);

}  // namespace gorgo::doors::mqtt
