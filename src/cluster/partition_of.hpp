#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "gorgo/event_batch.hpp"
#include "gorgo/value.hpp"

namespace gorgo::cluster {

/// FNV-1a with 32 bits: what `{{partition(n, token)}}` in the subject mappings of NATS divides by
/// n, so that whoever publishes can leave the choice of the partition to the server.
constexpr std::uint32_t fnv1a(std::string_view bytes) {
  std::uint32_t hash = 2'166'136'261u;
  for (const char byte : bytes) hash = (hash ^ static_cast<unsigned char>(byte)) * 16'777'619u;
  return hash;
}

/// The partition of the events whose key has this text. Precondition: `partitions` > 0.
constexpr std::uint32_t partition_of(std::string_view key, std::uint32_t partitions) {
  return fnv1a(key) % partitions;
}

/// The text of a key: a string itself, an int in decimal digits, `true` or `false`; empty for an
/// event that lacks the attribute, which no rule of the family finds by its key. A float, which is
/// never a key, has an empty text, too.
std::string key_text(const Datum& key);

/// The partition of each event of a table by the attribute of this name, which stands in several
/// columns where its type differs from event to event. No name: all go to partition 0.
std::vector<std::uint32_t> partitions_of(const EventTable& table, std::string_view attribute,
                                         std::uint32_t partitions);

}  // namespace gorgo::cluster
