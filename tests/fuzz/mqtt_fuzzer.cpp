#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "doors/mqtt/packets.hpp"

namespace {

using namespace gorgo::doors::mqtt;

/// What came of the bytes, when so many are given at a time.
std::vector<std::string> packets_in(std::string_view bytes, std::size_t step, Version version) {
  std::vector<std::string> told;
  PacketCutter cutter(version);
  while (!bytes.empty()) {
    const auto space = cutter.space();
    const std::size_t size = std::min({step, bytes.size(), space.size});
    std::memcpy(space.data, bytes.data(), size);
    cutter.fill(size);
    bytes.remove_prefix(size);
    while (true) {
      const auto packet = cutter.next();
      if (!packet) {
        told.push_back(packet.error().message);
        return told;
      }
      if (!*packet) break;
      told.push_back(std::to_string(static_cast<int>((*packet)->kind)) +
                     std::string((*packet)->publish.topic) + "\n" +
                     std::string((*packet)->publish.payload));
    }
  }
  return told;
}

}  // namespace

// What a broker sends. It is the same wherever the network cuts it.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  const std::size_t step = 1 + data[0] % 64;
  const auto version = data[0] < 128 ? Version::v5 : Version::v3_1_1;
  if (packets_in(bytes, step, version) != packets_in(bytes, bytes.size() + 1, version))
    std::abort();
  return 0;
}
