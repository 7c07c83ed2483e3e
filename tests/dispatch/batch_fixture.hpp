#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "gorgo/event_batch.hpp"
#include "processor_fixture.hpp"

namespace gorgo {

/// Has each event be looked at by itself.
inline const auto kByItself = [](const BatchCursor&) -> Result<void> { return {}; };

/// A processor that takes batches. The fixtures of the tests derive from it.
class BatchTest : public ProcessorTest {
 protected:
  /// What becomes of events, however they come.
  struct Outcome {
    std::vector<std::string> out;
    std::vector<std::string> refused;
    std::vector<std::uint64_t> counts;  // how many events of each type were accepted, and more

    friend bool operator==(const Outcome&, const Outcome&) = default;
  };

  /// Positions and reasons of what was refused.
  std::vector<std::pair<std::uint32_t, std::string>> refusals;

  void append(IncomingBatch& batch, const Intake& intake = {}) {
    processor.append(
        batch,
        [&](const BatchCursor& event, const Error& why) {
          refusals.emplace_back(event.position(), why.message);
        },
        intake);
  }
};

}  // namespace gorgo
