#include "server/ending.hpp"

#include <utility>

#include "cluster/node.hpp"

namespace gorgo::server {

Ending::Ending(Parts parts, std::function<void()> on_end)
    : parts_(parts), on_end_(std::move(on_end)), next_stage_(parts.hub.io) {}

void Ending::stop() {
  if (draining_) return give_up();
  const bool first = !parts_.hub.stops_at;
  if (first && parts_.hub.options.operations.grace.count() > 0) return leave();
  drain();
}

void Ending::go_on_after(std::chrono::milliseconds wait, void (Ending::*stage)()) {
  next_stage_.expires_after(wait);
  next_stage_.async_wait([this, stage](boost::system::error_code cancelled) {
    if (!cancelled) (this->*stage)();
  });
}

void Ending::leave_cluster() const {
  if (parts_.node != nullptr) parts_.node->stop();
}

void Ending::leave() {
  leave_cluster();
  const auto grace = parts_.hub.options.operations.grace;
  parts_.hub.stops_at = std::chrono::steady_clock::now() + grace;
  parts_.manager.stopping("serving until clients have found another server");
  parts_.hub.log.info("about to stop",
                      {{"grace_ms", grace.count()}, {"sessions", parts_.sessions.size()}});
  for (const auto& [id, session] : parts_.sessions.all()) session->tell_of_stop();
  go_on_after(grace, &Ending::drain);
}

void Ending::drain() {
  if (draining_) return;
  draining_ = true;
  parts_.manager.stopping("evaluating and delivering what was accepted");
  next_stage_.cancel();
  const auto timeout = parts_.hub.options.operations.stop_timeout;
  if (timeout.count() > 0) go_on_after(timeout, &Ending::give_up);
  parts_.hub.log.info("stopping", {{"sessions", parts_.sessions.size()}});
  leave_cluster();
  parts_.doors.close();
  parts_.actions.close();
  parts_.hub.queue.close();
  for (const auto& listener : parts_.listeners) listener->close();
  for (const auto& [id, session] : parts_.sessions.all()) session->stop_reading();
}

void Ending::give_up() {
  if (!engine_ended_) {
    parts_.hub.log.warning("stopping at once",
                           {{"discarded_requests", parts_.hub.queue.discard()}});
    gave_up_ = true;
    parts_.engine.request_stop();
  }
  for (const auto& [id, session] : parts_.sessions.all()) {
    session->end().give(EndReason::stopped);
    session->give_up();
  }
}

// Unless the engine thread failed, everything accepted is evaluated and its deliveries stand in the
// outboxes.
void Ending::engine_ended() {
  if (!draining_) {  // it failed
    gave_up_ = true;
    drain();
  }
  engine_ended_ = true;
  parts_.doors.finish();
  parts_.actions.finish();
  for (const auto& [id, session] : parts_.sessions.all()) session->finish();
  end_when_idle();
}

void Ending::end_when_idle() {
  if (!engine_ended_ || !parts_.sessions.empty()) return;
  next_stage_.cancel();
  on_end_();
}

}  // namespace gorgo::server
