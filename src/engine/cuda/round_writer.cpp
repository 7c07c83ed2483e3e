#include "engine/cuda/round_writer.hpp"

#include <algorithm>
#include <cassert>

#include "cuda/shape.hpp"
#include "engine/cuda/interval.hpp"
#include "history/evaluate.hpp"

namespace gorgo::engine {
namespace {

std::uint32_t shape_for(const DeviceScan& scan, DeviceScan::Variant variant) {
  switch (variant) {
    case DeviceScan::shaped:
      return scan.shape;
    case DeviceScan::with_negations:
      return scan.shape_with_negations;
    case DeviceScan::any_shape_with_negations:
      return gpu::kAnyShapeWithNegations;
    case DeviceScan::any_shape:
    case DeviceScan::disordered:
      break;
  }
  return gpu::kAnyShape;
}

}  // namespace

void RoundWriter::begin() {
  number_ = context_.next_number();
  if (use_ == Use::exclusive) context_.pages().begin_round();
  round_.clear();
  tables_.clear();
  operands_.begin();
  known_ = 0;
  round_.most_listed = most_listed();
}

const gpu::Round& RoundWriter::finish() {
  for (const Table& table : tables_) table.field->write_table(table.placed, round_);
  if (use_ == Use::exclusive) context_.pages().fetch();
  round_.fetched = context_.pages().awaited();
  return round_;
}

std::optional<AnswerAt> RoundWriter::add(DeviceScan& scan, history::Range range,
                                         std::span<const history::EventRef> sequence, bool in_order,
                                         gpu::Want want, std::uint32_t limit,
                                         std::span<const InsideNegation> negations) {
  if (range.empty()) return std::nullopt;
  const history::Scope scope{.candidate = {}, .states = sequence, .aggregates = {}};
  const auto operands = add_operands(scan, range, scope, in_order);
  if (!operands) return std::nullopt;
  // What was released before the terminator has a lower root.
  if (!in_order) {
    round_.bounds.push_back(
        interval_of_integers(Op::less, Datum::of(static_cast<std::int64_t>(sequence[0].root()))));
  }
  const auto first_negation = static_cast<std::uint32_t>(round_.negations.size());
  for (const InsideNegation& negation : negations) add_negation(negation, scope);
  const bool any_shape = !operands_.all_exist_from(*operands);
  const auto variant = !negations.empty() ? any_shape ? DeviceScan::any_shape_with_negations
                                                      : DeviceScan::with_negations
                       : !in_order        ? DeviceScan::disordered
                       : any_shape        ? DeviceScan::any_shape
                                          : DeviceScan::shaped;
  gpu::Search search{.first = range.first,
                     .last = range.last,
                     .scan = place(scan, variant),
                     .bounds = operands->bounds,
                     .cells = operands->cells,
                     .limit = limit,
                     .first_negation = first_negation};
  if (want == gpu::Want::oldest || want == gpu::Want::newest) {
    search.output = round_.selected;
    round_.selected += limit;
  }
  auto& list = want == gpu::Want::oldest   ? round_.oldest
               : want == gpu::Want::newest ? round_.newest
               : want == gpu::Want::every  ? round_.every
               : want == gpu::Want::sum    ? round_.sums
                                           : round_.reductions;
  list.push_back(search);
  return AnswerAt{static_cast<std::uint32_t>(list.size() - 1), search.output};
}

/// Returns nothing when nothing can be found.
std::optional<OperandWriter::Operands> RoundWriter::add_operands(DeviceScan& scan,
                                                                 const history::Range& range,
                                                                 const history::Scope& scope,
                                                                 bool in_order) {
  const bool guarded = std::ranges::all_of(
      scan.program.guards, [&](const Expr* guard) { return history::holds(*guard, scope); });
  if (!guarded) return std::nullopt;
  // This stands before the bounds, since strings get their codes from the mirror.
  if (use_ == Use::exclusive) need(scan, range, in_order);
  assert(has(scan, range));
  return operands_.add(scan.program, scope);
}

void RoundWriter::add_negation(const InsideNegation& negation, const history::Scope& scope) {
  gpu::NegationSearch& search = round_.negations.emplace_back();
  if (negation.range.empty()) return;
  const auto operands = add_operands(*negation.scan, negation.range, scope, true);
  if (!operands) return;
  search = {.first = negation.range.first,
            .last = negation.range.last,
            .scan = place(*negation.scan, DeviceScan::any_shape),
            .bounds = operands->bounds,
            .cells = operands->cells,
            .interval = negation.ends};
}

void RoundWriter::need(DeviceScan& scan, const history::Range& range, bool in_order) {
  Mirror& mirror = *scan.mirror;
  const std::uint64_t round = context_.pages().round();
  if (scan.synchronised != round) {
    scan.synchronised = round;
    scan.needed[0] = scan.needed[1] = {};
    mirror.sync();
    if (scan.consumed) scan.consumed->sync();
  }
  // Searches that stand side by side mostly need the same.
  const PageRange pages = mirror.pages_of(range);
  PageRange& needed = scan.needed[in_order ? 1 : 0];
  if (pages.first >= needed.first && pages.last <= needed.last) return;
  for (MirroredField* const field : scan.fields) field->need(pages);
  if (!in_order) scan.roots().need(pages);
  const bool touches = pages.first <= needed.last && pages.last >= needed.first;
  needed = !touches
               ? pages
               : PageRange{std::min(pages.first, needed.first), std::max(pages.last, needed.last)};
}

bool RoundWriter::has(const DeviceScan& scan, const history::Range& range) const {
  const PageRange pages = scan.mirror->pages_of(range);
  return std::ranges::all_of(scan.fields,
                             [&](const MirroredField* field) { return field->has(pages); });
}

gpu::Attribute RoundWriter::place_field(const MirroredField& field) {
  tables_.push_back({&field, field.place(round_)});
  return tables_.back().placed;
}

std::uint32_t RoundWriter::place(DeviceScan& scan, DeviceScan::Variant variant) {
  DeviceScan::Placed& placed = scan.placed[variant];
  if (placed.round == number_) return placed.scan;
  const Program& program = scan.program;
  gpu::Scan scan_placed{.attributes = static_cast<std::uint32_t>(round_.attributes.size()),
                        .first_test = static_cast<std::uint32_t>(round_.tests.size()),
                        .tests = static_cast<std::uint32_t>(program.tests.size()),
                        .first_instruction = static_cast<std::uint32_t>(round_.instructions.size()),
                        .instructions = static_cast<std::uint32_t>(program.code.size()),
                        .reduced = program.reduced,
                        .reduced_floats = scan.reduced_floats,
                        .time = program.time,
                        .shape = shape_for(scan, variant)};
  if (variant == DeviceScan::with_negations || variant == DeviceScan::any_shape_with_negations) {
    scan_placed.negations = static_cast<std::uint32_t>(scan.negations.size());
  }
  for (const MirroredField* const field : scan.fields) {
    round_.attributes.push_back(place_field(*field));
  }
  for (const Program::Test& test : program.tests) round_.tests.push_back(test.on_device);
  round_.instructions.insert(round_.instructions.end(), program.code.begin(), program.code.end());
  if (variant == DeviceScan::disordered) {
    round_.attributes.push_back(place_field(scan.roots()));
    round_.tests.push_back({.attribute = static_cast<std::uint16_t>(program.fields.size())});
    ++scan_placed.tests;
  }
  round_.scans.push_back(scan_placed);
  placed = {number_, static_cast<std::uint32_t>(round_.scans.size() - 1)};
  return placed.scan;
}

}  // namespace gorgo::engine
