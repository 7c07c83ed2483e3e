#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "journal/disk.hpp"
#include "journal/format.hpp"

namespace gorgo::journal {

struct Record {
  Place place = 0;
  Place durable = 0;  ///< places below this one were durable when the record was written
  std::uint16_t kind = 0;
  Bytes payload;  ///< valid until the reader reads on
};

/// Goes through the bytes of one segment. One thread.
class SegmentReader {
 public:
  /// `first`: by the segment's name.
  static Result<SegmentReader> open(std::unique_ptr<File> file, std::string path, Place first);

  const std::string& path() const { return path_; }
  Place first() const { return first_; }
  HeaderState state() const { return state_; }
  const SegmentHeader& header() const { return header_; }
  std::uint64_t size() const { return size_; }
  std::uint64_t offset() const { return offset_; }

  /// Checksums of records begin with what this number makes. It is that of the header, if not told.
  void set_journal(std::uint64_t journal) { seed_ = seed_of(journal, first_); }

  /// The whole record at `offset`, which is passed, or nothing.
  Result<std::optional<Record>> next();

  /// Why there is no record at `offset`.
  enum class Gap : std::uint8_t { end, torn, damaged };
  Result<Gap> gap();

  /// What the bytes from `offset` on tell, which are read to the end of the segment.
  struct Rest {
    std::uint64_t bytes = 0;  ///< up to the last that is not zero
    Place durable = 0;        ///< the highest that the header of a record tells
  };
  Result<Rest> rest();

 private:
  SegmentReader(std::unique_ptr<File> file, std::string path, Place first);

  /// The bytes from `offset` on, `count` of them or as many as the segment has.
  Result<Bytes> bytes_at(std::uint64_t offset, std::size_t count);

  std::unique_ptr<File> file_;
  std::string path_;
  Place first_;
  HeaderState state_ = HeaderState::torn;
  SegmentHeader header_;
  std::uint32_t seed_ = 0;
  std::uint64_t size_ = 0;
  std::uint64_t offset_ = sizeof(SegmentHeader);
  std::vector<std::byte> buffer_;
  std::uint64_t buffer_offset_ = 0;
  std::vector<std::byte> unpacked_;
};

}  // namespace gorgo::journal
