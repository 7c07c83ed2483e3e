#pragma once

#include <chrono>
#include <concepts>

#include "base/since.hpp"
#include "engine/engine.hpp"

namespace gorgo::engine {

/// Carries out a request: `evaluate()` reports to its sink and returns how many terminators are
/// done. Sets what the engine is to set.
template <std::invocable Evaluate>
void carry_out(Request& request, Evaluate evaluate) {
  using Clock = std::chrono::steady_clock;
  CompositeSink& sink = *request.sink;
  sink.begin_rule(*request.rule, *request.state, request.keep_sequences, request.certain);
  request.first_composite = sink.size();
  const auto start = request.timed ? Clock::now() : Clock::time_point();
  request.done = evaluate();
  if (request.timed) {
    request.took = nanoseconds_since(start);
  }
  request.end_composite = sink.size();
  request.overflows = sink.overflows();
  request.over = true;
}

}  // namespace gorgo::engine
