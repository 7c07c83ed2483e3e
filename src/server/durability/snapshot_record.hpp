#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "journal/disk.hpp"

namespace gorgo::server {

/// A record of a snapshot on its way to the disk.
struct SnapshotRecord {
  std::uint16_t kind = 0;
  std::vector<std::byte> bytes;
  journal::Bytes shared = {};                   ///< behind `bytes`
  std::shared_ptr<const void> owner = nullptr;  ///< of `shared`

  std::size_t size() const { return bytes.size() + shared.size(); }
};

}  // namespace gorgo::server
