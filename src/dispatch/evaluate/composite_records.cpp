#include "dispatch/evaluate/composite_records.hpp"

#include <new>

#include "base/arithmetic.hpp"
#include "dispatch/evaluate/out_of_memory.hpp"

namespace gorgo::dispatch {

bool CompositeRecords::add(const RuleRunner::Part& part) {
  const DeployedRule& rule = rules_.rule(part.rule);
  Batch& batch = wave_.batch();
  const std::size_t records = batch.records.size(), cells = batch.cells.size();
  try {
    add_all(part);
  } catch (const std::bad_alloc&) {
    if (rule.rule().is_sequential() || rule.plan->deadline) {
      throw OutOfMemory("hold the composites of rule", rule.rule().name,
                        "lower engine.max_composites or engine.max_held_bytes");
    }
    batch.records.resize(records);
    batch.cells.resize(cells);
    return false;
  }
  rules_.state(part.rule).composites += batch.records.size() - records;
  wave_.add_composites(batch.records.size() - records);
  wave_.add_composite_cells(batch.cells.size() - cells);
  return true;
}

void CompositeRecords::add_all(const RuleRunner::Part& part) {
  const engine::Request& outcome = runner_.request(part);
  if (outcome.first_composite == outcome.end_composite) return;
  add_cells(part);
  rules_.rule(part.rule).plan->deadline ? add_awaited(part) : add_known(part);
}

/// The cells of a part follow each other in its sink.
void CompositeRecords::add_cells(const RuleRunner::Part& part) {
  const engine::Request& outcome = runner_.request(part);
  const engine::CompositeSink& sink = *outcome.sink;
  const std::size_t first = sink.composites()[outcome.first_composite].first_cell;
  const std::size_t end = sink.composites()[outcome.end_composite - 1].first_cell +
                          rules_.rule(part.rule).rule().assignments.size();
  auto& all = wave_.batch().cells;
  first_cell_ = static_cast<std::uint32_t>(all.size() - first);
  const auto cells = sink.cells().subspan(first, end - first);
  all.insert(all.end(), cells.begin(), cells.end());
}

void CompositeRecords::add_known(const RuleRunner::Part& part) {
  const engine::Request& outcome = runner_.request(part);
  const auto composites =
      std::span(outcome.sink->composites())
          .subspan(outcome.first_composite, outcome.end_composite - outcome.first_composite);
  Batch& batch = wave_.batch();
  // Strings that functions computed belong to the sink until the batch has its own.
  const std::span<const std::uint32_t> computed = rules_.rule(part.rule).plan->computed_texts;
  for (const Composite& composite : composites) {
    batch.records.push_back(record_of(part, composite));
    batch.own_texts(batch.records.back().first_cell, computed);
  }
}

/// Adds composites of a rule with a deadline: those whose deadline is over exist if the absence
/// holds, and the others wait.
void CompositeRecords::add_awaited(const RuleRunner::Part& part) {
  const DeployedRule& rule = rules_.rule(part.rule);
  const engine::Request& outcome = runner_.request(part);
  const engine::CompositeSink& sink = *outcome.sink;
  Batch& batch = wave_.batch();
  for (std::size_t i = outcome.first_composite;
       i < outcome.end_composite && !stop_.load(std::memory_order_relaxed); ++i) {
    const Composite& composite = sink.composites()[i];
    const auto events = sink.events().subspan(composite.first_event, rule.rule().states.size());
    Record record = record_of(part, composite);
    batch.own_texts(record.first_cell, rule.plan->computed_texts);
    const Timestamp deadline = arithmetic::saturating_add(record.timestamp, *rule.plan->deadline);
    if (deadline > clock_) {
      await_deadline(deadline, record, events);
      continue;
    }
    rules_.state(part.rule).own_timed().decided.push_back(
        {events[0].slot, record.sequence, record.root + 1});
    if (!rule.is_absent(events)) continue;
    const auto cells = std::span<const Datum>(batch.cells)
                           .subspan(record.first_cell, rule.rule().assignments.size());
    if (!rules_.state(part.rule).admit(rule.rule(), cells, deadline, events[0].slot)) continue;
    // What brought it about has an earlier timestamp and the same root.
    batch.ordered_before = std::min(batch.ordered_before, record.timestamp);
    record.timestamp = deadline;
    batch.records.push_back(record);
  }
}

Record CompositeRecords::record_of(const RuleRunner::Part& part, const Composite& composite) const {
  const DeployedRule& rule = rules_.rule(part.rule);
  const auto& queue = queues_.of(rule);
  const std::uint32_t producer = queue[runner_.tag(part, composite.terminator)].record;
  const Record& terminator = wave_.batch().records[producer];
  return {.type = rule.rule().type,
          .timestamp = terminator.timestamp,
          .root = terminator.root,
          .depth = terminator.depth + 1,
          .producer = producer,
          .rule = part.rule,
          .sequence = composite.sequence,
          .first_cell = static_cast<std::uint32_t>(first_cell_ + composite.first_cell)};
}

void CompositeRecords::await_deadline(Timestamp deadline, const Record& composite,
                                      std::span<const history::EventRef> sequence) {
  const Rule& rule = rules_.rule(composite.rule).rule();
  engine::RuleState& state = rules_.state(composite.rule);
  // Every composite that fires is a root of its own, so the limits of a root do not bound what
  // rules do that feed each other through deadlines.
  if (state.timed().pending.size() >= rule.options.max_sequences) {
    ++state.overflows;
    return;
  }
  const Batch& batch = wave_.batch();
  const std::size_t width = rule.assignments.size();
  const auto cells = std::span<const Datum>(batch.cells).subspan(composite.first_cell, width);
  engine::PendingComposite pending{.terminator = place_key(batch.records, composite.producer),
                                   .sequence = composite.sequence,
                                   .cells = {cells.begin(), cells.end()},
                                   .texts = {},
                                   .events = {sequence.begin(), sequence.end()}};
  const auto& computed = rules_.rule(composite.rule).plan->computed_texts;
  if (!computed.empty()) {
    auto texts = std::make_shared<std::vector<std::string>>(computed.size());
    for (std::size_t i = 0; i < computed.size(); ++i) {
      Datum& cell = pending.cells[computed[i]];
      (*texts)[i] = cell.text();
      cell = Datum::of(std::string_view((*texts)[i]));
    }
    pending.texts = std::move(texts);
  }
  state.own_timed().pending.emplace(deadline, std::move(pending));
}

}  // namespace gorgo::dispatch
