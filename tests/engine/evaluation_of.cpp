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
};

void announce(const Engine& engine, std::span<Deployed> rules, unsigned threads) {
  std::vector<Announcement> announced;
  for (Deployed& rule : rules) {
    if (rule.slots.empty()) continue;
    announced.push_back({.evaluator = rule.evaluator.get(),
                         .terminators = {.slots = rule.slots},
                         .state = &rule.state});
  }
  const std::atomic<bool> stop = false;
  engine.announce(announced, threads, stop);
}

void evaluate(Deployed& rule, std::vector<std::string>& lines) {
  CompositeSink sink;
  for (std::size_t done = 0; done < rule.slots.size();) {
    sink.clear();
    sink.begin_rule(rule.plan->rule, rule.state, false);
    const auto slots = std::span<const history::Slot>(rule.slots).subspan(done);
    done += rule.evaluator->evaluate({.slots = slots}, rule.state, {}, sink);
    for (const auto& composite : sink.composites()) {
      std::string line = rule.plan->rule.name;
      for (std::size_t i = 0; i < rule.plan->rule.assignments.size(); ++i) {
        line += " " + text_of(sink.cells()[composite.first_cell + i]);
      }
      lines.push_back(std::move(line));
    }
  }
  rule.slots.clear();
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
    announce(engine, deployed, threads);
    for (Deployed& rule : deployed) evaluate(rule, lines);
    if (!batch.empty()) history.evict(batch.back().timestamp);
  }
  return lines;
}

}  // namespace gorgo::engine
