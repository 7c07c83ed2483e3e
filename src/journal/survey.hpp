#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "journal/disk.hpp"
#include "journal/format.hpp"

namespace gorgo::journal {

struct Segment {
  Place first = 0;        ///< of its records
  std::int64_t made = 0;  ///< nanoseconds since the Unix epoch

  std::string path(const std::string& folder) const { return folder + '/' + segment_name(first); }
};

/// What a folder holds of a journal.
struct Survey {
  std::vector<Segment> segments;  ///< in order; those with records that may be needed
  std::uint64_t journal = 0;      ///< the number of the journal; 0: nothing tells it
  Place low = 1;                  ///< places below this one may be gone
  Place durable = 1;              ///< places below this one are known to have been durable
  Place end = 1;                  ///< of the next record
  std::uint64_t last_bytes = 0;   ///< of the last segment, up to the end of its last record

  std::uint64_t torn_bytes = 0;  ///< behind the last record; they are of no use
  std::string torn_in;           ///< the file with the first of them
  /// Files of which nothing is of use: torn ones, and those that trimming has left.
  std::vector<std::string> useless;
};

/// How much of a journal is read.
enum class Depth : std::uint8_t {
  tail,  ///< the headers of all segments, and what may not have been durable when a crash came
  all,   ///< every byte
};

/// Opens the segment with this path.
using OpenSegment = std::function<Result<std::unique_ptr<File>>(const std::string& path)>;

/// Reads a journal and changes nothing. An error: it is damaged where it was durable, which the
/// message tells by file and offset; or it cannot be read. What a crash may leave is no error.
/// `open`: for what is read as a whole.
Result<Survey> survey(Disk& disk, const std::string& folder, Depth depth, const OpenSegment& open);

/// Surveys a journal into which another process may write meanwhile. Otherwise as `survey`.
Result<Survey> survey_beside_writer(Disk& disk, const std::string& folder, Depth depth);

}  // namespace gorgo::journal
