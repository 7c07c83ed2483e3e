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
  /// Returns the pieces of a record whose payload is `parts` end to end. They are to be written one
  /// behind the other, and are valid until the next call and as long as `parts` are. `header` has
  /// to say the place and the durable place; the other fields are filled in.
  std::span<const Bytes> make(const RecordHeader& header, std::uint16_t kind, std::uint32_t seed,
                              std::span<const Bytes> parts);

 private:
  Packer packer_;
  RecordHeader header_;
  std::vector<Bytes> record_;
};

}  // namespace gorgo::journal
