#include "server/durability/journal_feed.hpp"

#include <utility>

namespace gorgo::server {

/// `message` lies in the bytes of `frame`, which stay where they are.
void JournalFeed::begin(journal::Place at, protocol::Bytes frame, const wire::Message& message) {
  Unfinished& begun = unfinished_[at];
  begun.frame = std::move(frame);
  begun.publication = std::make_unique<Publication>(*protocol::batch_of(message));
  begun.publication->frame = begun.frame;
  begun.publication->frame_at = at;
  // A frame that only says how far a door is has no rows to wait for.
  if (begun.publication->batch.done()) unfinished_.erase(at);
}

void JournalFeed::skip(journal::Place at, std::uint32_t next_row) {
  IncomingBatch& batch = unfinished_.at(at).publication->batch;
  while (!batch.done() && batch.next().position() < next_row) batch.leave_out();
}

bool JournalFeed::take_rows(journal::Place frame_at, const journal::stored::Acceptance& how) {
  const auto begun = unfinished_.find(frame_at);
  const auto left_out = std::exchange(left_out_, {});
  if (begun == unfinished_.end()) return false;
  IncomingBatch& batch = begun->second.publication->batch;
  const EngineClock::Hold held(clock_, how.clock());
  auto next_left_out = left_out.begin();
  const std::uint32_t end = how.first_row() + how.rows();
  while (!batch.done() && batch.next().position() < end) {
    const std::uint32_t row = batch.next().position();
    while (next_left_out != left_out.end() && *next_left_out < row) ++next_left_out;
    const bool is_left_out = next_left_out != left_out.end() && *next_left_out == row;
    if (row < how.first_row() || is_left_out) {
      batch.leave_out();
      continue;
    }
    const std::uint32_t until = next_left_out == left_out.end() ? end : *next_left_out;
    processor_.append(batch, [this](const BatchCursor&, const Error& why) { refused_(why); },
                      {.events = until - row, .pause = {}, .check = {}});
    process_if_many_();
  }
  if (batch.done()) unfinished_.erase(begun);
  return true;
}

Result<void> JournalFeed::move_clock(const journal::stored::ClockMoveT& move) {
  const EngineClock::Hold held(clock_, move.clock);
  if (move.given) return processor_.tick(move.clock);
  processor_.tick_now();
  return {};
}

std::vector<JournalFeed::Unfinished> JournalFeed::take_unfinished() {
  std::vector<Unfinished> list;
  for (auto& [place, unfinished] : unfinished_) list.push_back(std::move(unfinished));
  unfinished_.clear();
  return list;
}

}  // namespace gorgo::server
