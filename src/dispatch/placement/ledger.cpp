#include "dispatch/placement/ledger.hpp"

#include <algorithm>
#include <utility>

#include "dispatch/placement/tuning.hpp"

namespace gorgo::dispatch {
namespace {

using namespace tuning;

void forget_trials(Ledger::Rule& rule) {
  for (Ledger::Option& option : rule.options) {
    option.is_tried = false;
    option.ratios = {};
  }
}

/// What engines cost has changed, so that those that were worse may be better now.
void begin_anew(Ledger::Rule& rule) {
  forget_trials(rule);
  for (Ledger::Option& option : rule.options) option.rest = option.until = 0;
}

void begin_judging(Ledger::Rule& rule) {
  rule.judged_cost = rule.unjudged = 0;
  rule.judged_batch = rule.batch;
}

void leave_alone(const Ledger::Rule& rule, Ledger::Option& option, double times, double least) {
  option.rest = std::max(least, times * std::max(kTry, option.rest));
  option.until = rule.total + option.rest;
}

}  // namespace

void Average::add(double nanoseconds, double of) {
  if (nanoseconds_ > kProof) {
    nanoseconds_ /= 2;
    of_ /= 2;
  }
  nanoseconds_ += nanoseconds;
  of_ += of;
}

Ledger::Option* Ledger::Rule::find(const engine::Engine* engine) {
  const auto known = std::ranges::find(options, engine, &Option::engine);
  return known == options.end() ? nullptr : &*known;
}

const Ledger::Option* Ledger::Rule::tried() const {
  const auto known = std::ranges::find(options, true, &Option::is_tried);
  return known == options.end() ? nullptr : &*known;
}

const Ledger::Rule* Ledger::find(std::uint64_t serial) const {
  const auto known = rules_.find(serial);
  return known == rules_.end() ? nullptr : &known->second;
}

void Ledger::forget(std::uint64_t serial) {
  rules_.erase(serial);
  for (const auto& proof : proofs_) {
    std::erase_if(proof->members, [&](const auto& member) { return member.serial == serial; });
  }
  std::erase_if(proofs_, [](const auto& proof) { return proof->members.empty(); });
}

void Ledger::observe(Rule& rule, const Placement::Spent& spent) {
  rule.total += spent.nanoseconds;
  rule.unjudged += spent.nanoseconds;
  rule.evaluation.add(spent.nanoseconds, spent.terminators);
  if (rule.judged_batch == 0) rule.judged_batch = rule.batch;
  if (rule.judged_cost == 0 && rule.unjudged > kProof) rule.judged_cost = rule.cost();
}

void Ledger::prove(std::uint64_t serial, const Rule& rule, const Placement::Spent& spent,
                   bool is_warming_up) {
  Proof& proof = *rule.proof;
  if (is_warming_up) {
    proof = {.members = std::move(proof.members)};
    return;
  }
  const auto& member = *std::ranges::find(proof.members, serial, &Proof::Member::serial);
  proof.batch.before += spent.terminators * member.cost;
  proof.batch.took += spent.nanoseconds + spent.terminators * rule.upkeep;
}

/// Batches are put together to pieces that are worth looking at. The first piece is left out,
/// because the engine takes in what it has missed.
void Ledger::end_batch() {
  for (const auto& proof : proofs_) {
    proof->piece.before += proof->batch.before;
    proof->piece.took += proof->batch.took;
    proof->batch = {};
    if (std::max(proof->piece.before, proof->piece.took) < Placement::kWorth) continue;
    const Proof::Piece piece = std::exchange(proof->piece, {});
    proof->loss += piece.took - piece.before;
    if (!std::exchange(proof->has_caught_up, true)) continue;
    proof->took += piece.took;
    proof->ratios.add(piece.before, piece.took);
  }
}

/// The first evaluation takes longer, because the engine takes in what is remembered. So it counts
/// only where it is surely better nevertheless. What an engine takes before it is ready says
/// nothing about what it takes afterwards.
void Ledger::compare(Option& option, double own, double took, bool is_warming_up, double now) {
  option.last = now;
  if (option.is_warming_up && !is_warming_up) {
    option.ratios = {};
    option.took = 0;
    option.has_caught_up = false;
  }
  option.is_warming_up = is_warming_up;
  const bool is_first = !std::exchange(option.has_caught_up, true);
  if (is_first && kSurely * took > own) return;
  option.took += took;
  option.ratios.add(own, took);
}

void Ledger::carry_out(const Directive& directive, double now) {
  if (directive.kind == Directive::Kind::run || directive.kind == Directive::Kind::share)
    return go(directive);
  for (const std::uint64_t serial : directive.rules) {
    Rule& rule = at(serial);
    if (directive.kind == Directive::Kind::drop && rule.proof) {
      end_proof(rule, serial, directive.where);
      continue;
    }
    Option& option = *rule.find(directive.where.engine);
    if (directive.kind == Directive::Kind::trial) {
      option.is_tried = true;
      option.is_warming_up = option.has_caught_up = false;
      option.began = option.last = now;
      option.spent = option.took = 0;
      option.ratios = {};
    } else {
      option.is_tried = false;
      const bool surely = !option.ratios.empty() && option.ratios.median() > kSurely;
      leave_alone(rule, option, surely ? kLonger * kLonger : kLonger, 0);
      rule.judged_batch = rule.batch;
    }
  }
}

/// Rules go elsewhere on proof, unless they go back from where they were on proof, or from two
/// engines to one of them.
void Ledger::go(const Directive& directive) {
  auto proof = std::make_shared<Proof>();
  for (const std::uint64_t serial : directive.rules) {
    Rule& rule = at(serial);
    const Arrangement before = std::exchange(rule.now, directive.where);
    const bool was_there =
        directive.where.reserve == nullptr &&
        (directive.where.engine == before.engine || directive.where.engine == before.reserve);
    if (rule.proof && directive.kind == Directive::Kind::run) {
      const double part = rule.proof->loss / static_cast<double>(rule.proof->members.size());
      rule.proof->loss -= part;
      credit -= part;
      end_proof(rule, serial,
                {before.engine == directive.where.engine ? before.reserve : before.engine});
    } else if (was_there) {
      begin_anew(rule);
      begin_judging(rule);
    } else {
      // A trial that leads to a move is no waste.
      if (const Option* const tried = rule.tried()) credit += tried->spent;
      double cost = rule.cost();
      if (rule.proof) cost = rule.proof->members.front().cost * rule.proof->ratios.median();
      if (rule.proof) end_proof(rule, serial, {});
      forget_trials(rule);
      proof->members.push_back({serial, before, cost, rule.upkeep});
      rule.proof = proof;
      rule.evaluation = {};
    }
  }
  if (!proof->members.empty()) proofs_.push_back(std::move(proof));
}

void Ledger::end_proof(Rule& rule, std::uint64_t serial, const Arrangement& worse) {
  const std::shared_ptr<Proof> proof = std::exchange(rule.proof, nullptr);
  std::erase_if(proof->members, [&](const auto& member) { return member.serial == serial; });
  if (proof->members.empty()) std::erase(proofs_, proof);
  forget_trials(rule);
  begin_judging(rule);
  rule.evaluation = {};
  if (Option* const option = rule.find(worse.engine)) leave_alone(rule, *option, kLonger, kLost);
}

}  // namespace gorgo::dispatch
