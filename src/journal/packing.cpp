#include "journal/packing.hpp"

#include <array>
#include <cstdint>
#include <cstring>
#include <new>

#include "journal/packed_blocks.hpp"

namespace gorgo::journal {
namespace {

/// A packed part begins with its length. Its blocks follow, then the bytes that are no whole block.
using Length = std::uint32_t;

std::size_t most_packed(std::size_t length, std::size_t parts) {
  return parts * sizeof(Length) + length + length / kBlockBytes + 2 * kWordBytes;
}

bool make_room(std::vector<std::byte>& bytes, std::size_t size) {
  try {
    if (bytes.size() < size) bytes.resize(size);
    return true;
  } catch (const std::bad_alloc&) {
    return false;
  }
}

/// Goes through what is packed.
class Unpacker {
 public:
  explicit Unpacker(Bytes packed) : rest_(packed) {}

  bool done() const { return rest_.empty(); }

  /// Appends the next part to `payload`. False: there is none.
  bool take_part(std::vector<std::byte>& payload) {
    Length length = 0;
    if (rest_.size() < sizeof(length)) return false;
    std::memcpy(&length, take(sizeof(length)).data(), sizeof(length));
    // Each block has a byte at least.
    if (length / kBlockBytes + length % kBlockBytes > rest_.size()) return false;
    const std::size_t begin = payload.size();
    payload.resize(begin + length);
    std::byte* to = payload.data() + begin;
    std::uint64_t before = 0;
    for (std::size_t i = 0; i < length / kBlockBytes; ++i, to += kBlockBytes) {
      if (!take_block(before, to)) return false;
    }
    const std::size_t behind = length % kBlockBytes;
    if (rest_.size() < behind) return false;
    if (behind > 0) std::memcpy(to, take(behind).data(), behind);
    return true;
  }

 private:
  Bytes take(std::size_t size) {
    const Bytes first = rest_.first(size);
    rest_ = rest_.subspan(size);
    return first;
  }

  bool take_block(std::uint64_t& before, std::byte* to) {
    if (rest_.empty()) return false;
    const Kept kept = Kept::of(take(1).front());
    if (!kept.is_valid() || rest_.size() < kept.bytes()) return false;
    std::array<std::byte, kBlockBytes + kWordBytes> copy;
    const std::byte* from = rest_.data();
    if (rest_.size() < kept.bytes() + kWordBytes) {
      std::memcpy(copy.data(), from, kept.bytes());
      from = copy.data();
    }
    const Block words = unpack_block(kept, from, before);
    rest_ = rest_.subspan(kept.bytes());
    before = words.back();
    std::memcpy(to, words.data(), kBlockBytes);
    return true;
  }

  Bytes rest_;
};

}  // namespace

std::uint64_t length_of(std::span<const Bytes> parts) {
  std::uint64_t length = 0;
  for (const Bytes part : parts) length += part.size();
  return length;
}

Bytes Packer::pack(std::span<const Bytes> parts) {
  const std::size_t length = length_of(parts);
  if (!make_room(packed_, most_packed(length, parts.size()))) return {};
  const PackBlocks pack_blocks = ways_to_pack_blocks().front();
  std::byte* to = packed_.data();
  for (const Bytes part : parts) {
    const auto part_length = static_cast<Length>(part.size());
    std::memcpy(to, &part_length, sizeof(part_length));
    const std::size_t behind = part.size() % kBlockBytes;
    const std::byte* const end = part.data() + part.size() - behind;
    to = pack_blocks(part.data(), end, to + sizeof(part_length));
    if (behind > 0) std::memcpy(to, end, behind);
    to += behind;
  }
  const Bytes packed(packed_.data(), to);
  return packed.size() < length ? packed : Bytes();
}

bool unpack(Bytes packed, std::vector<std::byte>& payload) {
  payload.clear();
  Unpacker unpacker(packed);
  while (!unpacker.done()) {
    if (!unpacker.take_part(payload)) return false;
  }
  return true;
}

}  // namespace gorgo::journal
