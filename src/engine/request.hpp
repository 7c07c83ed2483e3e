#pragma once

#include <chrono>
#include <concepts>
#include <cstddef>
#include <new>

#include "base/since.hpp"
#include "engine/engine.hpp"

namespace gorgo::engine {

/// Carries out a request: `evaluate()` reports to its sink and returns how many terminators are
/// done. Sets what the engine is to set. Throws bad_alloc only where the state of the rule has
/// changed in part.
template <std::invocable Evaluate>
void carry_out(Request& request, Evaluate evaluate) {
  using Clock = std::chrono::steady_clock;
  CompositeSink& sink = *request.sink;
  sink.begin_rule(*request.rule, *request.state, request.keep_sequences, request.certain);
  request.first_composite = sink.size();
  const auto start = request.timed ? Clock::now() : Clock::time_point();
  try {
    request.done = evaluate();
  } catch (const std::bad_alloc&) {
    if (sink.is_settling()) throw;
    request.done = sink.abandon();
    request.starved = request.done < request.terminators.slots.size();
  }
  if (request.timed) {
    request.took = nanoseconds_since(start);
  }
  request.end_composite = sink.size();
  const auto is_left = [&](std::size_t composite) {
    return sink.composites()[composite].terminator >= request.done;
  };
  while (request.starved && request.end_composite > request.first_composite &&
         is_left(request.end_composite - 1)) {
    --request.end_composite;
  }
  request.overflows = sink.overflows();
  request.over = true;
}

}  // namespace gorgo::engine
