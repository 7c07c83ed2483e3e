#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

#include "server/command.hpp"
#include "server/engine/admission.hpp"
#include "server/engine/fanout.hpp"

namespace gorgo::server {

/// Publishes one event and tells where it went and how long each step took. Belongs to the engine
/// thread.
class EventTrace {
 public:
  struct Parts {
    Processor& processor;
    Admission& admission;
    Fanout& fanout;
    std::size_t max_frame;          ///< bytes that a reply may have
    std::function<void()> process;  ///< evaluates what is pending
    /// Hands out, and returns how many events were queued.
    std::function<std::uint64_t(const OutputBatch&)> deliver;
  };
  explicit EventTrace(Parts parts) : parts_(std::move(parts)) {}

  /// Queues the reply.
  void trace(const Command& command, std::uint64_t id, const wire::Trace& request);

 private:
  const Parts parts_;
};

}  // namespace gorgo::server
