#include "evaluation_of.hpp"

#include <bit>
#include <map>

#include "language/language.hpp"
#include "plan/plan.hpp"

namespace gorgo::engine {
namespace {

std::string text_of(const Datum& value) {
  switch (value.tag) {
    case Datum::Tag::floating:
      return std::to_string(std::bit_cast<std::uint64_t>(value.floating));
    case Datum::Tag::integer:
      return std::to_string(value.integer);
    case Datum::Tag::boolean:
      return value.boolean ? "true" : "false";
    case Datum::Tag::string:
      return std::string(value.text());
    case Datum::Tag::none:
      break;
  }
  return "none";
}

struct Deployed {
  std::shared_ptr<const plan::Plan> plan;
  std::shared_ptr<history::Column> terminators;
  std::unique_ptr<Evaluator> evaluator;
  RuleState state;
  std::vector<history::Slot> slots;  // of the batch
  std::vector<std::string> lines;    // of its composites
};

void add_composites(Deployed& rule, const CompositeSink& sink) {
  for (const auto& composite : sink.composites()) {
    std::string line = rule.plan->rule.name;
    for (std::size_t i = 0; i < rule.plan->rule.assignments.size(); ++i) {
      line += " " + text_of(sink.cells()[composite.first_cell + i]);
    }
    rule.lines.push_back(std::move(line));
  }
}

/// Evaluates the terminators of the batch, with all rules in one call.
void evaluate(const Engine& engine, std::span<Deployed> rules, unsigned threads) {
  while (true) {
    std::vector<Request> requests;
    std::vector<Deployed*> asked;
    for (Deployed& rule : rules) {
      if (rule.slots.empty()) continue;
      asked.push_back(&rule);
      requests.push_back({.evaluator = rule.evaluator.get(),
                          .rule = &rule.plan->rule,
                          .state = &rule.state,
                          .terminators = {.slots = rule.slots}});
    }
    if (requests.empty()) return;
    std::vector<CompositeSink> sinks(requests.size());
    for (std::size_t i = 0; i < sinks.size(); ++i) requests[i].sink = &sinks[i];
    engine.evaluate(requests, {.stop = nullptr, .threads = threads});
    for (std::size_t i = 0; i < sinks.size(); ++i) {
      add_composites(*asked[i], sinks[i]);
      auto& slots = asked[i]->slots;
      slots.erase(slots.begin(), slots.begin() + static_cast<std::ptrdiff_t>(requests[i].done));
    }
  }
}

}  // namespace

std::vector<std::string> evaluation_of(const Engine& engine, const std::string& rules,
                                       const std::vector<std::vector<TestEvent>>& batches,
                                       unsigned threads) {
  language::BoundFile bound = language::compile({"test.tesla", rules}, Schema());
  if (bound.diagnostics.failed()) return {bound.diagnostics.render()};
  std::map<TypeId, Duration> reach;
  history::History history;  // outlives the evaluators
  std::vector<Deployed> deployed;
  for (Rule& rule : bound.rules) {
    auto plan = std::make_shared<plan::Plan>(plan::make_plan(std::move(rule)));
    for (const auto& [type, duration] : plan->reach) {
      reach[type] = std::max(reach[type], duration);
    }
    deployed.push_back({.plan = plan, .state = RuleState(plan->rule)});
  }
  for (const auto& [type, duration] : reach) history.keep(bound.schema.at(type), duration);
  for (Deployed& rule : deployed) {
    rule.evaluator = engine.prepare(rule.plan, history);
    rule.terminators = history.column(rule.plan->states[0].scan.column);
  }

  std::vector<std::string> lines;
  std::uint64_t root = 0;
  for (const auto& batch : batches) {
    for (const TestEvent& event : batch) {
      const TypeId type = bound.schema.find(event.type)->id;
      const std::vector<Datum> cells = {Datum::of(event.k), Datum::of(event.v),
                                        Datum::of(std::string_view(event.s))};
      history.append(type, event.timestamp, ++root, cells);
    }
    for (TypeId type = 0; type < bound.schema.size(); ++type) {
      if (!history.keeps(type)) continue;
      for (const auto& [column, slot] : history.settle(type)) {
        for (Deployed& rule : deployed) {
          if (rule.terminators.get() == column) rule.slots.push_back(slot);
        }
      }
    }
    evaluate(engine, deployed, threads);
    for (Deployed& rule : deployed) {
      lines.insert(lines.end(), rule.lines.begin(), rule.lines.end());
      rule.lines.clear();
    }
    if (!batch.empty()) history.evict(batch.back().timestamp);
  }
  return lines;
}

}  // namespace gorgo::engine
