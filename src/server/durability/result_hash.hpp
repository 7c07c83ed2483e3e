#pragma once

#include <bit>
#include <cstdint>
#include <string_view>

#include "gorgo/processor.hpp"
#include "journal/records.hpp"

namespace gorgo::server {

/// What came of the events so far, as one number, so that a replay with other results is told. Two
/// sequences of composites that differ have the same number about once in 2^64 cases.
class ResultHash {
 public:
  void take(const OutputBatch& batch) {
    for (const OutputBatch::Row& row : batch.rows) {
      if (row.rule != OutputBatch::kPrimitive) take(batch, row);
    }
  }

  /// Goes on from there.
  void restore(const journal::stored::ResultsT& results) {
    composites_ = results.composites;
    hash_ = results.hash;
  }

  /// `roots`: how many have a place.
  journal::stored::ResultsT record(std::uint64_t roots) const {
    journal::stored::ResultsT results;
    results.next_root = roots + 1;
    results.composites = composites_;
    results.hash = hash_;
    return results;
  }

 private:
  std::uint64_t composites_ = 0;
  std::uint64_t hash_ = 0;

  void take(const OutputBatch& batch, const OutputBatch::Row& row) {
    ++composites_;
    mix(row.place.root);
    mix(row.place.ordinal);
    mix(static_cast<std::uint64_t>(row.timestamp));
    mix(batch.type_name(row));
    batch.for_each_cell(row, [this](std::string_view, const Datum& value) {
      mix(static_cast<std::uint64_t>(value.tag));
      if (value.tag == Datum::Tag::integer) mix(static_cast<std::uint64_t>(value.integer));
      if (value.tag == Datum::Tag::floating) mix(std::bit_cast<std::uint64_t>(value.floating));
      if (value.tag == Datum::Tag::boolean) mix(std::uint64_t{value.boolean});
      if (value.tag == Datum::Tag::string) mix(value.text());
    });
  }

  /// The finaliser of SplitMix64 (Steele, Lea, Flood: Fast Splittable Pseudorandom Number
  /// Generators, 2014) over the number and what came before.
  void mix(std::uint64_t number) {
    std::uint64_t x = hash_ * 0x9E3779B97F4A7C15u + number + 1;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
    hash_ = x ^ (x >> 31);
  }

  void mix(std::string_view text) {
    mix(text.size());
    std::uint64_t word = 0;
    unsigned bytes = 0;
    for (const char byte : text) {
      word = word << 8 | static_cast<unsigned char>(byte);
      if (++bytes % 8 == 0) mix(word);
    }
    mix(word);
  }
};

}  // namespace gorgo::server
