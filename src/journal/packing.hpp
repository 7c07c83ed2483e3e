#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "journal/disk.hpp"

/// Payloads in fewer bytes. What a journal keeps is mostly columns of numbers of 8 bytes each, and
/// most of these numbers, or their differences, need one or two: writing the others costs the
/// system more than leaving them out costs here. docs/journal.md describes the format.
namespace gorgo::journal {

/// Smaller payloads are names and offsets rather than columns.
inline constexpr std::size_t kLeastPacked = 512;

std::uint64_t length_of(std::span<const Bytes> parts);

/// One thread.
class Packer {
 public:
  /// The parts, which are at most 4 GiB together, packed. Columns begin at multiples of 8 bytes in
  /// their part, or they do not become small. Empty: the parts would not become smaller, or there
  /// is no memory for it. Valid until the next call.
  Bytes pack(std::span<const Bytes> parts);

 private:
  std::vector<std::byte> packed_;
};

/// Makes `payload` the parts end to end. False: `packed` is nothing that a Packer has made.
bool unpack(Bytes packed, std::vector<std::byte>& payload);

}  // namespace gorgo::journal
