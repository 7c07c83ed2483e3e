#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "doors/mqtt/device_packets.hpp"
#include "doors/mqtt/packets.hpp"

namespace {

using namespace gorgo::doors::mqtt;

/// What a packet says to a client of a broker, or to a server of devices.
std::string told_by(const Frame& frame, Version version, bool is_of_device) {
  if (!is_of_device || frame.head == Head::publish) {
    const auto packet = read_packet(frame, version);
    if (!packet) return packet.error().message;
    return std::to_string(static_cast<int>(packet->kind)) + std::string(packet->publish.topic) +
           "\n" + std::string(packet->publish.payload);
  }
  bool wrong_version = false;
  if (frame.head == Head::connect) {
    const auto greeting = read_greeting(frame, wrong_version);
    if (!greeting) return greeting.error().message;
    return greeting->client_id + greeting->user.value_or("") + greeting->password.value_or("") +
           (greeting->will ? greeting->will->topic + greeting->will->payload : "");
  }
  if (frame.head == Head::disconnect) {
    const auto parting = read_parting(frame, version);
    return parting ? std::to_string(parting->session_expiry.value_or(0)) : parting.error().message;
  }
  const auto request = read_request(frame, version);
  return request ? std::to_string(request->filters) : request.error().message;
}

/// What came of the bytes, when so many are given at a time.
std::vector<std::string> packets_in(std::string_view bytes, std::size_t step, Version version,
                                    bool is_of_device) {
  std::vector<std::string> told;
  Cutter cutter(std::size_t{1} << 20, 2048);
  while (!bytes.empty()) {
    const auto space = cutter.space();
    const std::size_t size = std::min({step, bytes.size(), space.size});
    std::memcpy(space.data, bytes.data(), size);
    cutter.fill(size);
    bytes.remove_prefix(size);
    while (true) {
      const auto frame = cutter.next();
      if (!frame) {
        told.push_back(frame.error().message);
        return told;
      }
      if (!*frame) break;
      told.push_back(told_by(**frame, version, is_of_device));
    }
  }
  return told;
}

}  // namespace

// What a broker or a device sends. It is the same wherever the network cuts it.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  const std::size_t step = 1 + data[0] % 32;
  const auto version = (data[0] & 0x80) == 0 ? Version::v5 : Version::v3_1_1;
  const bool is_of_device = (data[0] & 0x40) != 0;
  if (packets_in(bytes, step, version, is_of_device) !=
      packets_in(bytes, bytes.size() + 1, version, is_of_device)) {
    std::abort();
  }
  return 0;
}
