#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>

#include "codec/event_text.hpp"
#include "gorgo/processor.hpp"

namespace gorgo::server {

/// Compares two streams of composites by what they say: type, timestamp and attributes. It counts
/// how often each comes; in which order they come does not matter.
class CompositeDifference {
 public:
  enum class Side : std::uint8_t { deployed, shadow };
  struct Counts {
    std::uint64_t both = 0;
    std::array<std::uint64_t, 2> only = {};  ///< by side
  };
  struct Sample {
    std::string type;
    std::string line;  ///< an event line
  };

  CompositeDifference() : writer_(codec::make_line_writer()) {}

  void add(Side side, const OutputBatch& batch, const OutputBatch::Row& row);
  /// Both sides have given all that they give for the events so far: what has no counterpart now
  /// has none.
  void settle();
  /// Counts from zero. Precondition: nothing was added since `settle`.
  void restart();

  const Counts& counts() const { return counts_; }
  /// The last ones that only this side has given.
  const std::deque<Sample>& samples(Side side) const { return samples_[index_of(side)]; }
  /// What waits for a counterpart takes so many bytes, about.
  std::size_t waiting_bytes() const { return waiting_bytes_; }

 private:
  struct Waiting {
    std::string type;
    std::int64_t more = 0;  ///< how often more the deployed side has given it
  };

  const std::unique_ptr<codec::EventWriter> writer_;
  std::map<std::string, Waiting> waiting_;  // by event line
  std::size_t waiting_bytes_ = 0;
  Counts counts_;
  std::array<std::deque<Sample>, 2> samples_;  // by side

  static std::size_t index_of(Side side) { return static_cast<std::size_t>(side); }
  std::string line_of(const OutputBatch& batch, const OutputBatch::Row& row) const;
  void keep_sample(Side side, Sample sample);
};

}  // namespace gorgo::server
