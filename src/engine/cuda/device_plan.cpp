#include "engine/cuda/device_plan.hpp"

#include <algorithm>
#include <utility>

#include "engine/cuda/shape_text.hpp"

namespace gorgo::engine {
namespace {

DeviceScan prepare_scan(const plan::Scan& scan, std::optional<std::uint32_t> aggregated,
                        bool consumed, history::History& history) {
  DeviceScan prepared{.scan = &scan, .program = *compile(scan, aggregated, consumed)};
  prepared.column = history.column(scan.column);
  std::vector<std::uint32_t> own = prepared.program.attributes;
  std::erase_if(own, [](std::uint32_t i) { return i == kTimestamps || i == kConsumers; });
  prepared.timeline = prepared.column->timeline(own);
  prepared.reduced_floats =
      aggregated && prepared.column->store().attribute_type(*aggregated) == ValueType::floating;
  return prepared;
}

void put_on(DeviceScan& scan, Session& session) {
  const history::EventStore& store = scan.column->store();
  scan.mirror = session.mirror(store, scan.timeline);
  for (const std::uint32_t attribute : scan.program.attributes) {
    if (attribute == kConsumers) {
      scan.consumed = std::make_shared<ConsumedMarks>(session.shared_from_this(), scan.mirror,
                                                      store, scan.timeline);
    }
    scan.attributes.push_back(attribute == kConsumers ? scan.consumed->number()
                                                      : scan.mirror->add(attribute));
  }
  scan.shape = shape_of(scan.program, store.is_nullable(), session.device());
}

}  // namespace

bool consumes(const Rule& rule, std::uint32_t state) {
  return std::ranges::find(rule.consuming, state) != rule.consuming.end();
}

DevicePlan prepare_plan(std::shared_ptr<const plan::Plan> plan, history::History& history) {
  DevicePlan prepared;
  const Rule& rule = plan->rule;
  prepared.terminators = &history.store(rule.states[0].predicate.type);
  for (std::uint32_t i = 1; i < plan->states.size(); ++i) {
    prepared.states.push_back(prepare_scan(plan->states[i].scan, {}, consumes(rule, i), history));
  }
  for (const plan::Scan& scan : plan->negations) {
    prepared.negations.push_back(prepare_scan(scan, {}, false, history));
  }
  for (std::size_t i = 0; i < plan->aggregates.size(); ++i) {
    prepared.aggregates.push_back(
        prepare_scan(plan->aggregates[i].scan, rule.aggregates[i].attribute, false, history));
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
