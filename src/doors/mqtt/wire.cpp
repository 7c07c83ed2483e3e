#include "doors/mqtt/wire.hpp"

#include <cstring>

namespace gorgo::doors::mqtt {

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

void put_packet(std::string& out, Head head, std::uint8_t flags, std::string_view content) {
  put8(out, static_cast<std::uint8_t>((static_cast<unsigned>(head) << 4) | flags));
  put_length(out, content.size());
  out += content;
}

std::string_view Reader::take(std::size_t size) {
  if (size > left_.size()) fail();
  if (failed_) return {};
  const auto taken = left_.substr(0, size);
  left_.remove_prefix(size);
  return taken;
}

std::uint8_t Reader::u8() {
  const auto bytes = take(1);
  return failed_ ? 0 : static_cast<std::uint8_t>(bytes[0]);
}

std::uint16_t Reader::u16() {
  const unsigned high = u8(), low = u8();
  return static_cast<std::uint16_t>((high << 8) | low);
}

std::uint32_t Reader::u32() {
  const std::uint32_t high = u16();
  return high << 16 | u16();
}

std::uint32_t Reader::length() {
  std::uint32_t value = 0;
  for (unsigned shift = 0; shift < 28; shift += 7) {
    const std::uint8_t byte = u8();
    value |= static_cast<std::uint32_t>(byte & 0x7f) << shift;
    if ((byte & 0x80) == 0) return value;
  }
  fail();
  return 0;
}

bool Reader::skip_property(std::uint8_t property) {
  switch (property) {
    case 0x01:
    case 0x17:
    case 0x19:
    case 0x24:
    case 0x25:
    case 0x28:
    case 0x29:
    case 0x2a:
      u8();
      return true;
    case 0x13:
    case 0x21:
    case 0x22:
    case 0x23:
      u16();
      return true;
    case 0x02:
    case 0x11:
    case 0x18:
    case 0x27:
      take(4);
      return true;
    case 0x0b:
      length();
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
      text();
      return true;
    case 0x26:
      text();
      text();
      return true;
    default:
      return false;
  }
}

Cutter::Space Cutter::space() {
  if (begin_ > 0) {
    std::memmove(bytes_.data(), bytes_.data() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
  }
  // A large packet does not keep its room for ever.
  if (end_ == 0 && bytes_.size() > 4 * chunk_) {
    bytes_.resize(2 * chunk_);
    bytes_.shrink_to_fit();
  }
  if (bytes_.size() < end_ + chunk_) bytes_.resize(2 * (end_ + chunk_));
  return {bytes_.data() + end_, bytes_.size() - end_};
}

Result<std::optional<Frame>> Cutter::next() {
  const std::string_view left(bytes_.data() + begin_, end_ - begin_);
  constexpr std::size_t kMostHead = 5;
  Reader reader(left);
  const std::uint8_t first = reader.u8();
  const std::size_t length = reader.length();
  if (reader.failed()) {
    if (left.size() >= kMostHead) return Error{"a packet whose length is none", ""};
    return std::optional<Frame>();
  }
  if (length > most_) return Error{"a packet of " + std::to_string(length) + " bytes", ""};
  const std::string_view content = reader.take(length);
  if (reader.failed()) return std::optional<Frame>();
  begin_ = end_ - reader.rest().size();
  return std::optional(
      Frame{static_cast<Head>(first >> 4), static_cast<std::uint8_t>(first & 0x0f), content});
}

Result<Publish> read_publish(const Frame& frame, Version version) {
  Publish publish;
  publish.qos = (frame.flags >> 1) & 3;
  publish.repeated = (frame.flags & 8) != 0;
  Reader reader(frame.content);
  publish.topic = reader.text();
  if (publish.qos > 0) publish.packet_id = reader.u16();
  if (version == Version::v5) reader.properties();
  publish.payload = reader.rest();
  if (reader.failed() || publish.topic.empty()) return Error{"a PUBLISH that is cut off", ""};
  if (publish.qos > 2) return Error{"a PUBLISH of a quality that is none", ""};
  if (publish.qos > 0 && publish.packet_id == 0) return Error{"a PUBLISH without an id", ""};
  return publish;
}

}  // namespace gorgo::doors::mqtt
