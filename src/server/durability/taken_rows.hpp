#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "gorgo/diagnostics.hpp"
#include "gorgo/event_batch.hpp"
#include "journal/records.hpp"
#include "journal/segment_reader.hpp"
#include "protocol/framing.hpp"

namespace gorgo::server {

/// The events of the publications in a journal, in the order in which they were taken. One thread.
class TakenRows {
 public:
  /// `clock`: what stamps the event, if it has no timestamp.
  using Take = std::function<void(const BatchCursor& row, Timestamp clock)>;

  /// Takes the next record, whatever it is. Rows of a frame whose beginning was not read are passed
  /// over. An error: the record is not what its kind should be.
  Result<void> take(const journal::Record& record, const Take& take);

 private:
  struct Begun {
    protocol::Bytes frame;
    BatchCursor row;
  };

  std::map<journal::Place, Begun> begun_;  // by the place of the frame
  std::vector<std::uint32_t> left_out_;    // of the piece in the next record

  void begin(journal::Place place, journal::Bytes frame);
};

}  // namespace gorgo::server
