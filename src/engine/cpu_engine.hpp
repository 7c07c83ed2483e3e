#pragma once

#include <memory>
#include <span>
#include <utility>

#include "engine/engine.hpp"

namespace gorgo::engine {

/// An evaluator that works by itself, on the thread of its caller.
class CpuEvaluator : public Evaluator {
 public:
  /// Fetches what `evaluate` touches first; a hint.
  virtual void prefetch() const {}
  /// Does what Engine::evaluate says for the terminators of one request, between
  /// `CompositeSink::begin_rule` and the end of the request. Returns how many are done.
  virtual std::size_t evaluate(const Terminators& terminators, const RuleState& state,
                               const Budget& budget, CompositeSink& sink) = 0;
};

/// An engine that carries out one request after the other, on the thread of its caller.
class CpuEngine : public Engine {
 public:
  void evaluate(std::span<Request> requests, const Budget& budget) const final;
  std::unique_ptr<Evaluator> prepare(std::shared_ptr<const plan::Plan> plan,
                                     history::History& history) const final {
    return make(std::move(plan), history);
  }
  /// See `prepare`.
  virtual std::unique_ptr<CpuEvaluator> make(std::shared_ptr<const plan::Plan> plan,
                                             history::History& history) const = 0;
};

}  // namespace gorgo::engine
