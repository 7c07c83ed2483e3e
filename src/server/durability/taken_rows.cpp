#include "server/durability/taken_rows.hpp"

#include <algorithm>
#include <utility>

#include "protocol/batch.hpp"

namespace gorgo::server {

namespace stored = journal::stored;

Result<void> TakenRows::take(const journal::Record& record, const Take& take) {
  if (static_cast<stored::Kind>(record.kind) == stored::Kind::Refusals) {
    const auto refusals = journal::decode<stored::Refusals>(record.payload);
    if (!refusals) return refusals.error();
    left_out_ = refusals->rows;
    return {};
  }
  if (static_cast<stored::Kind>(record.kind) != stored::Kind::Frame) return {};
  const auto accepted = journal::decode_frame(record.payload);
  if (!accepted) return accepted.error();
  const auto& [how, frame] = *accepted;
  const auto left_out = std::exchange(left_out_, {});
  if (how.frame_at() == 0) begin(record.place, frame);
  const auto begun = begun_.find(how.frame_at() == 0 ? record.place : how.frame_at());
  if (begun == begun_.end()) return {};
  BatchCursor& row = begun->second.row;
  for (; !row.done() && row.position() < how.first_row() + how.rows(); row.advance()) {
    const bool is_taken =
        row.position() >= how.first_row() && !std::ranges::binary_search(left_out, row.position());
    if (is_taken) take(row, how.clock());
  }
  if (row.done()) begun_.erase(begun);
  return {};
}

void TakenRows::begin(journal::Place place, journal::Bytes frame) {
  const auto* first = reinterpret_cast<const std::uint8_t*>(frame.data());
  protocol::Bytes bytes(first, first + frame.size());
  const auto message = protocol::open_frame(bytes);
  const wire::Batch* batch = message ? protocol::batch_of(**message) : nullptr;
  if (batch == nullptr) return;
  BatchCursor row(protocol::view_of(*batch));
  begun_.try_emplace(place, Begun{std::move(bytes), std::move(row)});
}

}  // namespace gorgo::server
