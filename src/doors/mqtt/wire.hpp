#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gorgo/diagnostics.hpp"

/// How MQTT 5 and 3.1.1 write values and packets down, whoever sends them.
namespace gorgo::doors::mqtt {

/// The kinds of packets, as the first four bits of each say them.
enum class Head : std::uint8_t {
  connect = 1,
  connack = 2,
  publish = 3,
  puback = 4,
  pubrec = 5,
  pubrel = 6,
  pubcomp = 7,
  subscribe = 8,
  suback = 9,
  unsubscribe = 10,
  unsuback = 11,
  pingreq = 12,
  pingresp = 13,
  disconnect = 14,
};

/// Properties of MQTT 5 that are read or written here.
inline constexpr std::uint8_t kSessionExpiry = 0x11, kAssignedClient = 0x12,
                              kServerKeepAlive = 0x13, kReceiveMaximum = 0x21,
                              kMaximumPacket = 0x27;

void put8(std::string& out, std::uint8_t value);
void put16(std::string& out, std::uint16_t value);
void put32(std::string& out, std::uint32_t value);
/// Precondition: at most 65535 bytes.
void put_text(std::string& out, std::string_view text);
void put_length(std::string& out, std::size_t length);
void put_packet(std::string& out, Head head, std::uint8_t flags, std::string_view content);

/// Takes values from the front of what is left; `failed` once something was not there.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : left_(bytes) {}

  bool failed() const { return failed_; }
  bool empty() const { return left_.empty(); }
  std::string_view rest() const { return left_; }

  std::string_view take(std::size_t size);
  std::uint8_t u8();
  std::uint16_t u16();
  std::uint32_t u32();
  std::string_view text() { return take(u16()); }
  std::uint32_t length();
  /// The properties that come next.
  Reader properties() { return Reader(take(length())); }
  /// Passes over the value of a property. False: nobody knows how long it is.
  bool skip_property(std::uint8_t property);

 private:
  std::string_view left_;
  bool failed_ = false;

  /// Nothing is left then, so that whoever reads to the end gets there.
  void fail() {
    failed_ = true;
    left_ = {};
  }
};

/// A packet that came, as it is.
struct Frame {
  Head head;
  std::uint8_t flags;
  std::string_view content;
};

/// Cuts what comes into packets.
class Cutter {
 public:
  /// No packet is larger than `most`. There is room for `chunk` bytes at a time.
  explicit Cutter(std::size_t most = kMostPacket, std::size_t chunk = std::size_t{64} << 10)
      : most_(most), chunk_(chunk) {}

  /// Room for more bytes.
  struct Space {
    char* data;
    std::size_t size;
  };
  Space space();
  void fill(std::size_t size) { end_ += size; }
  /// The next packet; nothing: it is not complete. What it refers to is valid until the next call
  /// of `space`. An error: this is no MQTT, and the rest cannot be understood.
  Result<std::optional<Frame>> next();
  /// From now on no packet is larger than that.
  void set_most(std::size_t most) { most_ = most; }
  /// What has come behind the last packet. Valid as what `next` refers to.
  std::string_view rest() const { return {bytes_.data() + begin_, end_ - begin_}; }
  /// The memory that it takes, in bytes.
  std::size_t capacity() const { return bytes_.capacity(); }

  static constexpr std::size_t kMostPacket = std::size_t{16} << 20;  ///< bytes

 private:
  std::size_t most_, chunk_;
  std::vector<char> bytes_;
  std::size_t begin_ = 0, end_ = 0;
};

enum class Version : std::uint8_t { v3_1_1 = 4, v5 = 5 };

/// A message, either way.
struct Publish {
  std::string_view topic, payload;  ///< of a packet that came: valid as long as its bytes
  std::uint8_t qos = 0;
  bool repeated = false;        ///< it was sent before
  std::uint16_t packet_id = 0;  ///< 0 with `qos` 0
};

/// Reads a PUBLISH. An error says what is wrong with it.
Result<Publish> read_publish(const Frame& frame, Version version);

}  // namespace gorgo::doors::mqtt
