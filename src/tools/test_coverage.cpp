#include "tools/test_coverage.hpp"

#include <algorithm>
#include <limits>

#include "gorgo/why.hpp"

namespace gorgo::tools {
namespace {

/// Calls `f(what, exercised)` for everything that a test should exercise, in the same order for
/// every funnel of a rule.
template <class F>
void for_each_item(const Funnel& funnel, F&& f) {
  for (const Step& step : funnel.steps) {
    const bool state = step.kind == Step::Kind::terminator || step.kind == Step::Kind::state;
    if (state) f("never filled: " + step.clause, step.passed > 0);
    for (const Loss& loss : step.losses) {
      switch (loss.kind) {
        case Loss::Kind::negation:
        case Loss::Kind::absence:
          f("never excluded anything: " + loss.test, loss.count > 0);
          break;
        case Loss::Kind::filter:
          f("never dropped a sequence: " + loss.test, loss.count > 0);
          break;
        default:
          break;
      }
    }
  }
  f("never gave a composite", funnel.composites > 0);
}

}  // namespace

void RuleCoverage::add(const std::string& path, Processor& processor) {
  for (const RuleInfo& rule : processor.rules()) {
    auto& items = rules_[{path, rule.name, rule.text}];
    if (items.empty()) items.push_back({"never saw an event of its terminator's type", false});
    const auto why =
        processor.why(rule.name, {.last = std::numeric_limits<std::size_t>::max(), .at = {}});
    for (const Funnel& funnel : why->funnels) {
      items.front().exercised = true;
      std::size_t i = 1;
      for_each_item(funnel, [&](const std::string& what, bool exercised) {
        if (i == items.size()) items.push_back({what, false});
        items[i].exercised = items[i].exercised || exercised;
        ++i;
      });
    }
  }
}

std::size_t RuleCoverage::total() const {
  std::size_t total = 0;
  for (const auto& [key, items] : rules_) total += items.size();
  return total;
}

std::vector<std::string> RuleCoverage::gaps() const {
  std::vector<std::string> lines;
  for (const auto& [key, items] : rules_) {
    for (const Item& item : items) {
      if (!item.exercised) lines.push_back(key.path + ": rule " + key.rule + " " + item.what);
    }
  }
  return lines;
}

}  // namespace gorgo::tools
