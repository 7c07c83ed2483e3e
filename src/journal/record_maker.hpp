#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "journal/format.hpp"
#include "journal/packing.hpp"

namespace gorgo::journal {

/// Makes records of payloads, and packs those that become smaller. One thread.
class RecordMaker {
 public:
  /// The record whose payload is `parts` end to end, as what is to be written one behind the other.
  /// Of `header`, place and durable place count. Valid until the next call, and as long as `parts`.
  std::span<const Bytes> make(const RecordHeader& header, std::uint16_t kind, std::uint32_t seed,
                              std::span<const Bytes> parts);

 private:
  Packer packer_;
  RecordHeader header_;
  std::vector<Bytes> record_;
};

}  // namespace gorgo::journal
