#include "dispatch/rules/suspensions.hpp"

namespace gorgo::dispatch {

void Suspensions::spend(std::uint32_t rule, double nanoseconds, Clock::time_point now) {
  Throttle& throttle = rules_.throttle(rule);
  throttle.spend(nanoseconds, most_, now);
  if (throttle.is_used_up(now)) watched_.insert(rules_.rule(rule).serial);
}

void Suspensions::review() {
  if (watched_.empty()) return;
  const auto now = Clock::now();
  std::erase_if(watched_, [&](std::uint64_t serial) {
    const auto number = rules_.number_of(serial);
    if (!number) return true;
    const bool used_up = is_limited() && rules_.throttle(*number).is_used_up(now);
    engine::RuleState& state = rules_.state(*number);
    const bool changes = state.suspended != used_up;
    if (changes && (!may_ || may_(rules_.rule(*number).rule().name, used_up))) {
      state.suspended = used_up;
    }
    return !used_up && !state.suspended;
  });
}

Result<void> Suspensions::set(std::string_view rule, bool suspended) {
  const auto deployed = rules_.at(rule);
  if (!deployed) return deployed.error();
  const std::uint64_t serial = (*deployed)->serial;
  rules_.state(*rules_.number_of(serial)).suspended = suspended;
  watched_.insert(serial);
  return {};
}

void Suspensions::restored() {
  rules_.for_each(0, rules_.size(), [this](const DeployedRule& rule) {
    if (rule.state.suspended) watched_.insert(rule.serial);
  });
}

}  // namespace gorgo::dispatch
