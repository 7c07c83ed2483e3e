#include "dispatch/placement/watch.hpp"

#include <algorithm>

namespace gorgo::dispatch {
namespace {

constexpr double kFirstInterval = 2e6, kLongInterval = 128e6,
                 kLongestInterval = 2e9;  // nanoseconds
/// A cost that changes by this factor deserves another trial.
constexpr double kDrift = 2;
constexpr double kTrustAfterDrift = 0.6;
/// Nanoseconds of the rule's work to average over, so that noise is not taken for drift.
constexpr double kBlock = 64e6;
constexpr unsigned kMostAttempts = 6;

}  // namespace

bool Watch::look(double spent, double cost) {
  spent_ += spent;
  weighted_ += cost * spent;
  weight_ += spent;
  const bool drifted = has_drifted();
  if (drifted) begin_anew();
  return drifted;
}

bool Watch::has_drifted() {
  if (weight_ < kBlock) return false;
  const double average = weighted_ / weight_;
  weighted_ = weight_ = 0;
  if (judged_ == 0) judged_ = average;
  return average > kDrift * judged_ || average * kDrift < judged_;
}

void Watch::begin_anew() {
  interval_ = 0;
  trust_ = std::max(trust_, kTrustAfterDrift);
  attempts_ = passes_ = 0;
  judged_ = 0;
}

void Watch::rest(double longer) {
  spent_ = 0;
  interval_ = std::clamp(longer * interval_, kFirstInterval, kLongestInterval);
}

void Watch::moved() {
  trust_ = 0;
  judged_ = weighted_ = weight_ = 0;
}

bool Watch::may_attempt() {
  if (passes_ == 0) return true;
  --passes_;
  return false;
}

void Watch::attempted_together() {
  attempted();
  interval_ = std::max(interval_, kLongInterval);
}

/// Whichever way the attempt ended, one that followed at once would say the same.
void Watch::attempted() {
  moved();
  spent_ = 0;
  passes_ = 1U << attempts_;
  attempts_ = std::min(attempts_ + 1, kMostAttempts);
}

}  // namespace gorgo::dispatch
