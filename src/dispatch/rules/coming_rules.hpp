#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "dispatch/rules/deployed_rule.hpp"
#include "dispatch/rules/rule_base.hpp"
#include "history/history.hpp"

namespace gorgo::dispatch {

/// Makes the evaluators of a rule on its present engine, and what else goes by its plan.
void equip(DeployedRule& rule, history::History& history);

/// The rules of a checked text on their way into force: all that takes long is done to them piece
/// by piece, while events come, which none of them sees. What they search is filled with what is
/// remembered. One thread.
class ComingRules {
 public:
  using Time = std::chrono::steady_clock::time_point;

  /// Precondition: the text has no errors. The history must outlive this.
  ComingRules(std::shared_ptr<CheckedText> text, history::History& history);
  /// Has the history forget what it has for these rules only, unless they are in force.
  ~ComingRules();
  ComingRules(const ComingRules&) = delete;
  ComingRules& operator=(const ComingRules&) = delete;

  bool are_of(const CheckedText& text) const { return text_.get() == &text; }
  bool read(TypeId type) const { return text_->reads.contains(type); }
  /// Makes some of the rules. Returns whether all are ready; else the time is over.
  bool go_on(Time until);

  CheckedText& text() { return *text_; }
  /// In the order of the text. They have neither a serial nor a moment of deployment.
  std::vector<std::unique_ptr<DeployedRule>>& rules() { return rules_; }
  /// By full name, where it stands among `rules`.
  std::map<std::string, std::uint32_t, std::less<>>& names() { return names_; }

 private:
  std::shared_ptr<CheckedText> text_;
  history::History& history_;
  std::vector<std::unique_ptr<DeployedRule>> rules_;
  std::map<std::string, std::uint32_t, std::less<>> names_;

  void make_next();
};

}  // namespace gorgo::dispatch
