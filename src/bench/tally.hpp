#pragma once

#include <cstdint>
#include <string_view>

#include "gorgo/value.hpp"

namespace gorgo::bench {

/// The name of a composite type as it enters the hash of a composite. FNV-1a.
constexpr std::uint64_t hash_of(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return hash;
}

/// One composite as a number: type, timestamp and the attributes in order. The number is the same
/// in every version, so that checksums of old reports can be compared.
class CompositeHash {
 public:
  CompositeHash(std::uint64_t type_hash, Timestamp timestamp) : hash_(type_hash) {
    mix(static_cast<std::uint64_t>(timestamp));
  }
  void add(const Datum& datum) {
    mix(static_cast<std::uint64_t>(datum.tag));
    if (datum.tag == Datum::Tag::string) return mix(hash_of(datum.text()));
    if (datum.tag == Datum::Tag::boolean) return mix(datum.boolean ? 1 : 0);
    if (datum.exists()) mix(static_cast<std::uint64_t>(datum.integer));  // the bits of a float
  }
  std::uint64_t value() const { return hash_; }

 private:
  /// The finisher of splitmix64.
  void mix(std::uint64_t bits) {
    hash_ += bits + 0x9e3779b97f4a7c15;
    hash_ = (hash_ ^ (hash_ >> 30)) * 0xbf58476d1ce4e5b9;
    hash_ = (hash_ ^ (hash_ >> 27)) * 0x94d049bb133111eb;
    hash_ ^= hash_ >> 31;
  }
  std::uint64_t hash_;
};

/// Composites counted and summed up, in whatever order they come.
struct Tally {
  std::uint64_t composites = 0;
  std::uint64_t checksum = 0;  ///< sum of the hashes, modulo 2^64

  void add(const CompositeHash& hash) {
    ++composites;
    checksum += hash.value();
  }
  friend bool operator==(const Tally&, const Tally&) = default;
  /// What came since `before`.
  friend Tally operator-(const Tally& now, const Tally& before) {
    return {now.composites - before.composites, now.checksum - before.checksum};
  }
};

}  // namespace gorgo::bench
