#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
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

/// What a journal had at some moment, for those who read it and its snapshots: its owner, or others
/// beside it. The disk outlives it.
struct View {
  Disk* disk = nullptr;
  std::string folder;
  std::uint64_t number = 0;  ///< of the journal
  Place low = 1;             ///< the first place that can be read
  Place end = 1;             ///< of the next record
  std::vector<Segment> segments;

  static View of(Disk& disk, std::string folder, const Survey& survey) {
    return {&disk, std::move(folder), survey.journal, survey.low, survey.end, survey.segments};
  }
  /// Precondition: `from >= low`.
  Reader read(Place from) const { return Reader(*disk, folder, segments, from, end); }
};

}  // namespace gorgo::journal
