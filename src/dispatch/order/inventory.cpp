#include "dispatch/order/inventory.hpp"

#include <iterator>
#include <utility>

#include "plan/reads.hpp"

namespace gorgo::dispatch {
namespace {

std::vector<EngineCost> costs_of(const Placement& placement) {
  std::vector<EngineCost> costs;
  for (const EngineEntry& entry : placement.entries()) {
    if (!entry.estimate && !entry.cost.per_terminator()) continue;
    costs.push_back({.engine = std::string(entry.engine->name()),
                     .estimate = entry.estimate,
                     .measured = entry.cost.per_terminator(),
                     .upkeep = entry.upkeep.per_terminator()});
  }
  return costs;
}

std::vector<std::string> types_read(const plan::Plan& plan, const Schema& schema) {
  std::vector<std::string> names;
  for (const TypeId type : plan::types_read(plan)) {
    if (type != kTimerType) names.push_back(schema.at(type).name);
  }
  return names;
}

}  // namespace

RuleCounters Inventory::counters_of(const DeployedRule& rule) const {
  RuleCounters result{.serial = rule.serial,
                      .terminators = rule.state.terminators,
                      .composites = rule.state.composites};
  for (const auto& [type, reach] : rule.plan->reach) result.events += history_.store(type).count();
  result.events -= rule.events_before;
  return result;
}

RuleInfo Inventory::info_of(const DeployedRule& deployed) const {
  const Rule& rule = deployed.rule();
  const Placement& placement = deployed.placement;
  const RuleCounters done = counters_of(deployed);
  engine::Declined declined;
  for (const auto& evaluator : placement.entry().evaluators) {
    declined.terminators += evaluator->declined().terminators;
    if (declined.reason.empty()) declined.reason = evaluator->declined().reason;
  }
  std::vector<std::string> actions;
  for (const Action& action : rule.actions) actions.push_back(action.text());
  return {.serial = deployed.serial,
          .name = rule.name,
          .type = rules_.schema().at(rule.type).name,
          .engine = placement.arrangement().to_string(),
          .text = rule.text,
          .reads = types_read(*deployed.plan, rules_.schema()),
          .events = done.events,
          .terminators = done.terminators,
          .composites = done.composites,
          .overflows = deployed.state.overflows,
          .max_sequences = rule.options.max_sequences,
          .pending = deployed.state.timed().pending.size(),
          .skipped = deployed.state.timed().skipped_instants,
          .bytes = deployed.state.bytes() + placement.bytes(),
          .declined = declined.terminators,
          .declined_because = std::string(declined.reason),
          .automatic = placement.is_automatic(),
          .placed_because = placement.reason(),
          .moves = placement.moves(),
          .costs = costs_of(placement),
          .alarm = placement.alarm(),
          .suspended = deployed.state.suspended,
          .passed_over = deployed.state.passed_over,
          .rates = {},
          .attributes = {},
          .actions = std::move(actions),
          .plan = {}};
}

TypeInfo Inventory::info_of(const std::string& name, TypeId type) const {
  const auto late = sequencer_.late(type);
  TypeInfo info{.name = name,
                .reach = history_.reach(type),
                .reach_of_panes = rules_.reach_of_panes(type),
                .events = 0,
                .bytes = history_.bytes(type),
                .late = late.late,
                .too_late = late.too_late,
                .seen = 0,
                .attributes = rules_.schema().at(type).attributes};
  if (rules_.schema().at(type).joint()) info.attributes.pop_back();  // the hidden one
  if (history_.keeps(type)) {  // else rules read it by joint types only
    const history::EventStore& store = history_.store(type);
    info.events = store.end() - store.begin();
    info.seen = store.count();
  }
  add_arrivals(info, type);
  if (!history_.keeps(type)) info.seen = seen_by_joints(type);
  return info;
}

std::uint64_t Inventory::seen_by_joints(TypeId type) const {
  const auto arrived = arrivals_.types().find(rules_.schema().at(type).name);
  std::uint64_t seen = arrived == arrivals_.types().end() ? 0 : arrived->second.accepted;
  rules_.for_each(0, rules_.size(), [&](const DeployedRule& rule) {
    if (rule.rule().type == type) seen += rule.state.composites;
  });
  for (const TypeId joint : rules_.types().joints_of(type)) {
    if (rules_.schema().at(joint).table()) seen = history_.store(joint).count();
  }
  return seen;
}

void Inventory::add_arrivals(TypeInfo& info, TypeId type) const {
  const auto arrived = arrivals_.types().find(info.name);
  const bool is_composite = rules_.schema().at(type).origin == TypeOrigin::composite;
  for (std::uint32_t i = 0; i < info.attributes.size(); ++i) {
    const std::string& name = info.attributes[i].name;
    const bool is_read = rules_.types().reads(type, i);
    const bool came = arrived != arrivals_.types().end() && arrived->second.accepted > 0;
    const bool has_come = came && arrived->second.attributes.contains(name);
    if (is_read && came && !has_come && !is_composite) info.missing_attributes.push_back(name);
    if (!is_read && has_come) info.unread_attributes.push_back(name);
  }
  if (arrived == arrivals_.types().end()) return;
  info.accepted = arrived->second.accepted;
  info.no_value = arrived->second.no_value;
  const EventType& known = rules_.schema().at(type);
  for (const std::string& name : arrived->second.attributes) {
    if (!known.find(name)) info.unread_attributes.push_back(name);
  }
}

std::vector<TypeInfo> Inventory::unread_types() const {
  std::vector<TypeInfo> unread;
  for (const auto& [name, type] : arrivals_.types()) {
    if (type.accepted == 0 || rules_.types().by_name().contains(name)) continue;
    TypeInfo& info = unread.emplace_back();
    info.name = name;
    info.accepted = type.accepted;
    info.is_unread = true;
    info.unread_attributes.assign(type.attributes.begin(), type.attributes.end());
  }
  return unread;
}

TypeInfo Inventory::other_types() const {
  TypeInfo others;
  others.late = counters_.late;
  others.too_late = counters_.too_late;
  for (const auto& [name, type] : rules_.types().by_name()) {
    const auto late = sequencer_.late(type);
    others.late -= late.late;
    others.too_late -= late.too_late;
  }
  return others;
}

std::vector<TypeInfo> Inventory::types(std::size_t first, std::size_t count) const {
  const auto& types = rules_.types().by_name();
  std::vector<TypeInfo> list;
  if (first < types.size()) {
    for (auto type = std::next(types.begin(), static_cast<std::ptrdiff_t>(first));
         type != types.end() && list.size() < count; ++type) {
      list.push_back(info_of(type->first, type->second));
    }
  }
  if (list.size() == count) return list;
  auto rest = unread_types();
  const TypeInfo others = other_types();
  if (others.late + others.too_late > 0) rest.push_back(others);
  const std::size_t skipped = first + list.size() - types.size();
  for (std::size_t i = skipped; i < rest.size() && list.size() < count; ++i) {
    list.push_back(std::move(rest[i]));
  }
  return list;
}

std::size_t Inventory::type_count() const {
  const TypeInfo others = other_types();
  return rules_.types().by_name().size() + unread_types().size() +
         (others.late + others.too_late > 0 ? 1 : 0);
}

}  // namespace gorgo::dispatch
