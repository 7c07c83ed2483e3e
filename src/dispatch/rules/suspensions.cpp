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
    const bool used_up = rules_.throttle(*number).is_used_up(now);
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

bool Suspensions::starve(std::uint32_t number, std::uint64_t root) {
  const Starvation starvation{.rule = rules_.names()[number],
                              .root = root,
                              .terminators = rules_.state(number).all_terminators()};
  if (!may_starve_ || !may_starve_(starvation)) return false;
  rules_.throttle(number).starve(Clock::now());
  rules_.state(number).suspended = true;
  watched_.insert(rules_.rule(number).serial);
  return true;
}

void Suspensions::expect(Starvation starvation) {
  auto& of_rule = expected_[starvation.rule];
  of_rule.push_back(std::move(starvation));
}

const Starvation* Suspensions::find_expected(std::uint32_t number) const {
  const auto of_rule = expected_.find(rules_.names()[number]);
  return of_rule == expected_.end() ? nullptr : &of_rule->second.front();
}

void Suspensions::carry_out(std::uint32_t number) {
  const auto of_rule = expected_.find(rules_.names()[number]);
  of_rule->second.pop_front();
  if (of_rule->second.empty()) expected_.erase(of_rule);
  rules_.state(number).suspended = true;
  watched_.insert(rules_.rule(number).serial);
}

void Suspensions::restored() {
  rules_.for_each(0, rules_.size(), [this](const DeployedRule& rule) {
    if (rule.state.suspended) watched_.insert(rule.serial);
  });
}

}  // namespace gorgo::dispatch
