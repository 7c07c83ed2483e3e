#include "tools/append_events.hpp"

#include <string>

#include "gorgo/event_batch.hpp"

namespace gorgo::tools {

Error at_line(std::uint64_t line, const Error& error) {
  return {"line " + std::to_string(line) + ": " + error.message, error.hint};
}

bool append_events(ReadEvents read, Processor& processor, std::uint64_t& accepted,
                   const AppendCallbacks& callbacks) {
  IncomingBatch batch(read.events.batch());
  bool goes_on = true;
  const auto refused = [&](const BatchCursor& event, const Error& why) {
    goes_on = callbacks.refused(at_line(read.lines[event.position()], why));
  };
  const Intake intake{.pending = kManyPending, .pause = [&] { return !goes_on; }, .check = {}};
  while (goes_on && !batch.done()) {
    processor.append(batch, refused, intake);
    if (processor.pending() >= kManyPending) goes_on = goes_on && callbacks.process();
  }
  accepted += batch.accepted();
  return goes_on;
}

}  // namespace gorgo::tools
