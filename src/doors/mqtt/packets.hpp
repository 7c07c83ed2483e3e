#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gorgo/diagnostics.hpp"

/// What MQTT 5 and 3.1.1 say on the wire, as far as a client needs it. Pure functions, and a cutter
/// of bytes into packets.
namespace gorgo::doors::mqtt {

inline constexpr std::uint8_t kRefused = 0x80;   ///< reasons from here on say no
inline constexpr std::uint8_t kAtLeastOnce = 1;  ///< a quality of service

enum class Version : std::uint8_t { v3_1_1 = 4, v5 = 5 };

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

/// A message, either way.
struct Publish {
  std::string_view topic, payload;  ///< of a packet that came: valid as long as its bytes
  std::uint8_t qos = 0;
  bool repeated = false;        ///< it was sent before
  std::uint16_t packet_id = 0;  ///< 0 with `qos` 0
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

/// Cuts what comes into packets.
class PacketCutter {
 public:
  explicit PacketCutter(Version version = Version::v5) : version_(version) {}

  /// Room for more bytes.
  struct Space {
    char* data;
    std::size_t size;
  };
  Space space();
  void fill(std::size_t size) { end_ += size; }
  /// The next packet; nothing: it is not complete. What it refers to is valid until the next call
  /// of `space`. An error: this is no MQTT, and the rest cannot be understood.
  Result<std::optional<Packet>> next();

  static constexpr std::size_t kMostPacket = std::size_t{16} << 20;  ///< bytes

 private:
  Version version_;
  std::vector<char> bytes_;
  std::size_t begin_ = 0, end_ = 0;
};

}  // namespace gorgo::doors::mqtt
