#include "server/engine/clock_watch.hpp"

#include <algorithm>

#include "base/arithmetic.hpp"

namespace gorgo::server {
namespace {

constexpr std::chrono::seconds kPause{10};  // between two lines about a client
constexpr Duration kPerMillisecond = 1'000'000;

}  // namespace

void ClockWatch::count(Timestamp timestamp) {
  furthest_ = std::max(furthest_, timestamp);
  const bool refused = max_ahead_ && timestamp > arithmetic::saturating_add(now_, *max_ahead_);
  ++(refused ? found_.too_ahead : found_.ahead);
}

/// Clients may be ahead by `max_ahead`, so only what is further off has another reason. Without a
/// bound they say what time it is.
void ClockWatch::look_behind(Timestamp released) {
  if (!max_ahead_) return;
  const Duration behind = arithmetic::saturating_subtract(released, now_);
  if (behind <= std::max(kTolerance, *max_ahead_) || !behind_limit_.note()) return;
  log_.warning(
      "the server's clock is behind the events that have come: until it is as far, events without "
      "a timestamp get the time of the last one, and timers, deadlines and windows stand still",
      {{"behind_ms", behind / kPerMillisecond}});
}

void ClockWatch::end(const Outbox& client, Moment moment) {
  if (found_.ahead + found_.too_ahead == 0) return;
  counts_.ahead += found_.ahead;
  counts_.too_ahead += found_.too_ahead;
  const auto [it, first] = named_.try_emplace(client.id(), Named{moment, {}});
  Named& named = it->second;
  named.since.ahead += found_.ahead;
  named.since.too_ahead += found_.too_ahead;
  if (!first && moment - named.last < kPause) return;
  log_.warning("a client's clock runs ahead: its events make those of others late",
               {{"session", client.id()},
                {"peer", client.peer()},
                {"ahead_ms", arithmetic::saturating_subtract(furthest_, now_) / kPerMillisecond},
                {"accepted", named.since.ahead},
                {"refused", named.since.too_ahead}});
  named = {moment, {}};
}

}  // namespace gorgo::server
