#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

#include "gorgo/diagnostics.hpp"
#include "gorgo/event_batch.hpp"
#include "protocol/framing.hpp"
#include "protocol/trex/condition_text.hpp"
#include "protocol/trex/packets.hpp"
#include "server/options.hpp"

namespace gorgo::server {

/// Gathers the publications of a T-Rex client into batches: one Publish for all that came together.
class TrexIntake {
 public:
  TrexIntake(const Limits& limits, protocol::trex::TypeNames names)
      : max_rows_(limits.max_rows), names_(std::move(names)) {}

  bool empty() const { return batch_.events() == 0; }
  /// Whether the batch must be taken before this publication is added, so that none has more
  /// columns or bytes than a batch should have.
  bool full_for(const protocol::trex::Publication& publication) const;
  /// An error: no event can be like that; nothing was added.
  Result<void> add(const protocol::trex::Publication& publication);
  /// The batch as a Publish without an Ack. Begins the next one. Precondition: not `empty`.
  protocol::Bytes take();

 private:
  const std::uint32_t max_rows_;
  const protocol::trex::TypeNames names_;
  BatchBuilder batch_;
  std::unordered_map<std::int32_t, std::string> known_;  // names of the types in the batch
  std::string utf8_;

  const std::string& name_of(std::int32_t type);
  /// Valid until the next call.
  std::string_view utf8(std::string_view latin1);
};

}  // namespace gorgo::server
