#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "codec/lines.hpp"
#include "codec/plain_lines.hpp"
#include "gorgo/event.hpp"
#include "gorgo/event_batch.hpp"
#include "protocol/framing.hpp"
#include "server/http/body.hpp"

namespace gorgo::server::http {

/// A row of a body that is no accepted event.
struct RefusedRow {
  std::uint32_t row = 0;  ///< from 0; blank lines are no rows
  Error why;
};

/// Event lines on their way to one publication. Lines that are no events are refused rows and do
/// not hold up the others.
class EventsBody : public Body {
 public:
  /// `max_bytes`: of the body. What is made of it may take four times as many.
  explicit EventsBody(std::size_t max_bytes) : max_bytes_(max_bytes) {}

  Checked put(std::string_view bytes) override;
  Checked finish() override;
  std::size_t memory() const override;
  std::size_t taken() const override { return taken_; }

  /// A Publish frame of the events. Call it once, after `finish`: it gives back what held them.
  protocol::Bytes publish(const wire::PublishT& header, std::uint64_t id);
  /// How many rows were no events.
  std::uint32_t malformed() const { return static_cast<std::uint32_t>(malformed_.size()); }
  /// The first of them, in order.
  const std::vector<RefusedRow>& first_malformed() const { return first_malformed_; }
  /// The row of the body that an event of the publication was.
  std::uint32_t row_of(std::uint32_t event) const;

  static constexpr std::size_t kMostErrors = 64;

 private:
  const std::size_t max_bytes_;
  std::size_t taken_ = 0;
  codec::LineCutter lines_;
  codec::PlainLines plain_;
  BatchBuilder events_;
  Event event_;  // its memory is used again for each line
  std::uint32_t rows_ = 0;
  std::vector<std::uint32_t> malformed_;  // rows
  std::vector<RefusedRow> first_malformed_;

  Checked take(std::string_view line);
  Checked add(const codec::PlainLine& line);
  Checked add(const Event& event);
  Checked refuse_tick();
  /// A problem: an event with so many attributes may take more than a body may.
  Checked check_room(std::size_t attributes) const;
  void refuse(Error why);
};

}  // namespace gorgo::server::http
