#include "tools/explained.hpp"

#include <string>

#include "engine/engine.hpp"
#include "gorgo/processor.hpp"

namespace gorgo::tools {
namespace {

std::string with_reason(const std::string& name, const plan::Plan& plan) {
  const auto* const engine = engine::find_engine(name);
  const std::string reason = engine == nullptr ? "" : engine->reason_to_decline(plan);
  return reason.empty() ? name : name + " declines, column evaluates: " + reason;
}

}  // namespace

plan::Explanation explained(const RuleSources& sources) {
  auto explanation = plan::explain(sources.plans(), sources.schema());
  for (std::size_t i = 0; i < explanation.rules.size(); ++i) {
    std::string& engine = explanation.rules[i].engine;
    if (engine.empty()) engine = std::string(kAutomatic) + " (default)";
    engine = with_reason(engine, *sources.plans()[i]);
  }
  return explanation;
}

}  // namespace gorgo::tools
