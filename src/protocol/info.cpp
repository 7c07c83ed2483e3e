#include "protocol/info.hpp"

#include <utility>

namespace gorgo::protocol {
namespace {

std::unique_ptr<wire::RuleRatesT> rates_to_wire(const RuleRates& rates) {
  auto wired = std::make_unique<wire::RuleRatesT>();
  wired->seconds = rates.seconds;
  wired->events = rates.events;
  wired->terminators = rates.terminators;
  wired->composites = rates.composites;
  return wired;
}

RuleRates to_rates(const wire::RuleRates& rates) {
  return {.seconds = rates.seconds(),
          .events = rates.events(),
          .terminators = rates.terminators(),
          .composites = rates.composites()};
}

std::unique_ptr<wire::RuleLatencyT> latency_to_wire(const RuleLatency& latency) {
  auto wired = std::make_unique<wire::RuleLatencyT>();
  wired->mean = latency.mean;
  wired->longest = latency.longest;
  return wired;
}

std::unique_ptr<wire::EngineCostT> cost_to_wire(const EngineCost& cost) {
  auto wired = std::make_unique<wire::EngineCostT>();
  wired->engine = cost.engine;
  if (cost.estimate) wired->estimate = *cost.estimate;
  if (cost.measured) wired->measured = *cost.measured;
  if (cost.upkeep) wired->upkeep = *cost.upkeep;
  return wired;
}

EngineCost to_cost(const wire::EngineCost& cost) {
  EngineCost known{.engine = cost.engine()->str(), .estimate = {}, .measured = {}, .upkeep = {}};
  if (cost.estimate()) known.estimate = *cost.estimate();
  if (cost.measured()) known.measured = *cost.measured();
  if (cost.upkeep()) known.upkeep = *cost.upkeep();
  return known;
}

/// Attributes of types that a later version has are left out.
std::vector<AttributeType> attributes_of(
    const flatbuffers::Vector<flatbuffers::Offset<wire::AttributeType>>* attributes) {
  std::vector<AttributeType> result;
  if (attributes == nullptr) return result;
  for (const auto* attribute : *attributes) {
    if (attribute->type() > wire::ValueType::MAX) continue;
    result.push_back({attribute->name()->str(), static_cast<ValueType>(attribute->type())});
  }
  return result;
}

}  // namespace

std::string text_of(const flatbuffers::String* text) { return text == nullptr ? "" : text->str(); }

std::unique_ptr<wire::RuleInfoT> to_wire(const RuleInfo& rule, bool with_text) {
  auto info = std::make_unique<wire::RuleInfoT>();
  info->name = rule.name;
  info->type = rule.type;
  info->engine = rule.engine;
  if (with_text) {
    info->text = rule.text;
    info->plan = rule.plan;
  }
  info->terminators = rule.terminators;
  info->composites = rule.composites;
  info->overflows = rule.overflows;
  info->pending = rule.pending;
  info->skipped = rule.skipped;
  info->bytes = rule.bytes;
  info->declined = rule.declined;
  info->declined_because = rule.declined_because;
  info->reads = rule.reads;
  info->actions = rule.actions;
  info->automatic = rule.automatic;
  info->placed_because = rule.placed_because;
  info->moves = rule.moves;
  for (const EngineCost& cost : rule.costs) info->costs.push_back(cost_to_wire(cost));
  info->alarm = rule.alarm;
  info->suspended = rule.suspended;
  info->passed_over = rule.passed_over;
  if (rule.rates) info->rates = rates_to_wire(*rule.rates);
  if (rule.latency) info->latency = latency_to_wire(*rule.latency);
  return info;
}

RuleInfo to_rule(const wire::RuleInfo& rule) {
  RuleInfo info;
  info.name = rule.name()->str();
  info.type = rule.type()->str();
  info.engine = text_of(rule.engine());
  info.text = text_of(rule.text());
  info.plan = text_of(rule.plan());
  info.terminators = rule.terminators();
  info.composites = rule.composites();
  info.overflows = rule.overflows();
  info.pending = rule.pending();
  info.skipped = rule.skipped();
  info.bytes = rule.bytes();
  info.declined = rule.declined();
  info.declined_because = text_of(rule.declined_because());
  if (rule.reads() != nullptr) {
    for (const auto* type : *rule.reads()) info.reads.push_back(type->str());
  }
  if (rule.actions() != nullptr) {
    for (const auto* action : *rule.actions()) info.actions.push_back(action->str());
  }
  info.automatic = rule.automatic();
  info.placed_because = text_of(rule.placed_because());
  info.moves = rule.moves();
  if (rule.costs() != nullptr) {
    for (const auto* cost : *rule.costs()) info.costs.push_back(to_cost(*cost));
  }
  info.alarm = text_of(rule.alarm());
  info.suspended = rule.suspended();
  info.passed_over = rule.passed_over();
  if (const auto* rates = rule.rates()) info.rates = to_rates(*rates);
  if (const auto* latency = rule.latency()) {
    info.latency = RuleLatency{.mean = latency->mean(), .longest = latency->longest()};
  }
  info.attributes = attributes_of(rule.attributes());
  return info;
}

std::vector<std::string> texts_of(
    const flatbuffers::Vector<flatbuffers::Offset<flatbuffers::String>>* texts) {
  std::vector<std::string> result;
  if (texts == nullptr) return result;
  for (const auto* text : *texts) result.push_back(text->str());
  return result;
}

std::unique_ptr<wire::TypeInfoT> to_wire(const TypeInfo& type) {
  auto info = std::make_unique<wire::TypeInfoT>();
  info->name = type.name;
  info->reach = type.reach;
  info->events = type.events;
  info->bytes = type.bytes;
  info->late = type.late;
  info->too_late = type.too_late;
  info->seen = type.seen;
  info->accepted = type.accepted;
  info->no_value = type.no_value;
  info->unread = type.is_unread;
  info->subscribed = type.is_subscribed;
  info->unread_attributes = type.unread_attributes;
  info->missing_attributes = type.missing_attributes;
  return info;
}

TypeInfo to_type(const wire::TypeInfo& type) {
  return {.name = type.name()->str(),
          .reach = type.reach(),
          .events = type.events(),
          .bytes = type.bytes(),
          .late = type.late(),
          .too_late = type.too_late(),
          .seen = type.seen(),
          .attributes = attributes_of(type.attributes()),
          .accepted = type.accepted(),
          .no_value = type.no_value(),
          .is_unread = type.unread(),
          .is_subscribed = type.subscribed(),
          .unread_attributes = texts_of(type.unread_attributes()),
          .missing_attributes = texts_of(type.missing_attributes()),
          .is_inferred = type.inferred()};
}

}  // namespace gorgo::protocol
