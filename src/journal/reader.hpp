#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "journal/disk.hpp"
#include "journal/segment_reader.hpp"
#include "journal/survey.hpp"

namespace gorgo::journal {

/// Reads records in order. One thread. The disk outlives the reader.
class Reader {
 public:
  /// `segments`: those of a journal, in order. Places from `from` to before `end` are read.
  Reader(Disk& disk, std::string folder, std::vector<Segment> segments, Place from, Place end);

  /// The next record, or nothing behind the last one. An error: it cannot be read, or is damaged.
  Result<std::optional<Record>> next();

 private:
  Result<void> open_segment();

  Disk* disk_;
  std::string folder_;
  std::vector<Segment> segments_;
  std::size_t following_ = 0;  ///< the segment behind the one that is open
  std::optional<SegmentReader> segment_;
  Place from_;
  Place end_;
  Place next_;
};

}  // namespace gorgo::journal
