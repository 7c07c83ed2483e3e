#include "engine/cuda/device_plan.hpp"

#include <algorithm>
#include <utility>

#include "engine/cuda/shape_text.hpp"

namespace gorgo::engine {
namespace {

DeviceScan prepare_scan(const plan::Scan& scan, Program program, history::History& history) {
  DeviceScan prepared{.scan = &scan, .program = std::move(program)};
  prepared.column = history.column(scan.column);
  std::vector<std::uint32_t> attributes;
  for (const Field& field : prepared.program.fields) {
    if (field.is_attribute()) attributes.push_back(field.attribute);
  }
  prepared.timeline = prepared.column->timeline(attributes);
  return prepared;
}

DeviceScan prepare_aggregate(const plan::Scan& scan, std::optional<std::uint32_t> aggregated,
                             history::History& history) {
  DeviceScan prepared = prepare_scan(scan, *compile(scan, aggregated), history);
  prepared.reduced_floats =
      aggregated && prepared.column->store().attribute_type(*aggregated) == ValueType::floating;
  return prepared;
}

/// The state's negations as they are tested with its choice, or none when one of them cannot be;
/// what they read of a candidate is added to the state's program.
std::vector<Program> compile_negations(const plan::Plan& plan, std::uint32_t state,
                                       Program& program) {
  Program chosen = program;
  std::vector<Program> negations;
  for (const std::uint32_t i : plan.states[state].negations) {
    auto negation = compile_inside(plan.negations[i], plan.rule.negations[i].span, state, chosen);
    if (!negation) return {};
    negations.push_back(std::move(*negation));
  }
  program = std::move(chosen);
  return negations;
}

DeviceScan prepare_state(const plan::Plan& plan, std::uint32_t state, bool with_negations,
                         history::History& history) {
  const plan::Scan& scan = plan.states[state].scan;
  Program program = *compile(scan, {}, consumes(plan.rule, state));
  std::vector<Program> negations;
  if (with_negations) negations = compile_negations(plan, state, program);
  DeviceScan prepared = prepare_scan(scan, std::move(program), history);
  for (std::size_t i = 0; i < negations.size(); ++i) {
    const plan::Scan& negation = plan.negations[plan.states[state].negations[i]];
    prepared.negations.push_back(prepare_scan(negation, std::move(negations[i]), history));
  }
  return prepared;
}

ShapedProgram shaped(const DeviceScan& scan) {
  return {&scan.program, scan.column->store().is_nullable()};
}

void put_column_on(DeviceScan& scan, DeviceContext& context) {
  const history::EventStore& store = scan.column->store();
  scan.mirror = context.mirror(store, scan.timeline);
  for (const Field& field : scan.program.fields) {
    if (field.kind == Field::Kind::consumer) {
      scan.consumed = std::make_shared<ConsumedMarks>(context.shared_from_this(), scan.mirror,
                                                      store, scan.timeline);
      scan.fields.push_back(&scan.consumed->field());
    } else {
      scan.fields.push_back(&scan.mirror->add(field));
    }
  }
}

void find_shapes(DeviceScan& scan, DeviceContext& context) {
  scan.shape = shape_of(shaped(scan), {}, context.device());
  if (scan.negations.empty()) return;
  std::vector<ShapedProgram> negations;
  for (const DeviceScan& negation : scan.negations) negations.push_back(shaped(negation));
  scan.shape_with_negations = shape_of(shaped(scan), negations, context.device());
}

}  // namespace

bool consumes(const Rule& rule, std::uint32_t state) {
  return std::ranges::find(rule.consuming, state) != rule.consuming.end();
}

DevicePlan prepare_plan(std::shared_ptr<const plan::Plan> plan, history::History& history,
                        std::uint64_t longest_inside) {
  DevicePlan prepared{.longest_inside = longest_inside};
  const Rule& rule = plan->rule;
  prepared.terminators = &history.store(rule.states[0].predicate.type);
  for (std::uint32_t i = 1; i < plan->states.size(); ++i) {
    prepared.states.push_back(prepare_state(*plan, i, longest_inside > 0, history));
  }
  for (const plan::Scan& scan : plan->negations) {
    prepared.negations.push_back(prepare_scan(scan, *compile(scan, {}), history));
  }
  for (std::size_t i = 0; i < plan->aggregates.size(); ++i) {
    prepared.aggregates.push_back(
        prepare_aggregate(plan->aggregates[i].scan, rule.aggregates[i].attribute, history));
  }
  prepared.plan = std::move(plan);
  return prepared;
}

DevicePlan put_on(const DevicePlan& prepared, DeviceContext& context) {
  DevicePlan placed = prepared;
  for_each_scan(placed, [&](DeviceScan& scan) { put_column_on(scan, context); });
  for (auto* const scans : {&placed.states, &placed.negations, &placed.aggregates}) {
    for (DeviceScan& scan : *scans) find_shapes(scan, context);
  }
  return placed;
}

}  // namespace gorgo::engine
