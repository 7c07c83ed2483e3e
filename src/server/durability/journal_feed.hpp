#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "gorgo/processor.hpp"
#include "journal/reader.hpp"
#include "journal/records.hpp"
#include "server/command.hpp"
#include "server/durability/engine_clock.hpp"

namespace gorgo::server {

/// Gives a processor the events that a journal has, as the server took them: with the clock of that
/// moment, and without the rows that were refused. One thread.
class JournalFeed {
 public:
  /// A frame of which some rows were not taken yet.
  struct Unfinished {
    protocol::Bytes frame;
    std::unique_ptr<Publication> publication;
  };
  /// A row that was accepted is refused by this processor.
  using Refused = std::function<void(const Error& why)>;

  /// `process_if_many` evaluates when much is pending. All of it outlives the feed, and `clock` is
  /// the processor's.
  JournalFeed(Processor& processor, EngineClock& clock, std::function<void()> process_if_many,
              Refused refused)
      : processor_(processor),
        clock_(clock),
        process_if_many_(std::move(process_if_many)),
        refused_(std::move(refused)) {}

  /// The rows that the next record does not take.
  void leave_out(std::vector<std::uint32_t> rows) { left_out_ = std::move(rows); }
  /// A frame that publishes stands at this place. `message` lies in `frame`.
  void begin(journal::Place at, protocol::Bytes frame, const wire::Message& message);
  /// Its rows before this one were taken earlier. Precondition: it was begun.
  void skip(journal::Place at, std::uint32_t next_row);
  /// Takes rows of a frame. False: the frame was not begun.
  bool take_rows(journal::Place frame_at, const journal::stored::Acceptance& how);
  Result<void> move_clock(const journal::stored::ClockMoveT& move);

  /// To be finished, in this order.
  std::vector<Unfinished> take_unfinished();

 private:
  Processor& processor_;
  EngineClock& clock_;
  const std::function<void()> process_if_many_;
  const Refused refused_;
  std::map<journal::Place, Unfinished> unfinished_;  // by the place of their frames
  std::vector<std::uint32_t> left_out_;              // rows of the piece in the next record
};

}  // namespace gorgo::server
