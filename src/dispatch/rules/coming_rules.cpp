#include "dispatch/rules/coming_rules.hpp"

#include <utility>

#include "engine/engine.hpp"

namespace gorgo::dispatch {
namespace {

Placement placement_of(const Rule& rule, const std::string& default_engine) {
  const std::string& name = engine_name_of(rule, default_engine);
  if (name == kAutomatic) return {engine::engines().front(), true};
  return {engine::find_engine(name), false};
}

}  // namespace

void equip(DeployedRule& rule, history::History& history) {
  EngineEntry& entry = rule.placement.entry();
  entry.evaluators.push_back(entry.engine->prepare(rule.plan, history));
  if (const auto reason = entry.engine->reason_to_decline(*rule.plan); !reason.empty()) {
    rule.placement.set_reason(std::string(entry.engine->name()) +
                              " declines, column evaluates: " + reason);
  }
  rule.terminators = history.column(rule.plan->states[0].scan.column);
  rule.terminator_column = rule.terminators->id();
  rule.has_timer = rule.rule().timer.has_value();
  rule.has_every = rule.rule().every.has_value();
}

ComingRules::ComingRules(std::shared_ptr<CheckedText> text, history::History& history)
    : text_(std::move(text)), history_(history) {
  for (const auto& [type, reads] : text_->reads) {
    if (!reads.reaches.empty()) history_.expect(text_->next.schema.at(type));
  }
}

ComingRules::~ComingRules() {
  history_.stop_filling();
  rules_.clear();
  for (const auto& [type, reads] : text_->reads) {
    if (history_.keeps(type)) {
      history_.release_columns(type);
    } else {
      history_.give_up(type);
    }
  }
}

bool ComingRules::go_on(Time until) {
  constexpr std::size_t kGroup = 64;
  const std::size_t all = text_->plans.size();
  while (rules_.size() < all) {
    history_.ahead([&] {
      for (std::size_t i = 0; i < kGroup && rules_.size() < all; ++i) make_next();
    });
    if (std::chrono::steady_clock::now() >= until) return false;
  }
  return history_.fill(until);
}

void ComingRules::make_next() {
  const auto& plan = text_->plans[rules_.size()];
  auto rule = std::make_unique<DeployedRule>(plan, text_->text,
                                             placement_of(plan->rule, text_->next.default_engine));
  equip(*rule, history_);
  names_.emplace(plan->rule.name, static_cast<std::uint32_t>(rules_.size()));
  rules_.push_back(std::move(rule));
}

}  // namespace gorgo::dispatch
