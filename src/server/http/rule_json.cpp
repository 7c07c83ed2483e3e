#include <utility>

#include "codec/json_text.hpp"
#include "protocol/info.hpp"
#include "server/http/reply_json.hpp"

namespace gorgo::server::http {
namespace {

using protocol::text_of;

template <class T, class Convert>
Json to_list(const flatbuffers::Vector<T>* items, Convert convert) {
  Json list = Json::array();
  if (items == nullptr) return list;
  for (const auto* item : *items) list.push_back(convert(*item));
  return list;
}

template <class T>
Json or_null(const T& value) {
  return value ? Json(*value) : Json();
}

Json cost_json(const wire::EngineCost& cost) {
  return {{"engine", text_of(cost.engine())},
          {"estimate_ns", or_null(cost.estimate())},
          {"measured_ns", or_null(cost.measured())},
          {"upkeep_ns", or_null(cost.upkeep())}};
}

Json rates_json(const wire::RuleRates* rates) {
  if (rates == nullptr) return {};
  return {{"events", rates->events()},
          {"terminators", rates->terminators()},
          {"composites", rates->composites()}};
}

Json latency_json(const wire::RuleLatency* latency) {
  if (latency == nullptr) return {};
  return {{"mean_ms", latency->mean() * 1e3}, {"longest_ms", latency->longest() * 1e3}};
}

Json miss_json(const wire::Miss* miss) {
  if (miss == nullptr) return {};
  return {{"event", text_of(miss->event())},
          {"test", text_of(miss->test())},
          {"found", text_of(miss->found())}};
}

/// The name of an enumerator, as the wire has it.
Json loss_json(const wire::Loss& loss) {
  return {{"kind", wire::EnumNameLossKind(loss.kind())},
          {"test", text_of(loss.test())},
          {"count", loss.count()},
          {"nearest", miss_json(loss.nearest())}};
}

Json step_json(const wire::Step& step) {
  return {{"kind", wire::EnumNameStepKind(step.kind())},
          {"clause", text_of(step.clause())},
          {"sequences", step.sequences()},
          {"candidates", step.candidates()},
          {"passed", step.passed()},
          {"left", step.left()},
          {"losses", to_list(step.losses(), loss_json)},
          {"outside", miss_json(step.outside())}};
}

Json funnel_json(const wire::Funnel& funnel) {
  return {{"event", text_of(funnel.event())},
          {"timestamp_ms", codec::exact_milliseconds(funnel.timestamp())},
          {"outcome", wire::EnumNameOutcome(funnel.outcome())},
          {"forgotten", funnel.forgotten()},
          {"steps", to_list(funnel.steps(), step_json)},
          {"complete", funnel.complete()},
          {"composites", funnel.composites()},
          {"waiting", funnel.waiting()},
          {"cut", funnel.cut()},
          {"number", funnel.number()},
          {"every", funnel.every()},
          {"nearest", miss_json(funnel.nearest())}};
}

}  // namespace

Json to_json(const wire::RuleInfo& rule) {
  Json json = {{"name", text_of(rule.name())},
               {"type", text_of(rule.type())},
               {"engine", text_of(rule.engine())},
               {"automatic", rule.automatic()},
               {"placed_because", text_of(rule.placed_because())},
               {"moves", rule.moves()},
               {"reads", Json::array()},
               {"terminators", rule.terminators()},
               {"composites", rule.composites()},
               {"pending", rule.pending()},
               {"overflows", rule.overflows()},
               {"skipped", rule.skipped()},
               {"declined", rule.declined()},
               {"declined_because", text_of(rule.declined_because())},
               {"suspended", rule.suspended()},
               {"passed_over", rule.passed_over()},
               {"alarm", text_of(rule.alarm())},
               {"bytes", rule.bytes()},
               {"rates", rates_json(rule.rates())},
               {"latency", latency_json(rule.latency())},
               {"costs", to_list(rule.costs(), cost_json)}};
  if (rule.reads() != nullptr) {
    for (const auto* type : *rule.reads()) json["reads"].push_back(type->str());
  }
  if (rule.text() != nullptr && rule.text()->size() > 0) json["text"] = rule.text()->str();
  if (rule.plan() != nullptr && rule.plan()->size() > 0) json["plan"] = rule.plan()->str();
  return json;
}

Json to_json(const wire::HistoryEntry& change) {
  Json json = {{"number", change.number()},
               {"clock", change.clock()},
               {"who", text_of(change.who())},
               {"name", text_of(change.name())},
               {"file", change.file()}};
  if (change.text() != nullptr && change.text()->size() > 0) json["text"] = change.text()->str();
  return json;
}

Json to_json(const wire::Why& why) {
  return {{"rule", text_of(why.rule())},
          {"terminator", text_of(why.terminator())},
          {"evaluated", why.evaluated()},
          {"produced", why.produced()},
          {"funnels", to_list(why.funnels(), funnel_json)}};
}

}  // namespace gorgo::server::http
