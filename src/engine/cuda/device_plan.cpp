#include "engine/cuda/device_plan.hpp"

#include <utility>

#include "engine/cuda/shape_text.hpp"

namespace gorgo::engine {
namespace {

DeviceScan prepare_scan(const plan::Scan& scan, std::optional<std::uint32_t> aggregated,
                        history::History& history) {
  DeviceScan prepared{.scan = &scan, .program = *compile(scan, aggregated)};
  prepared.column = history.column(scan.column);
  std::vector<std::uint32_t> own = prepared.program.attributes;
  std::erase(own, kTimestamps);
  prepared.timeline = prepared.column->timeline(own);
  prepared.reduced_floats =
      aggregated && prepared.column->store().attribute_type(*aggregated) == ValueType::floating;
  return prepared;
}

void put_on(DeviceScan& scan, Session& session) {
  const history::EventStore& store = scan.column->store();
  scan.mirror = session.mirror(store, scan.timeline);
  for (const std::uint32_t attribute : scan.program.attributes) {
    scan.attributes.push_back(scan.mirror->add(attribute));
  }
  scan.shape = shape_of(scan.program, store.is_nullable(), session.device());
}

}  // namespace

DevicePlan prepare_plan(std::shared_ptr<const plan::Plan> plan, history::History& history) {
  DevicePlan prepared;
  const Rule& rule = plan->rule;
  prepared.terminators = &history.store(rule.states[0].predicate.type);
  for (std::size_t i = 1; i < plan->states.size(); ++i) {
    prepared.states.push_back(prepare_scan(plan->states[i].scan, {}, history));
  }
  for (const plan::Scan& scan : plan->negations) {
    prepared.negations.push_back(prepare_scan(scan, {}, history));
  }
  for (std::size_t i = 0; i < plan->aggregates.size(); ++i) {
    prepared.aggregates.push_back(
        prepare_scan(plan->aggregates[i].scan, rule.aggregates[i].attribute, history));
  }
  prepared.plan = std::move(plan);
  return prepared;
}

DevicePlan put_on(const DevicePlan& prepared, Session& session) {
  DevicePlan placed = prepared;
  for (auto* const scans : {&placed.states, &placed.negations, &placed.aggregates}) {
    for (DeviceScan& scan : *scans) put_on(scan, session);
  }
  return placed;
}

}  // namespace gorgo::engine
