#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <vector>

#include "journal/packing.hpp"

// What a journal has packed. What can be unpacked is the same when it is packed again and unpacked,
// and what is given is the same when it is packed and unpacked.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace gorgo::journal;
  const auto packs_well = [](Bytes payload) {
    Packer packer;
    std::vector<std::byte> again;
    const std::array<Bytes, 2> parts = {payload.first(payload.size() / 3),
                                        payload.subspan(payload.size() / 3)};
    const Bytes packed = packer.pack(parts);
    if (packed.empty()) return true;
    return unpack(packed, again) && std::ranges::equal(again, payload);
  };
  const Bytes given = std::as_bytes(std::span(data, size));
  std::vector<std::byte> payload;
  if (unpack(given, payload) && !packs_well(payload)) std::abort();
  if (!packs_well(given)) std::abort();
  return 0;
}
