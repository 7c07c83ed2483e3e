#include "dispatch/placement/policy.hpp"

#include <algorithm>
#include <utility>

namespace gorgo::dispatch {
namespace {

constexpr double kFirstInterval = 2e6, kLongestInterval = 2e9;
/// A cost that changes by this factor deserves another trial.
constexpr double kDrift = 2;
/// So do batches with so many times as many terminators. With fewer, a device costs more for each.
constexpr double kMoreAtATime = 16;
/// The rule's work to average over, so that noise is not taken for drift.
constexpr double kBlock = 64e6;
/// Work on probation: where the costs are close; where one is by a quarter above the other; and
/// where one is more than twice the other.
constexpr double kLongProbation = 80e6, kProbation = 20e6, kShortProbation = 4e6;
constexpr double kFar = 1.25, kVeryFar = 2;
/// The rule's work that its present cost is averaged over.
constexpr double kOfLate = 40e6;
/// The first evaluations after a move take longer, because the engine catches up.
constexpr unsigned kUncounted = 2;
/// Fewer batches decide a probation only when they have taken long.
constexpr unsigned kFewest = 3;

}  // namespace

bool Policy::look(double spent, double cost, double batch) {
  total_ += spent;
  spent_ += spent;
  remember(spent, cost);
  weighted_ += cost * spent;
  weight_ += spent;
  const bool grown = has_grown(batch);
  if (!has_drifted() && !grown) return false;
  interval_ = judged_ = 0;
  gain_ = kGain;
  patience_ = kPatience;
  worse_.clear();
  return true;
}

void Policy::remember(double spent, double cost) {
  if (spent_of_late_ > kOfLate) {
    spent_of_late_ /= 2;
    terminators_of_late_ /= 2;
  }
  spent_of_late_ += spent;
  terminators_of_late_ += spent / cost;
}

bool Policy::has_drifted() {
  if (weight_ < kBlock) return false;
  const double average = weighted_ / weight_;
  weighted_ = weight_ = 0;
  if (judged_ == 0) judged_ = average;
  return average > kDrift * judged_ || average * kDrift < judged_;
}

bool Policy::has_grown(double batch) {
  latest_batch_ = batch;
  if (batch_ == 0) batch_ = batch;
  if (batch <= kMoreAtATime * batch_) return false;
  batch_ = batch;
  return true;
}

bool Policy::may_try(std::string_view engine) const {
  return std::ranges::none_of(
      worse_, [&](const Worse& worse) { return worse.engine == engine && worse.until > total_; });
}

void Policy::rest(double longer) {
  spent_ = 0;
  batch_ = latest_batch_;
  interval_ = std::clamp(longer * interval_, kFirstInterval, kLongestInterval);
}

void Policy::settled(std::string_view worse, bool kept) {
  std::erase_if(worse_, [&](const Worse& known) { return known.engine == worse; });
  worse_.push_back({.engine = worse, .until = total_ + patience_});
  patience_ *= kMuchSlower;
  gain_ = kGain * (kept ? gain_ : std::min(gain_, promised_));
  judged_ = weighted_ = weight_ = 0;
  spent_of_late_ = terminators_of_late_ = 0;
  tried(false);
}

Probation::Verdict Probation::look() {
  const Sum batch = std::exchange(batch_, {});
  if (batch.took == 0) return Verdict::go_on;
  if (uncounted_ < kUncounted) {
    ++uncounted_;
    return Verdict::go_on;
  }
  ++counted_;
  all_.before += batch.before;
  all_.took += batch.took;
  if (batch.loss() > dearest_.loss()) dearest_ = batch;
  if (batch.loss() < cheapest_.loss()) cheapest_ = batch;
  if (counted_ < kFewest && all_.took < kLongProbation) return Verdict::go_on;
  const Sum typical = this->typical();
  const auto [least, most] = std::minmax(typical.before, typical.took);
  const double ratio = most / least;
  const double enough = ratio > kVeryFar ? kShortProbation
                        : ratio > kFar   ? kProbation
                                         : kLongProbation;
  if (most < enough) return Verdict::go_on;
  return typical.took < typical.before ? Verdict::stay : Verdict::go_back;
}

Probation::Sum Probation::typical() const {
  if (counted_ < kFewest) return all_;
  return {.before = all_.before - dearest_.before - cheapest_.before,
          .took = all_.took - dearest_.took - cheapest_.took};
}

double Probation::ratio() const {
  const Sum typical = this->typical();
  return typical.took / typical.before;
}

}  // namespace gorgo::dispatch
