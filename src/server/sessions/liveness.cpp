#include "server/sessions/liveness.hpp"

#include <algorithm>
#include <string>

#include "server/replies.hpp"

namespace gorgo::server {
namespace {

std::string text(std::chrono::milliseconds time) { return std::to_string(time.count()) + " ms"; }

}  // namespace

void Liveness::received(Time now) {
  received_ = now;
  pinged_.reset();
}

void Liveness::sending(Time now) {
  is_sending_ = true;
  sent_ = now;
}

void Liveness::sent(Time now) {
  is_sending_ = false;
  sent_ = now;
}

void Liveness::message_begun(Time now) {
  if (!begun_) begun_ = now;
}

std::optional<Error> Liveness::late(const ServerOptions& options, const Situation& situation,
                                    Time now) const {
  const auto frame = options.frame_timeout, idle = options.idle_timeout;
  if (begun_ && now - *begun_ > frame) {
    if (starved_) return kShortOfMemory;
    return Error{"a message was not complete within " + text(frame),
                 "send it in one go, or raise frame_timeout_ms"};
  }
  const auto active = std::max(received_, sent_);
  if (idle.count() > 0 && now - active > idle && !situation.awaits_engine) {
    return Error{"nothing came or went for " + text(idle),
                 "send a request now and then, or raise idle_timeout_ms"};
  }
  return std::nullopt;
}

bool Liveness::is_stalled(const Limits& limits, Time now) const {
  return limits.stalled.count() > 0 && is_sending_ && now - sent_ > limits.stalled;
}

Liveness::Beat Liveness::beat(const Limits& limits, const Situation& situation, Time now) {
  using Heartbeat = Dialect::Heartbeat;
  if (situation.heartbeat == Heartbeat::none || limits.heartbeat.count() == 0) return Beat::none;
  // While something waits for the client, the limits for slow subscribers watch it; and what it
  // says is not heard while its last request waits.
  if (situation.is_backed_up || situation.is_deaf || starved_) {
    if (pinged_) pinged_ = now;
    return Beat::none;
  }
  if (pinged_ && now - *pinged_ > limits.heartbeat_timeout) return Beat::dead;
  const bool answers = situation.heartbeat == Heartbeat::answered;
  const bool is_silent =
      now - sent_ >= limits.heartbeat || (answers && now - received_ >= limits.heartbeat);
  if (pinged_ || !is_silent) return Beat::none;
  if (answers) pinged_ = now;
  return Beat::ping;
}

}  // namespace gorgo::server
